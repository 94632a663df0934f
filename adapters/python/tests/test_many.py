"""Sweeps, pictures and searches: the results of the command."""

from __future__ import annotations

import csv
import json
import sys
import tempfile
import unittest
from pathlib import Path
from xml.etree import ElementTree

import fsin
from common import command, skipped

KEYS = {"topology": "torus:4x4", "samples": 3, "sample_size": 500, "warmup": 500, "max_conv_time": 0}
WORDS = ["--topology", "torus:4x4", "--samples", "3", "--sample-size", "500", "--warmup", "500", "--max-conv-time", "0"]


class Sweeps(unittest.TestCase):
    def test_columns_and_pictures_are_those_of_the_command(self) -> None:
        swept = fsin.sweep(load=[0.1, 0.3, 0.9], routing=["bubble:smart", "bubble:oblivious"], seeds=2, jobs=2, **KEYS)
        self.assertEqual(swept.axes, ["routing", "load", "seed"])
        with tempfile.TemporaryDirectory() as folder:
            words = ["--load", "0.1,0.3,0.9", "--routing", "bubble:smart,bubble:oblivious", "--seeds", "2"]
            command("sweep", *WORDS, *words, "-q", "-o", f"{folder}/r")
            with open(f"{folder}/r/results.csv", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
            self.assertEqual([row["digest"] for row in rows], swept["digest"])
            self.assertEqual([row["experiment.routing"] for row in rows], swept["routing"])
            self.assertEqual([float(row["experiment.load"]) for row in rows], swept["load"])
            latency = [float(row["latency_mean_cycles"]) for row in rows]
            self.assertEqual(latency, swept["latency_mean_cycles"])
            command("plot", f"{folder}/r", "-q")
            pictures = fsin.plot(swept)
            files = {path.stem: path.read_text(encoding="utf-8") for path in Path(f"{folder}/r/plots").glob("*.svg")}
            self.assertEqual({one.name: one.svg for one in pictures}, files)
            self.assertIn("latency", [one.kind for one in pictures])
            self.assertEqual(pictures["latency"].data, Path(f"{folder}/r/plots/latency.csv").read_text(encoding="utf-8"))

    def test_l9_pictures_can_be_chosen_and_are_shown(self) -> None:
        swept = fsin.sweep(load="0.1..0.3/3", vcs=[2, 3], **KEYS)
        pictures = fsin.plot(swept, only={"vcs": 3, "load": "0.1..0.2"}, title="One curve", xmax=0.5)
        ElementTree.fromstring(pictures["latency"].svg)
        self.assertIn("One curve", pictures["latency"]._repr_svg_())
        self.assertIn("<svg", pictures._repr_html_())
        with tempfile.TemporaryDirectory() as folder:
            pictures[0].save(Path(folder) / "a.svg")
            self.assertEqual((Path(folder) / "a.svg").read_text(encoding="utf-8"), pictures[0].svg)
            for name, begins in [("b.PDF", b"%PDF-"), ("b.png", b"\x89PNG\r\n"), ("b.csv", pictures[0].data.encode()[:20])]:
                pictures[0].save(Path(folder) / name)
                self.assertTrue((Path(folder) / name).read_bytes().startswith(begins), name)
            for name in ["c.jpg", "c", "c.svg.gz"]:
                with self.assertRaises(fsin.Error) as refused:
                    pictures[0].save(Path(folder) / name)
                self.assertEqual(refused.exception.subject, "path")
                self.assertIn(".svg, .pdf, .png, .csv", str(refused.exception))
                self.assertFalse((Path(folder) / name).exists())
        for keys, subject in [({"along": "color"}, "along"), ({"scale": "cubic"}, "scale"), ({"only": {"vcs": 9}}, None)]:
            with self.assertRaises(fsin.Error) as caught:
                fsin.plot(swept, **keys)
            if subject is not None:
                self.assertIn(subject, str(caught.exception))
        with self.assertRaises(KeyError):
            pictures["colour"]
        with self.assertRaises(fsin.Error):
            fsin.plot(dict(swept))  # type: ignore[arg-type]

    def test_progress_is_told_and_an_exception_in_it_ends_the_sweep(self) -> None:
        told: list[tuple[int, int]] = []
        fsin.sweep(load=[0.1, 0.2, 0.3], jobs=1, progress=lambda done, of: told.append((done, of)), **KEYS)
        self.assertEqual(told, [(1, 3), (2, 3), (3, 3)])

        def fail(done: int, of: int) -> None:
            raise ZeroDivisionError

        with self.assertRaises(ZeroDivisionError):
            fsin.sweep(load=[0.1, 0.2, 0.3], progress=fail, **KEYS)

    def test_a_curve_ends_after_saturation(self) -> None:
        swept = fsin.sweep(load="0.1..1.9/10", stop_after=1, jobs=1, traffic="complement", **KEYS)
        self.assertGreater(swept.left_out, 0)
        self.assertEqual(len(swept["load"]) + swept.left_out, 10)
        self.assertEqual(swept["saturated"].count(True), 1)

    def test_failed_points_are_listed(self) -> None:
        keys = {"topology": "torus:8x8", "routing": "bubble:oblivious", "vcs": 1, "load": 1.0, "watchdog": 2000}
        swept = fsin.sweep(bubble=[0, 2], **keys)
        self.assertEqual([point for point, _ in swept.failed], ["bubble 0"])
        self.assertIn("deadlock", swept.failed[0][1])

    def test_a_figure_and_an_argument_of_one_name(self) -> None:
        swept = fsin.sweep(topology="torus:4x4", load=0.1, cycles=[500, 1000])
        self.assertEqual((swept["cycles"], swept["figure_cycles"]), ([500, 1000], [500, 1000]))

    def test_scalars_of_numpy_are_numbers(self) -> None:
        try:
            import numpy
        except ImportError:
            skipped("numpy is not installed")
            return
        swept = fsin.sweep(load=numpy.linspace(0.1, 0.2, 2), vcs=numpy.array([2, 3]), **KEYS)
        self.assertEqual(swept["load"], [0.1, 0.2, 0.1, 0.2])
        self.assertEqual(fsin.run(load=numpy.float32(0.5), node_stats=numpy.bool_(True), **KEYS).experiment["load"], 0.5)

    def test_errors(self) -> None:
        for keys, subject in [
            ({"load": [0.1, 0.1]}, "load"),
            ({"load": "0.1..0.2"}, "load"),
            ({"load": "0.1..0.2", "jobs": 0}, "jobs"),
            ({"load": [0.1, 0.2], "tolerance": 0.1}, "tolerance"),
            ({"laod": [0.1]}, "laod"),
            ({"seeds": 0}, "seeds"),
            ({"topology": ["torus:4x4", "tours:4x4"]}, "topology"),
        ]:
            with self.subTest(keys=keys):
                with self.assertRaises(fsin.Error) as caught:
                    fsin.sweep(**keys)
                self.assertEqual(caught.exception.subject, subject, str(caught.exception))

    def test_frames_take_it_as_it_is(self) -> None:
        swept = fsin.sweep(topology="torus:4x4", load="0.01..0.5/50", vcs=[2, 3, 4, 5], seeds=5, cycles=100)
        self.assertEqual((len(swept.rows()), swept.failed), (1000, []))
        try:
            import pandas
        except ImportError:
            skipped("pandas is not installed")
        else:
            frame = pandas.DataFrame(swept)
            self.assertEqual(list(frame["load"]), swept["load"])
            self.assertEqual(str(frame["latency_mean_cycles"].dtype), "float64")
            self.assertEqual(list(frame.groupby("vcs").size()), [250] * 4)
        try:
            import polars
        except ImportError:
            skipped("polars is not installed")
        else:
            frame = polars.DataFrame(swept)
            self.assertEqual(frame["vcs"].to_list(), swept["vcs"])
            self.assertEqual(frame["vcs"].n_unique(), 4)
            self.assertEqual(frame["latency_mean_cycles"].to_list(), swept["latency_mean_cycles"])


class Searches(unittest.TestCase):
    KEYS = {**KEYS, "traffic": "complement", "tolerance": 0.1, "routing": "bubble:oblivious"}
    WORDS = [*WORDS, "--traffic", "complement", "--tolerance", "0.1", "--routing", "bubble:oblivious"]

    def test_a_search_finds_what_the_command_finds(self) -> None:
        found = fsin.saturation(seeds=2, **self.KEYS)
        with tempfile.TemporaryDirectory() as folder:
            command("saturation", *self.WORDS, "--seeds", "2", "-q", "-o", f"{folder}/s")
            kept = json.loads(Path(f"{folder}/s/saturation.json").read_text(encoding="utf-8"))
        self.assertEqual(found.to_dict(), kept)
        self.assertEqual(found.load, kept["searches"][0]["saturation_load_phits_per_node_cycle"])
        self.assertIn("saturation_low", found._repr_html_())

    def test_several_searches_are_rows(self) -> None:
        told: list[tuple[int, int]] = []
        found = fsin.saturation(vcs=[2, 3], progress=lambda done, of: told.append((done, of)), **self.KEYS)
        self.assertEqual([row["vcs"] for row in found.rows], ["2", "3"])
        self.assertGreater(len(told), 3)
        with self.assertRaises(fsin.Error):
            found.load

    def test_errors(self) -> None:
        for keys, subject in [
            ({"cycles": 100}, "cycles"),
            ({"link_loads": True}, "link_loads"),
            ({"kernel": "bintree:tasks=16"}, "load"),
            ({"tolerance": 3}, "tolerance"),
        ]:
            with self.subTest(keys=keys):
                with self.assertRaises(fsin.Error) as caught:
                    fsin.saturation(topology="torus:4x4", **keys)
                self.assertEqual(caught.exception.subject, subject, str(caught.exception))


if __name__ == "__main__":
    sys.exit(unittest.main())
