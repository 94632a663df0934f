"""Tables of results as frames of pandas or polars, whichever is installed; neither is a dependency."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Optional

from fsin._error import Error

#: The libraries whose frames a table becomes, the preferred one first.
LIBRARIES = ("pandas", "polars")


def columns_of(name: str, rows: list[Any]) -> dict[str, list[Any]]:
    """The columns of a figure that is a list, by name: those of its rows; of lists of numbers, a row for each number."""
    if name == "link_packets":
        cells = [
            {"router": router, "port": port, "packets": packets}
            for router, ports in enumerate(rows)
            for port, packets in enumerate(ports)
            if packets is not None
        ]
        return transposed(cells)
    if all(isinstance(row, dict) for row in rows):
        return transposed(rows)
    return {name: list(rows)}


def transposed(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Columns of rows; a cell that a row lacks is ``None``."""
    names = {name: None for row in rows for name in row}
    return {name: [row.get(name) for row in rows] for name in names}


def library_of(wanted: Optional[str]) -> Any:
    """The module of the library that is wanted, or of the first that is installed."""
    if wanted is not None and wanted not in LIBRARIES:
        raise Error(f"library is {wanted!r}", "library", "give 'pandas' or 'polars'")
    for name in LIBRARIES if wanted is None else (wanted,):
        try:
            return import_module(name)
        except ModuleNotFoundError as missing:
            # An installed library that lacks one of its own dependencies says so itself.
            if missing.name != name:
                raise
    lacking = "neither pandas nor polars is installed" if wanted is None else f"{wanted} is not installed"
    remedy = "`pip install pandas` or `pip install polars`" if wanted is None else f"`pip install {wanted}`"
    raise Error(lacking, "library", f"{remedy}; without them the figure itself is a list of rows")


def frame(name: str, rows: list[Any], wanted: Optional[str]) -> Any:
    """A figure that is a list as a frame."""
    return library_of(wanted).DataFrame(columns_of(name, rows))
