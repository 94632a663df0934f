"""Objects of figures: attributes by name, and a table in notebooks."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from html import escape
from typing import TYPE_CHECKING, Any


class Record:
    """Figures by name, as attributes and as a dictionary. A figure that cannot be computed is ``None``.

    Each kind of record declares its figures: a type checker refuses any other name.
    """

    def __init__(self, values: dict[str, Any]) -> None:
        self._values = values

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            # Called without values while an object is copied or unpickled.
            values: dict[str, Any] = self.__dict__.get("_values", {})
            if name in values:
                return values[name]
            raise AttributeError(f"{type(self).__name__} has no figure {name!r}{self._remedy(name, values)}")

    def _remedy(self, name: str, values: dict[str, Any]) -> str:
        """What to do about the name of a figure that is not there."""
        near = get_close_matches(name, values, 1)
        return f": did you mean {near[0]!r}?" if near else "; dir() lists those that it has"

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._values})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self._values == other._values

    __hash__ = None  # type: ignore[assignment]

    def to_dict(self) -> dict[str, Any]:
        """The figures by name, as ``--format json`` of the command prints them."""
        return dict(self._values)

    def _rows(self) -> list[tuple[str, Any, str]]:
        """Name, value and unit of what a table shows."""
        return [(name, value, "") for name, value in self._values.items() if not isinstance(value, (dict, list))]

    def __repr__(self) -> str:
        rows = [(name, shown(value), unit) for name, value, unit in self._rows() if value is not None]
        width = max((len(name) for name, _, _ in rows), default=0)
        return "\n".join(f"{name:{width}}  {value} {unit}".rstrip() for name, value, unit in rows)

    def _repr_html_(self) -> str:
        return html_table(("figure", "value", "unit"), [row for row in self._rows() if row[1] is not None])


def shown(value: Any) -> str:
    """A value as people read it: six digits."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def html_table(head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    """A table in HTML."""

    def line(tag: str, cells: tuple[Any, ...]) -> str:
        return "<tr>" + "".join(f"<{tag}>{escape(shown(cell))}</{tag}>" for cell in cells) + "</tr>"

    return "<table>" + line("th", head) + "".join(line("td", row) for row in rows) + "</table>"
