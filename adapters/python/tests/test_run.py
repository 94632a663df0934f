"""Runs: the figures of the command, its errors as exceptions, Ctrl-C, threads."""

from __future__ import annotations

import copy
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import fsin
from common import ROOT, reproducible, result


class Figures(unittest.TestCase):
    def test_every_figure_is_that_of_the_command(self) -> None:
        trace = str(ROOT / "examples/npb-mg/mg.S.16.ti.tar.xz")
        for words, keys in [
            (["--topology", "torus:8x8", "--load", "0.3"], {"topology": "torus:8x8", "load": 0.3}),
            (
                ["--topology", "mesh:4x4", "--network", "wormhole", "--load", "0.1", "--cycles", "5000", "--node-stats"],
                {"topology": "mesh:4x4", "network": "wormhole", "load": 0.1, "cycles": 5000, "node_stats": True},
            ),
            (
                ["--kernel", "all-to-all:tasks=16,bytes=512", "--topology", "torus:4x4", "--seed", "7"],
                {"kernel": "all-to-all:tasks=16,bytes=512", "topology": "torus:4x4", "seed": 7},
            ),
            (["--trace", trace, "--topology", "torus:4x4"], {"trace": Path(trace), "topology": "torus:4x4"}),
            (["--trace", trace, "--network", "loggops:L=2500,G=6"], {"trace": trace, "network": "loggops:L=2500,G=6"}),
        ]:
            with self.subTest(words=words):
                found = fsin.run(**keys)
                self.assertEqual(reproducible(found.to_dict()), reproducible(result(*words)))

    def test_attributes_items_and_units(self) -> None:
        found = fsin.run(topology="torus:4x4", load=0.1, cycles=2000)
        self.assertEqual(found.latency_mean_cycles, found["latency_mean_cycles"])
        self.assertIn("latency_mean_cycles", dir(found))
        self.assertEqual(fsin.figures()["latency_mean_cycles"][0], "cycles")
        self.assertIn("<td>latency_mean_cycles</td>", found._repr_html_())
        self.assertIn("latency_mean_cycles", repr(found))
        with self.assertRaisesRegex(AttributeError, "no figure 'latency'"):
            found.latency
        for other in (copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
            self.assertEqual(other, found)

    def test_a_file_of_the_experiment_gives_the_same_result(self) -> None:
        first = fsin.run(topology="mesh:4x4", load=0.2, cycles=3000, seed=5)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "e.toml"
            path.write_text(first.toml, encoding="utf-8")
            self.assertEqual(fsin.run(path).digest, first.digest)
            self.assertNotEqual(fsin.run(path, seed=6).digest, first.digest)
            self.assertEqual(result(str(path))["digest"], first.digest)

    def test_the_environment_is_not_read(self) -> None:
        keys = {"topology": "torus:4x4", "cycles": 1000}
        before = fsin.run(**keys)
        os.environ["FSIN_LOAD"] = "0.9"
        try:
            self.assertEqual(fsin.run(**keys).digest, before.digest)
        finally:
            del os.environ["FSIN_LOAD"]

    def test_a_program_has_a_timeline(self) -> None:
        found = fsin.run(kernel="all-reduce-ring:tasks=8,bytes=4096", topology="torus:4x2", timeline=True)
        assert found.timeline is not None
        events = [event for event in found.timeline["traceEvents"] if event["ph"] == "X"]
        ranks = {event["tid"] for event in events if event.get("cat") != "message"}
        self.assertEqual(ranks, set(range(8)))
        self.assertTrue(any(event.get("cat") == "message" for event in events))
        self.assertIn("<svg", found._repr_html_())
        with self.assertRaises(fsin.Error) as caught:
            fsin.run(load=0.1, timeline=True)
        self.assertEqual(caught.exception.subject, "timeline")


class Errors(unittest.TestCase):
    def test_an_error_names_its_argument_and_a_remedy(self) -> None:
        for keys, subject, what, remedy in [
            ({"laod": 0.3}, "laod", "unknown argument `laod`", "did you mean `load`"),
            ({"phitbytes": 4}, "phitbytes", "unknown argument", "phit_bytes"),
            ({"load": -1}, "load", "load=-1 is out of range", "use 0 to"),
            ({"load": "high"}, "load", "high", ""),
            ({"topology": "tours:8x8"}, "topology", "tours", "torus"),
            ({"load": [0.1, 0.2]}, "load", "takes one value in a run, not 2", "fsin.sweep"),
            ({"load": []}, "load", "has no value", ""),
            ({"load": {}}, "load", "takes no dict", ""),
            ({"seeds": 3}, "seeds", "no meaning for one run", "fsin.sweep"),
            ({"trace": "no-such-file.trc"}, "trace", "no-such-file.trc", ""),
            ({"strict": True}, "strict", "strict", "cycles"),
            ({"network": "loggops:L=1,G=1"}, "network", "takes a trace", "trace="),
        ]:
            with self.subTest(keys=keys):
                with self.assertRaises(fsin.Error) as caught:
                    fsin.run(**keys)
                error = caught.exception
                self.assertEqual(error.subject, subject, str(error))
                self.assertIn(what, error.what)
                self.assertIn(remedy, error.remedy or "")
                self.assertIn(error.what, str(error))
                self.assertNotIn("--", str(error), "arguments are written as in Python")
                self.assertEqual(pickle.loads(pickle.dumps(error)).what, error.what)

    def test_an_error_in_a_file_has_its_line(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "e.toml"
            path.write_text("vcs = 2\nlaod = 0.5\n", encoding="utf-8")
            with self.assertRaisesRegex(fsin.Error, "e.toml:2: unknown key `laod`"):
                fsin.run(path)

    def test_a_deadlock_is_a_failure_with_its_figures(self) -> None:
        with self.assertRaises(fsin.RunFailed) as caught:
            fsin.run(topology="torus:8x8", routing="bubble:oblivious", bubble=0, vcs=1, load=1.0, watchdog=2000)
        failed = caught.exception.result
        self.assertEqual(failed.failure["kind"], "network-deadlock")
        self.assertFalse(failed.complete)
        self.assertIn("deadlock", str(caught.exception))
        self.assertIn("bubble=2", caught.exception.remedy or "")
        again = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual((again.remedy, again.result), (caught.exception.remedy, failed))

    def test_a_count_may_be_a_float(self) -> None:
        found = fsin.run(topology="torus:4x4", load=0.1, cycles=1e3)
        self.assertEqual((found.cycles, found.experiment["cycles"]), (1000, 1000))
        with self.assertRaises(fsin.Error) as caught:
            fsin.run(topology="torus:4x4", load=0.1, cycles=1000.5)
        self.assertEqual(caught.exception.subject, "cycles")


class Threads(unittest.TestCase):
    def test_other_threads_go_on(self) -> None:
        counted, over = [0], threading.Event()

        def count() -> None:
            while not over.is_set():
                counted[0] += 1
                time.sleep(0.001)

        thread = threading.Thread(target=count)
        thread.start()
        found = fsin.run(topology="torus:16x16", load=0.4, cycles=20000)
        over.set()
        thread.join()
        self.assertTrue(found.complete)
        self.assertGreater(counted[0], 10)

    def test_runs_at_the_same_time_do_not_disturb_each_other(self) -> None:
        keys = {"topology": "torus:4x4", "load": 0.2, "cycles": 3000}
        alone = fsin.run(**keys).digest
        digests: list[str] = []
        threads = [threading.Thread(target=lambda: digests.append(fsin.run(**keys).digest)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(digests, [alone] * 8)

    def test_ctrl_c_ends_whatever_runs_within_a_second(self) -> None:
        busy = "type('Busy', (), {'generate': lambda *_: [_ for _ in iter(int, 1) if _]})()"
        for call in [
            "fsin.run(topology='torus:16x16', load=0.3, cycles=10**12)",
            "fsin.sweep(topology='torus:16x16', load=[0.1, 0.3], cycles=10**12)",
            "fsin.saturation(topology='torus:16x16', samples=100000, sample_size=10**9)",
            f"fsin.run(topology='torus:16x16', generator={busy})",
            "fsin.run(topology='torus:16x16', traffic=lambda node: time.sleep(0.2))",
            "fsin.sweep(topology='torus:16x16', traffic=lambda node: time.sleep(0.2), load=[0.1, 0.3])",
            "fsin.run(topology='torus:1024x1024', load=0.1)",
        ]:
            with self.subTest(call=call):
                code = f"import fsin, time\nprint('begun', flush=True)\ntry:\n  {call}\nexcept KeyboardInterrupt:\n  print('ended')\n"
                child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
                assert child.stdout is not None
                self.assertEqual(child.stdout.readline(), "begun\n")
                time.sleep(0.5)
                begun = time.monotonic()
                child.send_signal(signal.SIGINT)
                self.assertEqual(child.stdout.readline(), "ended\n")
                self.assertLess(time.monotonic() - begun, 1.0)
                child.stdout.close()
                self.assertEqual(child.wait(timeout=5), 0)


if __name__ == "__main__":
    unittest.main()
