"""Folders of results: what ``fsin run -o`` and ``fsin sweep -o`` have written.

The functions run the command of this package in a process of its own, which Ctrl-C ends.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional, Union

from fsin._error import Error
from fsin._run import Result

Folder = Union[str, "os.PathLike[str]"]


def executed(words: Sequence[str], subject: Optional[str] = None, *, module: str = "fsin") -> str:
    """Runs a command of this package and returns what it prints."""
    code = "import sys; from fsin import __main__; sys.exit(__main__.trace_prep())"
    program = [sys.executable, "-m", "fsin"] if module == "fsin" else [sys.executable, "-c", code]
    done = subprocess.run([*program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        told = done.stderr.strip() or done.stdout.strip() or f"{module} {words[0]} ended with status {done.returncode}"
        raise Error(told.removeprefix("error: "), subject, None)
    return done.stdout


def read(folder: Folder) -> list[Result]:
    """The results in a folder of a run or of a sweep, in the order of its points."""
    path = Path(folder)
    try:
        if (path / "result.json").is_file():
            toml = (path / "experiment.toml").read_text(encoding="utf-8")
            return [Result(json.loads((path / "result.json").read_text(encoding="utf-8")), toml, None)]
        plan = json.loads((path / "plan.json").read_text(encoding="utf-8"))
        experiments = {point["id"]: point["experiment"] for point in plan["points"]}
        lines = (path / "results.jsonl").read_text(encoding="utf-8").splitlines()
        rows = [json.loads(line) for line in lines]
        return [Result(row, experiments[row.pop("point")], None) for row in rows]
    except (OSError, ValueError, KeyError) as error:
        what = f"{os.fspath(folder)} holds no results: {error}"
        raise Error(what, "folder", "name the folder of a run or of a sweep that has ended") from None


def compare(baseline: Folder, candidate: Folder, *, margin: float = 1.0) -> dict[str, Any]:
    """Compares two folders of sweeps point by point, as ``fsin compare`` does: ``differences`` is a row for each figure of
    each point, with a ``verdict``: ``higher``, ``lower``, ``same`` or ``unclear``. ``margin`` is the difference that does
    not matter, in percent."""
    words = ["compare", os.fspath(baseline), os.fspath(candidate), "--margin", repr(margin), "--format", "json", "-q"]
    found: dict[str, Any] = json.loads(executed(words))
    return found


def report(*folders: Folder, output: Optional[Folder] = None, title: Optional[str] = None) -> Path:
    """Writes the page of one or several folders of results, as ``fsin report`` does, and returns its path."""
    if not folders:
        raise Error("report takes one folder at least", "folders", "name a folder of a run or of a sweep")
    if output is None and len(folders) > 1:
        raise Error("a page of several folders needs a file", "output", "give output='page.html'")
    page = Path(folders[0]) / "report.html" if output is None else Path(output)
    words = ["report", *(os.fspath(folder) for folder in folders), "-o", os.fspath(page), "-q"]
    executed([*words, *(["--title", title] if title is not None else [])])
    return page


def rerun(folder: Folder, *, jobs: Optional[int] = None) -> None:
    """Runs stored results again. Raises ``fsin.Error`` with every difference unless they are the same to the last digit."""
    executed(["rerun", os.fspath(folder), "-q", *([] if jobs is None else ["--jobs", str(jobs)])], "folder")


def resume(folder: Folder, *, jobs: Optional[int] = None) -> list[Result]:
    """Runs what is missing in the folder of a sweep, and returns all its results."""
    words = ["sweep", "--resume", "-o", os.fspath(folder), "-q", *([] if jobs is None else ["--jobs", str(jobs)])]
    executed(words, "folder")
    return read(folder)
