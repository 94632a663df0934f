"""Numbers of users: lists, arrays of numpy, and what becomes one of these."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any, Optional

from fsin._error import Error


def as_array(value: Any) -> Any:
    """The array of numpy behind a value; ``None`` if it is no array, frame or tensor."""
    return value.__array__() if hasattr(value, "__array__") and not isinstance(value, type) else None


def is_number(value: Any) -> bool:
    return isinstance(value, Real)


def integers(values: Any, name: str, subject: str) -> bytes:
    """A column of integers, as bytes of 64-bit integers. ``name`` says what it holds."""
    found = as_array(values)
    if found is not None:
        if found.ndim != 1:
            raise Error(f"{name} have {found.ndim} dimensions", subject, "give a list, or an array of one dimension")
        if found.dtype.kind in "iub" or found.size == 0:
            column: bytes = found.astype("=i8").tobytes()
            return column
        values = found.tolist()
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise Error(f"{name} are {values!r}", subject, "give a list of integers, or an array")
    try:
        return array("q", values).tobytes()
    except TypeError:
        odd = next((one for one in values if not isinstance(one, Integral)), values)
        raise Error(f"{name} hold {odd!r}, which is no integer", subject, "round, or convert: column.astype(int)") from None
    except OverflowError:
        raise Error(f"{name} hold a number beyond 64 bits", subject, "give smaller ones") from None


class Matrix:
    """A square matrix of weights, as doubles line by line."""

    def __init__(self, size: int, doubles: bytes) -> None:
        self.size = size
        self.doubles = doubles


def matrix(value: Any) -> Optional[Matrix]:
    """The matrix of rows of numbers; ``None`` if it is something else."""
    found = as_array(value)
    if found is not None:
        if found.dtype.kind in "OSU" and found.ndim < 2:
            # Names of patterns.
            return None
        return of_array(found)
    if isinstance(value, memoryview):
        value = value.tolist()
    if not isinstance(value, (tuple, list)) or not value:
        return None
    rows = [row if array_ is None else array_.tolist() for row in value for array_ in [as_array(row)]]
    if not all(isinstance(row, (tuple, list)) and all(map(is_number, row)) for row in rows):
        return None
    for at, row in enumerate(rows):
        if len(row) != len(rows):
            what = f"the matrix is not square: row {at} has {len(row)} weights, and there are {len(rows)} rows"
            raise Error(what, "traffic", "give a row and a column for each node")
    return Matrix(len(rows), array("d", (float(weight) for row in rows for weight in row)).tobytes())


def of_array(found: Any) -> Matrix:
    """The matrix of an array of numpy of any type and strides."""
    if found.ndim != 2 or found.shape[0] != found.shape[1]:
        what = f"traffic: an array of shape {found.shape} is no square matrix"
        raise Error(what, "traffic", "give a row and a column for each node")
    if found.dtype.kind == "c":
        raise Error("traffic: weights are complex numbers", "traffic", "give real numbers")
    try:
        doubles: bytes = found.astype("=f8").tobytes()
    except (TypeError, ValueError) as error:
        raise Error(f"traffic: weights are no numbers: {error}", "traffic", "give numbers of 0 or more") from None
    return Matrix(found.shape[0], doubles)
