"""The commands of the wheel."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import fsin
from common import COMMAND, ROOT, SCRIPT, command, reproducible, result


class Commands(unittest.TestCase):
    def test_the_command_is_the_command(self) -> None:
        self.assertEqual(command("--version", program=SCRIPT).stdout, f"fsin {fsin.__version__}\n")
        words = ["--topology", "torus:4x4", "--load", "0.2", "--cycles", "2000"]
        self.assertEqual(reproducible(result(*words, program=SCRIPT)), reproducible(result(*words)))
        for words in (["--help"], ["run", "--help"], ["list"], ["run", "--network", "wormhole", "--help"]):
            self.assertEqual(command(*words, program=SCRIPT).stdout, command(*words).stdout)

    def test_errors_and_their_status(self) -> None:
        for words, status in [(["run", "--laod", "1"], 2), (["run", "--load", "-1"], 2), ([], 2)]:
            found = command(*words, program=SCRIPT, check=False)
            self.assertEqual((found.returncode, found.stderr), (status, command(*words, check=False).stderr))

    def test_sweeps_start_processes_of_the_same_command(self) -> None:
        words = ["sweep", "--topology", "torus:4x4", "--load", "0.1,0.2", "--cycles", "1000", "-q"]
        with tempfile.TemporaryDirectory() as folder:
            command(*words, "-o", f"{folder}/a", program=SCRIPT)
            command(*words, "-o", f"{folder}/b")
            tables = [Path(f"{folder}/{one}/results.csv").read_text(encoding="utf-8") for one in "ab"]
            self.assertEqual(tables[0], tables[1])
            listed = command(*words, "-o", f"{folder}/c", "--backend", "commands", program=SCRIPT).stdout
            self.assertIn(" -m fsin point ", listed)
            subprocess.run(listed, shell=True, check=True)
            command("collect", f"{folder}/c", program=SCRIPT)
            self.assertEqual(Path(f"{folder}/c/results.csv").read_text(encoding="utf-8"), tables[0])

    def test_the_module_is_the_command_too(self) -> None:
        done = subprocess.run([sys.executable, "-m", "fsin", "--version"], capture_output=True, text=True)
        self.assertEqual(done.stdout, f"fsin {fsin.__version__}\n")

    def test_trace_prep(self) -> None:
        script = str(Path(sys.executable).parent / "trace-prep")
        trace = str(ROOT / "examples/npb-mg/mg.S.16.ti.tar.xz")
        self.assertIn("16", command("info", trace, program=script).stdout)
        self.assertEqual(command("info", "absent.trc", program=script, check=False).returncode, 2)

    def test_the_wheel_needs_no_other_package(self) -> None:
        code = "import sys, fsin; print(sorted(m for m in ('numpy', 'pandas', 'polars', 'networkx') if m in sys.modules))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "[]\n")


if __name__ == "__main__":
    unittest.main()
