"""One run."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Literal, Optional

from fsin import _fsin
from fsin._error import Error, RunFailed
from fsin._frame import frame
from fsin._generator import Generator
from fsin._named import Figures, RunKeys, Tables
from fsin._picture import Picture
from fsin._record import Record
from fsin._timeline import svg
from fsin._words import arguments, file_of, listed, reading

if TYPE_CHECKING:
    from typing_extensions import Unpack

_UNITS = {name: unit for name, unit, _ in _fsin.figures()}


class Result(Record, Figures):
    """The result of a run: an attribute for each figure, such as ``latency_mean_cycles``; ``fsin.figures()`` says what
    they mean.

    ``toml`` is the experiment as a file, which the command runs with the same result; ``timeline`` is what each rank did
    over time, in the format of Chrome and Perfetto, of runs with ``timeline=True``.
    """

    def __init__(self, values: dict[str, Any], toml: str, timeline: Optional[dict[str, Any]]) -> None:
        super().__init__(values)
        self.toml = toml
        self.timeline = timeline

    def _rows(self) -> list[tuple[str, Any, str]]:
        return [(name, value, _UNITS.get(name, "")) for name, value, _ in super()._rows()]

    def _remedy(self, name: str, values: dict[str, Any]) -> str:
        if name in _UNITS:
            return ", since this kind of run does not measure it: `in` tells whether a result has a figure"
        return super()._remedy(name, values)

    def table(self, name: Tables, *, library: Optional[Literal["pandas", "polars"]] = None) -> Any:
        """A figure that is a list as a frame: ``result.table("collectives")`` has a row for each collective.

        It is a ``DataFrame`` of pandas if that is installed, else of polars; ``library`` names one of them. ``link_packets``
        has a row for each link. A table that this run has not kept, and one without rows, is an error or has no columns.
        """
        if name not in self:
            raise Error(f"the result has no table {name!r}{self._remedy(name, self.to_dict())}", "name", self._tables())
        rows = self[name]
        if not isinstance(rows, list):
            raise Error(f"{name!r} is no table in this result", "name", self._tables())
        return frame(name, rows, library)

    def _tables(self) -> str:
        return f"it has {', '.join(sorted(name for name, rows in self.to_dict().items() if isinstance(rows, list)))}"

    def timeline_picture(self) -> Picture:
        """What each rank did over time, of a run with ``timeline=True``: a lane for each rank."""
        if self.timeline is None:
            raise Error("this run kept no timeline", "timeline", "run it with timeline=True")
        return Picture("timeline", "timeline", "what each rank does over time", svg(self.timeline), "")

    def _repr_html_(self) -> str:
        drawn = "" if self.timeline is None else svg(self.timeline)
        return super()._repr_html_() + drawn


@listed(RunKeys)
def run(
    experiment: Optional[os.PathLike[str] | str] = None,
    /,
    *,
    generator: Optional[Generator] = None,
    timeline: bool = False,
    **keys: Unpack[RunKeys],
) -> Result:
    """Runs one experiment.

    Arguments are those of the command, with ``_`` for ``-``: ``fsin.run(topology="torus:8x8", load=0.3)``.
    ``experiment`` is a file of them, which they override. Variables ``FSIN_*`` of the environment are not read.

    ``traffic`` may also be a function of the node, or a square matrix of weights; ``topology`` an object of
    ``fsin.topology``, a dictionary of node-link JSON, or a graph of networkx; ``routes`` a dictionary of the columns of a
    file of routes, as lists or arrays; ``generator`` an own source of messages.
    ``timeline=True`` keeps what each rank of a program does over time.

    Raises ``fsin.Error`` for what cannot be run, ``fsin.RunFailed`` for a run that fails, in a deadlock for example.
    """
    kept: list[object] = []
    words = arguments(keys, kept)
    with reading(kept):
        text, toml, drawn, failed = _fsin.run(file_of(experiment), words, generator, timeline)
    result = Result(json.loads(text), toml, None if drawn is None else json.loads(drawn))
    if failed is not None:
        raise RunFailed(*failed, result)
    return result
