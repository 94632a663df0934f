"""Topologies: their figures, and their networks as graphs."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Optional, Union

from fsin import _fsin
from fsin._error import Error
from fsin._record import Record


class Topology(Record):
    """A topology: an attribute for each figure of ``fsin topology --format json``, such as ``diameter_hops``."""

    schema: int
    topology: str
    ways: int
    nodes: int
    switches: int
    links: int
    degree_min: int
    degree_max: int
    diameter_hops: Union[int, Any]
    distance_mean_hops: Union[float, Any]
    pairs: Union[int, Any]
    hops_all_pairs: Union[int, Any]
    all_to_all_link_load_mean: Union[float, Any]
    middle_links: Union[int, Any]
    uniform_load_bound_phits_per_node_cycle: Union[float, Any]

    def __init__(self, spec: str, ways: Optional[int], network: Optional[str]) -> None:
        super().__init__(json.loads(_fsin.topology(spec, ways, network)))
        self.spec = spec
        #: The name in pictures.
        self.label = spec
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
    try:
        text = json.dumps(data)
    except TypeError as error:
        raise Error(f"the graph is no JSON: {error}", "topology", "name nodes by texts or numbers") from None
    folder = tempfile.mkdtemp(prefix="fsin-")
    try:
        file = Path(folder) / "network.json"
        file.write_text(text, encoding="utf-8")
        spec = ",".join([f"graph:{file}", *(f"{name}={value}" for name, value in options.items())])
        made = Topology(spec, ways, network)
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, Error):
            # Of a file that the user has never seen, in one line.
            told = error.what.replace(f"graph:{file}", "graph").replace(str(file), "the graph")
            what = re.sub(r"(: line \d+, column \d+)?(?=:)", "", told, count=1)
            raise Error(what, error.subject, error.remedy) from None
        raise
    about = data.get("graph")
    called = about.get("name") if isinstance(about, Mapping) else None
    made.label = str(called or f"graph of {made.nodes} nodes")
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
    name = {"name": graph.name} if isinstance(getattr(graph, "name", None), str) else {}
    return {"directed": directed, "multigraph": several, "graph": name, "nodes": nodes, "links": links}
