"""Programs: live ones over a simulated network, and traces of others."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional, Union

from fsin._error import Error
from fsin._folders import executed
from fsin._named import RunKeys
from fsin._record import Record
from fsin._run import Result
from fsin._words import arguments, listed

if TYPE_CHECKING:
    from typing_extensions import Unpack


#: Arguments whose flags have no value. Others that are true or false, such as ``spanning_tree``, have one.
_SWITCHES = {name for name, of in RunKeys.__annotations__.items() if "Switch" in str(getattr(of, "__forward_arg__", of))}


class Trace(Record):
    """A summary of a trace, as ``trace-prep info`` gives it. Times are seconds, sizes bytes."""

    schema: int
    format: str
    tasks: int
    events: dict[str, int]
    point_to_point_messages: int
    point_to_point_bytes: int
    collective_messages: int
    collective_bytes: int
    collective_calls: dict[str, int]
    pairs: int
    messages_by_size_bytes_up_to: dict[str, int]
    compute_seconds: float


def trace(file: Union[str, os.PathLike[str]]) -> Trace:
    """Reads a trace of any format that is known, and summarises it. ``fsin.run(trace=FILE)`` replays it."""
    return Trace(json.loads(executed(["info", os.fspath(file), "--format", "json", "-q"], "file", module="trace-prep")))


@listed(RunKeys)
def mpirun(
    program: Union[str, os.PathLike[str], Sequence[str]],
    /,
    *,
    ranks: int,
    options: Sequence[str] = (),
    **keys: Unpack[RunKeys],
) -> Result:
    """Runs an MPI program over a simulated network, as ``fsin mpirun`` does: ``fsin.mpirun("./app", ranks=4,
    topology="torus:2x2")``. ``program`` is its path, or a list of that and its arguments; ``options`` are further flags of
    the command, such as ``["--compute", "fixed:1us"]``."""
    words = [program] if isinstance(program, str) else [os.fspath(program)] if isinstance(program, os.PathLike) else program
    if not words:
        raise Error("there is no program", "program", "give its path, or a list of it and its arguments")
    kept: list[object] = []
    flags: list[str] = []
    for name, values in arguments(keys, kept):
        if len(values) != 1:
            raise Error(f"{name} takes one value in a run, not {len(values)}", name, "call fsin.mpirun for each")
        flag = f"--{name.replace('_', '-')}"
        if name not in _SWITCHES:
            flags += [flag, values[0]]
        elif values[0] not in ("true", "false"):
            raise Error(f"{name} is True or False, not {values[0]}", name, "give one of these")
        elif values[0] == "true":
            flags.append(flag)
    with tempfile.TemporaryDirectory(prefix="fsin-") as folder:
        file = Path(folder) / "result.json"
        executed(["mpirun", "-n", str(ranks), *flags, *options, "-o", str(file), "--", *words], "program")
        found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return Result(found, "", None)
