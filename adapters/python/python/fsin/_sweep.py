"""Sweeps: every combination of values."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

from fsin import _fsin
from fsin._error import Error
from fsin._named import ManyKeys
from fsin._picture import Picture, Pictures
from fsin._record import html_table
from fsin._topology import Topology
from fsin._words import Pattern, arguments, file_of, jobs_of, listed, reading, teller

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Sweep(dict[str, list[Any]]):
    """The results of a sweep as columns by name, which ``pandas.DataFrame`` and ``polars.DataFrame`` take as they are.

    The first columns are the varying arguments; the others are figures of results, with ``figure_`` in front of the name
    of one that is also an argument here. A cell without a value is ``None``.
    ``failed`` lists the points without a complete result and why; ``remarks`` is what a reader should know;
    ``left_out`` counts the points beyond saturation (``stop_after``).
    """

    def __init__(self, swept: _fsin.Swept, kept: list[object]) -> None:
        axes = swept.axes()
        names = [name.replace("-", "_") for name, _ in axes]
        rows: list[dict[str, Any]] = []
        for values, text in swept.rows():
            result = json.loads(text)
            settings = result.get("experiment", {})
            # The types of the settings: numbers, words, switches.
            row = {name: settings.get(key, value) for name, (key, _), value in zip(names, axes, values)}
            for name, value in result.items():
                if not isinstance(value, (dict, list)):
                    row[f"figure_{name}" if name in names else name] = value
            rows.append(row)
        columns = {name: None for row in rows for name in row}
        super().__init__({name: [row.get(name) for row in rows] for name in columns})
        self.axes = names
        self.failed = swept.failed()
        self.left_out = swept.left_out()
        self.remarks = swept.remarks()
        self._swept = swept
        # Topologies and patterns that its points name.
        self._kept = kept
        self._count = len(rows)

    def to_dict(self) -> dict[str, list[Any]]:
        """The columns."""
        return dict(self)

    def rows(self) -> list[dict[str, Any]]:
        """A dictionary for each point."""
        return [{name: column[at] for name, column in self.items()} for at in range(self._count)]

    def _shown(self) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        wanted = ("accepted_load_phits_per_node_cycle", "latency_mean_cycles", "completion_cycles", "saturated")
        head = (*self.axes, *(name for name in wanted if any(cell is not None for cell in self.get(name, []))))
        return head, [tuple(self[name][at] for name in head) for at in range(self._count)]

    def _labels(self) -> dict[str, str]:
        """Names of what was given as an object, and has none of its own: topologies, patterns."""
        own = {one.spec: one.label for one in self._kept if isinstance(one, (Topology, Pattern))}
        labels = [*own.values()]
        alike = {label for label in labels if labels.count(label) > 1}
        return {spec: f"{own[spec]} {at}" if own[spec] in alike else own[spec] for at, spec in enumerate(own, 1)}

    def __repr__(self) -> str:
        return f"<sweep of {self._count} results over {', '.join(self.axes) or 'nothing'}, {len(self)} columns>"

    def _repr_html_(self) -> str:
        return html_table(*self._shown())


@listed(ManyKeys)
def sweep(
    experiment: Optional[os.PathLike[str] | str] = None,
    /,
    *,
    jobs: Optional[int] = None,
    progress: Union[bool, Callable[[int, int], object]] = False,
    **keys: Unpack[ManyKeys],
) -> Sweep:
    """Runs every combination of values: ``fsin.sweep(topology="torus:8x8", load=[0.1, 0.2, 0.3], vcs=[2, 3])``.

    Arguments are those of ``fsin.run``; a list of values, or a range such as ``"0.05..1.0/20"``, is an axis. ``seeds``
    is the number of replicas of every point, ``stop_after`` the number of saturated loads after which a curve ends,
    ``skip_invalid=True`` leaves out combinations that are no valid experiments. ``jobs`` points run at the same time, as
    many as there are processors if it is absent. ``progress=True`` shows how many have run; a function is called with
    that number and the number of all.
    """
    kept: list[object] = []
    words = arguments(keys, kept)
    with reading(kept):
        swept = _fsin.sweep(file_of(experiment), words, jobs_of(jobs), teller(progress, "points"))
    return Sweep(swept, kept)


def plot(
    sweep: Sweep,
    *,
    along: Optional[str] = None,
    each: Union[str, Sequence[str]] = (),
    only: Optional[Mapping[str, Any]] = None,
    names: Optional[Mapping[str, str]] = None,
    title: str = "",
    scale: str = "auto",
    panels: bool = False,
    saturated: bool = False,
    xmax: Optional[float] = None,
    ymax: Optional[float] = None,
) -> Pictures:
    """Draws the curves of a sweep as ``fsin plot`` does, whose flags say what the arguments mean."""
    if not isinstance(sweep, Sweep):
        raise Error(f"a {type(sweep).__name__} is no sweep", "sweep", "give what fsin.sweep has returned")

    def key(name: str) -> str:
        return name.replace("_", "-")

    chosen: list[tuple[str, str]] = []
    kept: list[object] = []
    for name, values in arguments(only or {}, kept):
        chosen.extend((key(name), value) for value in values)
    look: _fsin.Look = {
        "along": None if along is None else key(along),
        "each": [key(name) for name in ([each] if isinstance(each, str) else each)],
        "only": chosen,
        "names": list({**sweep._labels(), **(names or {})}.items()),
        "title": title,
        "scale": scale,
        "panels": panels,
        "saturated": saturated,
        "xmax": xmax,
        "ymax": ymax,
    }
    return Pictures([Picture(*one) for one in sweep._swept.pictures(look)])
