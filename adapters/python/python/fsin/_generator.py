"""Sources of messages that are written in Python."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, Optional, Protocol, Union

from fsin._columns import integers
from fsin._error import Error


class Array(Protocol):
    """An array of numpy, or what becomes one."""

    def __array__(self) -> Any: ...


#: A column of a batch.
Column = Union[Sequence[int], Array]

#: The messages of a window: cycles, sources, destinations, and sizes in bytes.
Batch = tuple[Column, Column, Column, Union[int, Column]]


class Generator(Protocol):
    """A source of messages: ``fsin.run(generator=...)``.

    ``generate`` is called once for each window of cycles, from ``begin`` up to, without, ``until``, and returns the
    messages of the window as four columns of integers: cycles from 0, sources, destinations, sizes in bytes (one number
    if all are equal). Columns are lists, or arrays such as those of numpy. ``None`` ends the run. An
    attribute ``window`` is the length of windows in cycles, 1024 without it.
    """

    def generate(self, begin: int, until: int, /) -> Optional[Batch]: ...


def batch(generator: Generator, begin: int, until: int) -> Optional[tuple[bytes, bytes, bytes, bytes]]:
    """The messages of a window as columns of 64-bit integers."""
    found = generator.generate(begin, until)
    if found is None:
        return None
    if not isinstance(found, (tuple, list)) or len(found) != 4:
        what = f"generate returns {shape(found)}"
        raise Error(what, "generator", "return four columns: cycles, sources, destinations, bytes; or None at the end")
    names = ("cycles", "sources", "destinations")
    cycles, sources, destinations = (integers(column, name, "generator") for column, name in zip(found, names))
    sizes: Any = found[3]
    one = isinstance(sizes, Integral)
    size = integers([sizes] if one else sizes, "bytes", "generator")
    columns = (cycles, sources, destinations, size * (len(cycles) // 8) if one else size)
    if len({len(column) for column in columns}) > 1:
        told = ", ".join(f"{name} has {len(column) // 8}" for name, column in zip((*names, "bytes"), columns))
        raise Error(f"the columns of generate differ in length: {told}", "generator", "give every message a value in each")
    return columns


def shape(found: Any) -> str:
    """What was returned instead of four columns, in words."""
    return f"{len(found)} columns" if isinstance(found, (tuple, list)) else f"an object of type {type(found).__name__}"
