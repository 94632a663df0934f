"""Sources of messages that are written in Python."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any, Optional, Protocol, Union

Batch = Optional[tuple[Sequence[int], Sequence[int], Sequence[int], Union[int, Sequence[int]]]]


class Generator(Protocol):
    """A source of messages: ``fsin.run(generator=...)``.

    ``generate`` is called once for each window of cycles, from ``begin`` up to, without, ``until``, and returns the
    messages of the window as four columns of integers: cycles from 0, sources, destinations, sizes in bytes (one number
    if all are equal). Columns are lists, or whatever has a buffer, such as arrays of numpy. ``None`` ends the run. An
    attribute ``window`` is the length of windows in cycles, 1024 without it.
    """

    def generate(self, begin: int, until: int, /) -> Batch: ...


def batch(generator: Generator, begin: int, until: int) -> Optional[tuple[bytes, bytes, bytes, bytes]]:
    """The messages of a window as columns of 64-bit integers."""
    found = generator.generate(begin, until)
    if found is None:
        return None
    cycles, sources, destinations = (column(one) for one in found[:3])
    sizes = found[3]
    count = len(cycles) // 8
    of_bytes = array("q", [sizes]).tobytes() * count if isinstance(sizes, int) else column(sizes)
    if not len(cycles) == len(sources) == len(destinations) == len(of_bytes):
        raise ValueError("the columns of a batch differ in length")
    return cycles, sources, destinations, of_bytes


def column(values: Any) -> bytes:
    """A column of integers as bytes."""
    try:
        view = memoryview(values)
    except TypeError:
        return array("q", values).tobytes()
    if view.format in ("q", "l") and view.itemsize == 8:
        return view.tobytes()
    return array("q", view.tolist()).tobytes()
