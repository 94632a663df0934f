"""Routes as columns, in the place of a file of routes."""

from __future__ import annotations

import re
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Callable, Optional

from fsin._error import Error


class Routes:
    """A file of routes, which is there as long as this object."""

    def __init__(self, columns: Any) -> None:
        names = [str(name) for name in columns.keys()]
        cells = [texts(name, columns[name]) for name in columns.keys()]
        lengths = {name: len(column) for name, column in zip(names, cells)}
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{name} has {length}" for name, length in lengths.items())
            raise Error(f"columns of routes differ in length: {told}", "routes", "give every row a value in each")
        folder = tempfile.mkdtemp(prefix="fsin-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.path = Path(folder) / "routes.csv"
        rows = (",".join(row) for row in zip(*cells))
        self.path.write_text("\n".join([",".join(names), *rows, ""]), encoding="utf-8")


def of_function(function: Callable[[int, int], Optional[Sequence[int]]], nodes: int) -> dict[str, list[Any]]:
    """The columns of a function that gives the nodes of a route, its source first and its destination last. ``None`` for a
    pair that sends nothing."""
    columns: dict[str, list[Any]] = {"source": [], "destination": [], "path": []}
    for source in range(nodes):
        for destination in range(nodes):
            path = None if source == destination else function(source, destination)
            if path is not None:
                for name, cell in zip(columns, (source, destination, [*path])):
                    columns[name].append(cell)
    return columns


def reworded(error: Error, kept: list[object]) -> Error:
    """An error in a file of routes as one in the columns that were given."""
    for routes in kept:
        if isinstance(routes, Routes) and str(routes.path) in error.what:
            what = error.what.replace(f"routes: {routes.path}", "routes").replace(str(routes.path), "routes")
            what = re.sub(r"\bline (\d+)", lambda line: f"row {int(line[1]) - 2}", what, count=1)
            return Error(what, error.subject, error.remedy)
    return error


def is_columns(value: Any) -> bool:
    """True for a dictionary of columns, or a table of pandas."""
    return hasattr(value, "keys") and hasattr(value, "__getitem__")


def texts(name: str, column: Any) -> list[str]:
    """The values of a column, a list or an array, as the file has them."""
    values = column.tolist() if hasattr(column, "tolist") else column
    return [text(name, value) for value in values]


def text(name: str, value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, (list, tuple)) or hasattr(value, "tolist"):
        # Several channels of a hop, or the hops of a path.
        return ("|" if name == "vc" else ">").join(str(one) for one in value)
    found = str(value)
    if any(letter in found for letter in ",\n\r"):
        raise Error(f"routes: column {name} holds {found!r}", "routes", "give numbers, or names without commas")
    return found
