"""Searches for saturation."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Optional, Union

from fsin import _fsin
from fsin._error import Error
from fsin._named import ManyKeys
from fsin._record import Record, html_table
from fsin._words import arguments, file_of, jobs_of, listed, reading, teller

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Saturations(Record):
    """What a search has found, as ``fsin saturation -o`` keeps it: ``searches`` with the loads of each network.

    ``load`` is the saturation load of a single search, in the unit of its network; ``None`` if no load saturates.
    ``rows`` are the settings and loads of every search.
    """

    schema: int
    version: str
    complete: bool
    tolerance: float
    highest_load: float
    searches: list[dict[str, Any]]

    def __init__(self, values: dict[str, Any], rows: list[dict[str, Any]]) -> None:
        super().__init__(values)
        self.rows = rows

    @property
    def load(self) -> Optional[float]:
        """The saturation load of a single search."""
        if len(self.rows) != 1:
            raise Error(f"there are {len(self.rows)} searches", "load", "read `rows`, with the load of each")
        load: Optional[float] = self.rows[0]["saturation_load_phits_per_node_cycle"]
        return load

    def __repr__(self) -> str:
        return "\n".join(", ".join(f"{name} {value}" for name, value in row.items()) for row in self.rows)

    def _repr_html_(self) -> str:
        head = tuple(self.rows[0]) if self.rows else ()
        return html_table(head, [tuple(row.get(name) for name in head) for row in self.rows])


@listed(ManyKeys)
def saturation(
    experiment: Optional[os.PathLike[str] | str] = None,
    /,
    *,
    jobs: Optional[int] = None,
    progress: Union[bool, Callable[[int, int], object]] = False,
    **keys: Unpack[ManyKeys],
) -> Saturations:
    """Finds the load at which the accepted load falls behind the offered one, by bisection.

    Arguments are those of ``fsin.run``; of lists of values every combination is searched. ``load`` is the highest load
    to look at, ``tolerance`` the width of the interval that is found, ``seeds`` the number of searches with different
    seeds, ``lengthen`` the factor by which runs are lengthened at most where a load is undecided.
    """
    kept: list[object] = []
    words = arguments(keys, kept)
    with reading(kept):
        text, rows = _fsin.saturation(file_of(experiment), words, jobs_of(jobs), teller(progress, "loads"))
    found = Saturations(json.loads(text), json.loads(rows))
    failures = [seed["failure"] for search in found.searches for seed in search["seeds"] if seed.get("failure")]
    if failures and len(found.rows) == 1:
        raise Error(failures[0], None, "run that load alone to see more: fsin.run(load=...)")
    return found
