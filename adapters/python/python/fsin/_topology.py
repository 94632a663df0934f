"""Topologies: their figures, and their networks as graphs."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Optional

from fsin import _fsin
from fsin._error import Error
from fsin._record import Record


class Topology(Record):
    """A topology: an attribute for each figure of ``fsin topology --format json``, such as ``diameter_hops``."""

    def __init__(self, spec: str, ways: Optional[int], network: Optional[str]) -> None:
        super().__init__(json.loads(_fsin.topology(spec, ways, network)))
        self.spec = spec
        self._request = (ways, network)

    def node_link(self) -> dict[str, Any]:
        """The network as node-link data, which ``networkx.node_link_graph(data, edges="edges")`` takes."""
        data: dict[str, Any] = json.loads(_fsin.node_link(self.spec, *self._request))
        return data

    def save(self, path: os.PathLike[str] | str) -> None:
        """Writes the network into a file of node-link JSON, for ``topology="graph:FILE"``."""
        Path(path).write_text(_fsin.node_link(self.spec, *self._request), encoding="utf-8")


def topology(graph: Any, *, ways: Optional[int] = None, network: Optional[str] = None, **options: Any) -> Topology:
    """A topology: by its name, as in ``fsin.topology("torus:8x8")``, of node-link data as networkx writes it, or of a
    graph of networkx.

    ``options`` are those of the topology ``graph``, such as ``endpoints=2``. With ``network``, it is the topology as
    that network model uses it. ``fsin.run(topology=...)`` takes the object.
    """
    if ways not in (None, 1, 2):
        raise Error(f"ways={ways!r}: there is no such number of directions", "ways", "give 1 or 2, or leave it out")
    if isinstance(graph, Topology):
        return graph
    if isinstance(graph, str):
        if options:
            name = next(iter(options))
            raise Error(f"{name} has no meaning with a name", name, "write it into the name: dragonfly:4,2,2")
        return Topology(graph, ways, network)
    data = graph if isinstance(graph, Mapping) else node_link_of(graph)
    folder = tempfile.mkdtemp(prefix="fsin-")
    try:
        file = Path(folder) / "network.json"
        file.write_text(json.dumps(data), encoding="utf-8")
        spec = ",".join([f"graph:{file}", *(f"{name}={value}" for name, value in options.items())])
        made = Topology(spec, ways, network)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(made, shutil.rmtree, folder, ignore_errors=True)
    return made


def node_link_of(graph: Any) -> dict[str, Any]:
    """A graph of networkx as node-link data."""
    try:
        nodes = [{"id": node, **about} for node, about in graph.nodes(data=True)]
        links = [{"source": a, "target": b, **about} for a, b, about in graph.edges(data=True)]
        directed, several = bool(graph.is_directed()), bool(graph.is_multigraph())
    except (AttributeError, TypeError, ValueError):
        what = f"a {type(graph).__name__} is no topology"
        raise Error(what, "topology", "give a name, node-link data, or a graph of networkx") from None
    return {"directed": directed, "multigraph": several, "graph": {}, "nodes": nodes, "links": links}
