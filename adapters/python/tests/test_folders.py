"""Folders of results, programs and traces; what editors and notebooks are told of names."""

from __future__ import annotations

import inspect
import shutil
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import fsin
from common import ROOT, command, reproducible, skipped


class Folders(unittest.TestCase):
    def setUp(self) -> None:
        kept = tempfile.TemporaryDirectory()
        self.addCleanup(kept.cleanup)
        self.folder = Path(kept.name)

    def swept(self, name: str, vcs: int) -> Path:
        words = ["--topology", "torus:4x4", "--load", "0.1,0.2", "--cycles", "1500", "--vcs", str(vcs), "--seeds", "3"]
        command("sweep", *words, "-q", "-o", str(self.folder / name))
        return self.folder / name

    def test_what_the_command_wrote_is_read_compared_shown_and_run_again(self) -> None:
        a, b = self.swept("a", 3), self.swept("b", 2)
        found = fsin.read(a)
        self.assertEqual([one.experiment["load"] for one in found], [0.1] * 3 + [0.2] * 3)
        self.assertEqual(fsin.run(Path(self.file(found[4].toml))).digest, found[4].digest)
        rows = fsin.compare(a, b, margin=5)["differences"]
        self.assertEqual({row["load"] for row in rows}, {"0.1", "0.2"})
        self.assertIn("<html", fsin.report(a).read_text(encoding="utf-8"))
        with self.assertRaises(fsin.Error):
            fsin.report(a, b)
        self.assertIn("Two", fsin.report(a, b, output=self.folder / "page.html", title="Two").read_text(encoding="utf-8"))
        fsin.rerun(a)
        result = next((a / "points").glob("*/result.json"))
        result.write_text(result.read_text(encoding="utf-8").replace('"digest": "', '"digest": "0'), encoding="utf-8")
        with self.assertRaisesRegex(fsin.Error, "digest"):
            fsin.rerun(a)

    def file(self, toml: str) -> Path:
        path = self.folder / "e.toml"
        path.write_text(toml, encoding="utf-8")
        return path

    def test_a_sweep_is_resumed(self) -> None:
        a = self.swept("a", 3)
        before = [one.digest for one in fsin.read(a)]
        shutil.rmtree(sorted((a / "points").iterdir())[0])
        self.assertEqual([one.digest for one in fsin.resume(a, jobs=1)], before)

    def test_a_run_is_read_too_and_nothing_else(self) -> None:
        command("run", "--topology", "torus:4x4", "--cycles", "900", "-q", "-o", str(self.folder / "r"))
        (one,) = fsin.read(self.folder / "r")
        self.assertEqual(reproducible(fsin.run(self.file(one.toml)).to_dict()), reproducible(one.to_dict()))
        for wrong in (self.folder, self.folder / "absent"):
            with self.assertRaises(fsin.Error) as raised:
                fsin.read(wrong)
            self.assertEqual(raised.exception.subject, "folder")

    def test_tables_are_frames(self) -> None:
        found = fsin.run(kernel="all-reduce:tasks=4,bytes=4096,iterations=2", topology="torus:4")
        try:
            import pandas
        except ImportError:
            return skipped("pandas is not installed")
        frame = pandas.DataFrame(found.collectives)
        self.assertEqual(list(frame["kind"])[:1], ["allreduce"])
        self.assertTrue((frame["bus_bandwidth_gb_per_s"] > 0).all())


class Programs(unittest.TestCase):
    def test_a_trace_is_summarised(self) -> None:
        trace = fsin.trace(ROOT / "examples/npb-mg/mg.S.16.ti.tar.xz")
        self.assertEqual((trace.tasks, trace.pairs), (16, 96))
        with self.assertRaises(fsin.Error):
            fsin.trace("absent.trc")

    def test_true_and_false_reach_the_command(self) -> None:
        with mock.patch("fsin._programs.executed", side_effect=fsin.Error("not run", None, None)) as ran:
            with self.assertRaises(fsin.Error):
                fsin.mpirun("./app", ranks=2, spanning_tree=False, ecmp=True, link_loads=True, message_stats=False)
            words = ran.call_args.args[0]
            with self.assertRaisesRegex(fsin.Error, "link_loads"):
                fsin.mpirun("./app", ranks=2, link_loads="some")
        self.assertEqual(words[3:8], ["--spanning-tree", "false", "--ecmp", "true", "--link-loads"])
        self.assertNotIn("--message-stats", words)

    def test_a_program_runs_over_the_network(self) -> None:
        compiler = shutil.which("mpicc.mpich")
        if compiler is None:
            return skipped("mpicc.mpich is not installed")
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "ring"
            source = ROOT / "tests/programs/mpi/ring.c"
            import subprocess

            subprocess.run([compiler, "-o", str(program), str(source), "-lm"], check=True)
            try:
                found = fsin.mpirun(program, ranks=4, topology="torus:4")
            except fsin.Error as error:
                if "libfsin_mpi" in error.what:
                    return skipped("the library of mpirun is not beside the wheel")
                raise
            self.assertEqual(len(found.ranks), 4)
            self.assertGreater(found.completion_seconds, 0)
            with self.assertRaises(fsin.Error):
                fsin.mpirun([], ranks=4)


class Names(unittest.TestCase):
    def test_every_argument_is_in_the_signature(self) -> None:
        keys = {*fsin.keys()}
        of_many = {"seeds", "stop_after", "skip_invalid", "lengthen", "tolerance"}
        for function, own in [(fsin.run, {"experiment", "generator", "timeline"}), (fsin.mpirun, {"program", "ranks", "options"})]:
            self.assertEqual({*inspect.signature(function).parameters}, (keys - of_many) | own)
        for many in (fsin.sweep, fsin.saturation):
            self.assertEqual({*inspect.signature(many).parameters}, keys | {"experiment", "jobs", "progress"})

    def test_every_figure_is_declared(self) -> None:
        from fsin._named import Figures

        self.assertEqual([*Figures.__annotations__], [*fsin.figures()])

    def test_a_notebook_completes_arguments_and_figures(self) -> None:
        try:
            import jedi
        except ImportError:
            return skipped("jedi is not installed")

        def completed(text: str) -> set[str]:
            return {one.name.rstrip("=") for one in jedi.Interpreter(text, [{"fsin": fsin}]).complete()}

        self.assertLessEqual({*fsin.keys()} - {"seeds", "stop_after", "skip_invalid", "lengthen", "tolerance"}, completed("fsin.run("))
        self.assertLessEqual({*fsin.keys()}, completed("fsin.sweep("))
        # Before anything has run, an editor has the types alone.
        script = jedi.Script('import fsin\nr = fsin.run(topology="torus:4x4")\nr.')
        self.assertLessEqual({*fsin.figures()}, {one.name for one in script.complete()})
        # A result itself has what its kind of run measures.
        found = fsin.run(topology="torus:4x4", cycles=500)
        of_result = {one.name for one in jedi.Interpreter("r.", [{"r": found}]).complete()}
        self.assertLessEqual({*found}, of_result)

    def test_a_wrong_figure_names_the_near_one_or_says_that_it_is_not_measured(self) -> None:
        found = fsin.run(topology="torus:4x4", cycles=500)
        with self.assertRaisesRegex(AttributeError, "did you mean 'latency_mean_cycles'"):
            getattr(found, "latency_maen_cycles")
        with self.assertRaisesRegex(AttributeError, "does not measure"):
            getattr(found, "guest_digest")


class RoutesAsAFunction(unittest.TestCase):
    def test_a_function_of_two_nodes_gives_the_routes_of_columns(self) -> None:
        def clockwise(source: int, destination: int) -> list[int]:
            return [(source + hop) % 5 for hop in range((destination - source) % 5 + 1)]

        pairs = [(a, b) for a in range(5) for b in range(5) if a != b]
        columns = {
            "source": [a for a, _ in pairs],
            "destination": [b for _, b in pairs],
            "path": [clockwise(a, b) for a, b in pairs],
        }
        settings = {"network": "flow", "topology": "torus:5", "kernel": "all-to-all:tasks=5,bytes=999"}
        digests = {fsin.run(routes=routes, **settings).digest for routes in (clockwise, columns)}
        self.assertEqual(len(digests), 1)
        self.assertNotEqual(digests, {fsin.run(**settings).digest})


if __name__ == "__main__":
    unittest.main()
