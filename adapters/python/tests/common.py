"""What the tests share: the command to compare with, and how its output is read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

#: The executable of Rust where the tests of the workspace run these, else the command of the wheel.
COMMAND = os.environ.get("FSIN", str(Path(sys.executable).parent / "fsin"))

#: The command of the wheel.
SCRIPT = str(Path(sys.executable).parent / "fsin")

#: The repository.
ROOT = Path(__file__).resolve().parents[3]


def command(*words: str, program: str = COMMAND, check: bool = True, **more: Any) -> subprocess.CompletedProcess[str]:
    """Runs the command."""
    done = subprocess.run([program, *words], capture_output=True, text=True, **more)
    if check and done.returncode != 0:
        raise AssertionError(f"{words}: {done.returncode}\n{done.stderr}")
    return done


def result(*words: str, **more: Any) -> dict[str, Any]:
    """The result of a run by the command."""
    found: dict[str, Any] = json.loads(command("run", "--format", "json", "-q", *words, **more).stdout)
    return found


def reproducible(figures: dict[str, Any]) -> dict[str, Any]:
    """The figures that do not depend on machine and time, and without texts, which name settings by their notation."""
    costs = {"manifest", "warnings", "notes", "cpu_seconds", "wall_seconds", "peak_memory_bytes"}
    return {name: value for name, value in figures.items() if name not in costs and not name.endswith("_per_second")}


def skipped(why: str) -> None:
    """Says that something is not tested on this machine, also in the list that FSIN_SKIPPED names."""
    line = f"SKIPPED: python: {why}\n"
    sys.stderr.write(line)
    if "FSIN_SKIPPED" in os.environ:
        with open(os.environ["FSIN_SKIPPED"], "a", encoding="utf-8") as file:
            file.write(line)
