"""Arguments as the words of a command line."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral
from typing import Any, Callable, Optional, TypeVar

from fsin import _fsin
from fsin._columns import Matrix, matrix
from fsin._error import Error
from fsin._routes import Routes, is_columns, of_function, reworded
from fsin._topology import Topology, topology

Arguments = list[tuple[str, list[str]]]
Function = TypeVar("Function", bound=Callable[..., Any])


def listed(keys: type) -> Callable[[Function], Function]:
    """Lists these arguments in the signature of a function, for ``help`` and the completion of notebooks."""

    def with_keys(function: Function) -> Function:
        own = inspect.signature(function)
        parameters = [one for one in own.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        for name, of in keys.__annotations__.items():
            of = getattr(of, "__forward_arg__", of)
            parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=of))
        setattr(function, "__signature__", own.replace(parameters=parameters))
        return function

    return with_keys


def word(name: str, value: Any, kept: list[object]) -> str:
    """A single value as a word. Objects that must live as long as the word is used are added to ``kept``."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    # Scalars of numpy may be numbers of Python too, and have a representation of their own.
    if isinstance(value, int):
        return repr(int(value))
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, Topology):
        kept.append(value)
        return value.spec
    if name == "topology" and (isinstance(value, Mapping) or hasattr(value, "adjacency")):
        made = topology(value)
        kept.append(made)
        return made.spec
    if name == "routes" and is_columns(value):
        routes = Routes(value)
        kept.append(routes)
        return str(routes.path)
    if name == "traffic":
        pattern = Pattern(value)
        kept.append(pattern)
        return pattern.spec
    # A scalar of numpy.
    if hasattr(value, "item"):
        return word(name, value.item(), kept)
    if name == "generator":
        raise Error("only fsin.run takes a generator", name, "call fsin.run for each value, with a new generator")
    raise Error(f"{name} takes no {type(value).__name__}", name, "give a text, a number, True or False, or a path")


class Pattern:
    """The pattern of a function, or of a square matrix of weights: ``spec`` names it as long as this object lives."""

    def __init__(self, value: Any) -> None:
        weights = value if isinstance(value, Matrix) else matrix(value)
        if callable(value):
            self._pattern = _fsin.Pattern.of_function(value)
        elif weights is not None:
            self._pattern = _fsin.Pattern.of_matrix(weights.size, weights.doubles)
        else:
            what = f"traffic takes no {type(value).__name__} such as this"
            raise Error(what, "traffic", "give a pattern by its name, a function of the node, or a square matrix")
        self.spec = str(self._pattern)
        #: The name in pictures.
        self.label = "matrix" if weights is not None else str(getattr(value, "__name__", type(value).__name__)).strip("<>")


def arguments(given: Mapping[str, Any], kept: list[object]) -> Arguments:
    """Arguments by keyword, each with its values; an absent one is ``None``."""
    words: Arguments = []
    for name, value in given.items():
        if value is None:
            continue
        if name == "traffic":
            value = matrix(value) or value
        if name == "routes" and callable(value):
            value = of_function(value, nodes_of(given))
        many = (
            isinstance(value, Iterable)
            and not isinstance(value, (str, bytes, Mapping, Topology, os.PathLike))
            and not hasattr(value, "adjacency")
            and not (name == "routes" and is_columns(value))
        )
        values = [word(name, one, kept) for one in value] if many else [word(name, value, kept)]
        if not values:
            raise Error(f"{name} has no value", name, "give one, or leave it out")
        words.append((name, values))
    return words


def nodes_of(given: Mapping[str, Any]) -> int:
    """The number of nodes of the network that arguments describe."""
    named: Any = given.get("topology") or "torus:8x8"
    if not isinstance(named, (str, Topology, Mapping)) and not hasattr(named, "adjacency"):
        raise Error("routes as a function need one topology", "routes", "give the columns of a file of routes")
    return topology(named, ways=given.get("ways"), network=given.get("network")).nodes


@contextmanager
def reading(kept: list[object]) -> Iterator[None]:
    """Errors in what was given as objects are about these."""
    try:
        yield
    except Error as error:
        told = reworded(error, kept)
        if told is error:
            raise
        raise told from error.__cause__


def jobs_of(jobs: Optional[int]) -> Optional[int]:
    """The number of points at the same time, checked."""
    if jobs is None or (isinstance(jobs, Integral) and jobs >= 1):
        return None if jobs is None else int(jobs)
    raise Error(f"jobs={jobs!r} is no number of points", "jobs", "give 1 or more, or leave it out for all processors")


def file_of(experiment: Optional[os.PathLike[str] | str]) -> Optional[str]:
    """The path of an experiment file."""
    return None if experiment is None else os.fspath(experiment)


def teller(progress: bool | Callable[[int, int], object], what: str) -> Optional[Callable[[int, int], object]]:
    """What is called with every progress."""
    if callable(progress):
        return progress
    if not progress:
        return None

    def tell(done: int, all_of_them: int) -> None:
        end = "\n" if done >= all_of_them else ""
        print(f"\r{done} of {all_of_them} {what}", end=end, file=sys.stderr, flush=True)

    return tell
