"""Components that Python defines, topologies as graphs, and descriptions."""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any, Optional

import fsin
from common import command, result, skipped

KEYS = {"topology": "torus:4x4", "load": 0.2, "cycles": 4000}
WORDS = ["--topology", "torus:4x4", "--load", "0.2", "--cycles", "4000"]


class Patterns(unittest.TestCase):
    def test_a_function_is_the_pattern_that_it_computes(self) -> None:
        complement = fsin.run(traffic=lambda node: 15 - node, **KEYS)
        self.assertEqual(complement.digest, result(*WORDS, "--traffic", "complement")["digest"])

    def test_a_matrix_is_the_pattern_of_its_file(self) -> None:
        weights = [[float((source * 7 + to * 3) % 5) for to in range(16)] for source in range(16)]
        weights[3] = [0.0] * 16
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "m.txt"
            path.write_text("\n".join(" ".join(map(str, row)) for row in weights), encoding="utf-8")
            digest = result(*WORDS, "--traffic", f"matrix({path})")["digest"]
        found = fsin.run(traffic=weights, **KEYS)
        self.assertEqual(found.digest, digest)
        self.assertEqual(found.silent_nodes, 1)
        by_dict = fsin.run(traffic=lambda node: dict(enumerate(weights[node])), **KEYS)
        self.assertEqual(by_dict.digest, digest)
        try:
            import numpy
        except ImportError:
            skipped("numpy is not installed")
            return
        square, wide = numpy.array(weights), numpy.zeros((32, 48))
        wide[::2, ::3] = square
        types = ["float32", "float16", "longdouble", "int64", "uint8", ">f8", "object"]
        others = [square.T.copy().T, wide[::2, ::3], numpy.ma.masked_array(square), memoryview(square), [*square]]
        for array in [square, *(square.astype(dtype) for dtype in types), *others]:
            self.assertEqual(fsin.run(traffic=array, **KEYS).digest, digest)
        swept = fsin.sweep(topology="torus:4x4", traffic=[numpy.array(weights), "uniform"], load=[0.1, 0.2], cycles=4000)
        self.assertEqual(swept["digest"][1], digest)

    def test_errors(self) -> None:
        def fail(node: int) -> int:
            raise LookupError("nothing known of it")

        for traffic, what in [
            (fail, "node 0: LookupError: nothing known of it"),
            (lambda node: 16, "node 0 sends to 16"),
            (lambda node: "a", "node 0: "),
            (lambda node: {1: -1.0, 2: 3.0}, "with weight -1"),
            ([[0.0, 1.0], [1.0, 0.0]], "2 lines, and the network 16 nodes"),
            ([[0.0, 1.0]], "not square"),
            ([[1.0] * 16] * 15 + [[1.0]], "row 15 has 1 weights"),
            (object(), "traffic takes no"),
            ("python(77)", "no such pattern"),
            *self.wrong_arrays(),
        ]:
            with self.subTest(what=what):
                with self.assertRaises(fsin.Error) as caught:
                    fsin.run(traffic=traffic, **KEYS)
                self.assertIn(what, str(caught.exception))
                if not isinstance(traffic, str):
                    self.assertNotIn("python(", caught.exception.what)
                self.assertEqual(caught.exception.subject, "traffic")
                self.assertTrue(caught.exception.remedy)
                if traffic is fail:
                    self.assertIsInstance(caught.exception.__cause__, LookupError)
        # What ends a program ends it here too.
        with self.assertRaises(SystemExit):
            fsin.run(traffic=lambda node: sys.exit(3), **KEYS)

    def wrong_arrays(self) -> list[tuple[Any, str]]:
        """Arrays that are no pattern of 16 nodes, each with what is said of it."""
        try:
            import numpy
        except ImportError:
            skipped("numpy is not installed")
            return []
        nan = numpy.ones((16, 16))
        nan[3, 4] = numpy.nan
        return [
            (nan, "node 3 sends to 4 with weight NaN"),
            (-numpy.ones((16, 16)), "with weight -1"),
            (numpy.ones((8, 8)), "8 lines, and the network 16 nodes"),
            (numpy.ones((16, 15)), "shape (16, 15) is no square matrix"),
            (numpy.ones(256), "shape (256,)"),
            (numpy.ones((1, 16, 16)), "shape (1, 16, 16)"),
            (numpy.ones((16, 16), dtype=complex), "complex"),
            (numpy.full((16, 16), "a"), "no numbers"),
        ]

    def test_a_function_is_asked_once_for_each_size_of_network(self) -> None:
        asked: list[int] = []

        def next_one(node: int) -> int:
            asked.append(node)
            self.assertIs(threading.current_thread(), threading.main_thread())
            return (node + 1) % 16

        fsin.sweep(topology=["torus:4x4", "torus:8x8"], traffic=next_one, load=[0.1, 0.2, 0.3], cycles=100)
        self.assertEqual(sorted(asked), sorted([*range(16), *range(64)]))

    def test_a_pattern_lives_as_long_as_its_run(self) -> None:
        class Function:
            alive = 0

            def __init__(self) -> None:
                Function.alive += 1

            def __del__(self) -> None:
                Function.alive -= 1

            def __call__(self, node: int) -> int:
                return (node + 1) % 16

        for _ in range(20):
            fsin.run(traffic=Function(), topology="torus:4x4", load=0.1, cycles=100)
        gc.collect()
        fsin.run(topology="torus:4x4", load=0.1, cycles=100)
        self.assertLessEqual(Function.alive, 1)


class Messages:
    """Messages of a list, each with its cycle."""

    window = 100

    def __init__(self, messages: list[tuple[int, int, int, int]], numpy: Any = None) -> None:
        self.messages, self.numpy = sorted(messages), numpy
        self.asked: list[tuple[int, int]] = []

    def generate(self, begin: int, until: int, /) -> Optional[tuple[Any, Any, Any, Any]]:
        self.asked.append((begin, until))
        if not any(cycle >= begin for cycle, *_ in self.messages):
            return None
        batch = [message for message in self.messages if begin <= message[0] < until]
        columns = [[message[at] for message in batch] for at in range(4)]
        if self.numpy is not None:
            columns = [self.numpy.array(column, dtype=self.numpy.int64) for column in columns]
        return columns[0], columns[1], columns[2], columns[3]


class Once:
    """The messages of the first window alone."""

    def __init__(self, found: Any) -> None:
        self.found = found

    def generate(self, begin: int, until: int, /) -> Any:
        return self.found if begin == 0 else None


class Generators(unittest.TestCase):
    MESSAGES = [(at * 13 % 977, at * 5 % 16, (at * 5 + 1 + at % 15) % 16, 16 + 8 * (at % 40)) for at in range(500)]

    def by_the_command(self) -> dict[str, Any]:
        """The same messages as a list of flows. A cycle is one phit of 4 bytes at 10 Gb/s: 3.2 ns."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "flows.csv"
            lines = [f"{source},{to},{size},{cycle * 3200}ps" for cycle, source, to, size in sorted(self.MESSAGES)]
            path.write_text("\n".join(["src,dst,bytes,start", *lines]), encoding="utf-8")
            return result("--topology", "torus:4x4", "--flows", str(path))

    def test_a_generator_sends_what_a_list_of_flows_sends(self) -> None:
        expected = self.by_the_command()
        own = Messages(self.MESSAGES)
        found = fsin.run(topology="torus:4x4", generator=own)
        self.assertEqual(found.digest, expected["digest"])
        self.assertEqual(found.completion_cycles, expected["completion_cycles"])
        self.assertEqual(own.asked, [(at, at + 100) for at in range(0, 1100, 100)])
        own.window = 7
        self.assertEqual(fsin.run(topology="torus:4x4", generator=own).digest, expected["digest"])
        try:
            import numpy
        except ImportError:
            skipped("numpy is not installed")
            return
        found = fsin.run(topology="torus:4x4", generator=Messages(self.MESSAGES, numpy))
        self.assertEqual(found.digest, expected["digest"])

    def test_a_steady_run_ends_when_it_says(self) -> None:
        class Endless:
            def generate(self, begin: int, until: int, /) -> tuple[Any, Any, Any, int]:
                cycles = range(begin, until, 8)
                return list(cycles), [at % 16 for at in cycles], [(at + 1) % 16 for at in cycles], 64

        found = fsin.run(topology="torus:4x4", generator=Endless(), cycles=5000)
        self.assertEqual((found.cycles, found.complete), (5000, True))
        found = fsin.run(topology="torus:4x4", generator=Endless(), warmup=1000, samples=3, sample_size=1000)
        self.assertEqual(found.measured_cycles, 3000)
        # 16 phits every 8 cycles over 16 nodes.
        self.assertAlmostEqual(found.accepted_load_phits_per_node_cycle, 16 / 8 / 16, delta=0.01)
        found = fsin.run(topology="torus:4x4", generator=Endless(), max_cycles=3000)
        self.assertFalse(found.complete)

    def test_errors(self) -> None:
        class Failing:
            def generate(self, begin: int, until: int, /) -> None:
                raise LookupError("no messages")

        with self.assertRaisesRegex(LookupError, "no messages"):
            fsin.run(topology="torus:4x4", generator=Failing())
        for message, what in [
            ((5, 0, 16, 8), "nodes 0 to 15"),
            ((5, 0, 0, 8), "sends to itself"),
            ((5, 0, 1, 0), "0 bytes"),
        ]:
            with self.assertRaises(fsin.RunFailed) as caught:
                fsin.run(topology="torus:4x4", generator=Messages([message]))
            self.assertIn(what, str(caught.exception))
            self.assertEqual(caught.exception.subject, "generator")
            self.assertTrue(caught.exception.remedy)
        with self.assertRaises(fsin.Error) as refused:
            fsin.run(topology="torus:4x4", generator=Failing(), load=0.3)
        self.assertEqual(refused.exception.subject, "load")

        class Window(Failing):
            window = -1

        for generator, what in [
            (object(), "no method generate"),
            (Failing, "not the class Failing"),
            (Window(), "its window is -1"),
            (Once(([1], [0], [1])), "returns 3 columns"),
            (Once(5), "returns an object of type int"),
            (Once(([1], [0, 1], [2, 3], 64)), "cycles has 1, sources has 2"),
            (Once(([1.5], [0], [1], 64)), "cycles hold 1.5, which is no integer"),
            (Once(([1], [0], None, 64)), "destinations are None"),
            (Once(([1], [0], [1], 2**63)), "beyond 64 bits"),
        ]:
            with self.subTest(what=what):
                with self.assertRaises(fsin.Error) as refused:
                    fsin.run(topology="torus:4x4", generator=generator)
                self.assertIn(what, refused.exception.what)
                self.assertEqual(refused.exception.subject, "generator")
        with self.assertRaises(fsin.Error) as refused:
            fsin.sweep(topology="torus:4x4", generator=Failing(), vcs=[2, 3])
        self.assertEqual(refused.exception.subject, "generator")

    def test_columns_are_arrays_of_any_integers(self) -> None:
        try:
            import numpy
        except ImportError:
            skipped("numpy is not installed")
            return
        columns = [1, 2, 7], [0, 1, 2], [2, 3, 4]
        expected = fsin.run(topology="torus:4x4", generator=Once((*columns, 64))).digest
        wide = [numpy.repeat(column, 3)[::3] for column in columns]
        for batch in (
            (*columns, numpy.int64(64)),
            (*(numpy.array(column, dtype="u1") for column in columns), numpy.full(3, 64, dtype=">i4")),
            (*wide, [64, 64, 64]),
        ):
            self.assertEqual(fsin.run(topology="torus:4x4", generator=Once(batch)).digest, expected)
        with self.assertRaisesRegex(fsin.Error, "cycles have 2 dimensions"):
            fsin.run(topology="torus:4x4", generator=Once((numpy.ones((1, 2)), [0, 1], [2, 3], 64)))


class Routes(unittest.TestCase):
    KEYS = {"topology": "mesh:4x3", "network": "wormhole", "vcs": 2, "load": 0.2, "cycles": 3000}

    def test_columns_are_the_routes_of_their_file(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "dor.csv"
            command("routes", "--topology", "mesh:4x3", "--routing", "dor", "--vcs", "2", "-o", str(path))
            head, *rows = [line.split(",") for line in path.read_text(encoding="utf-8").splitlines() if line[0] != "#"]
            expected = fsin.run(routes=path, **self.KEYS).digest
        columns: dict[str, Any] = {name: [row[at] for row in rows] for at, name in enumerate(head)}
        self.assertEqual(fsin.run(routes=columns, **self.KEYS).digest, expected)
        if "vc" in columns:
            columns["vc"] = [[int(one) for one in cell.split("|")] if cell else None for cell in columns["vc"]]
            self.assertEqual(fsin.run(routes=columns, **self.KEYS).digest, expected)
        try:
            import numpy
        except ImportError:
            skipped("numpy is not installed")
            return
        for name in ("current", "destination", "next", "source"):
            if name in columns:
                columns[name] = numpy.array([int(cell) for cell in columns[name]])
        self.assertEqual(fsin.run(routes=columns, **self.KEYS).digest, expected)

    def test_errors(self) -> None:
        for columns, what in [
            ({"current": [0], "destination": [1, 2], "next": [1]}, "differ in length"),
            ({"current": ["a,b"], "destination": [1], "next": [1]}, "without commas"),
            ({"current": [0], "destination": [1]}, "no column `next`"),
            ({"current": [0], "destination": [2], "next": [9]}, "routes: row 0: "),
        ]:
            with self.subTest(what=what):
                with self.assertRaises(fsin.Error) as caught:
                    fsin.run(routes=columns, **self.KEYS)
                self.assertIn(what, f"{caught.exception} {caught.exception.remedy}")
                self.assertNotIn(tempfile.gettempdir(), str(caught.exception))
                self.assertEqual(caught.exception.subject, "routes")


class Topologies(unittest.TestCase):
    def test_figures(self) -> None:
        torus = fsin.topology("torus:8x8")
        self.assertEqual((torus.nodes, torus.diameter_hops, torus.links), (64, 8, 256))
        with self.assertRaises(fsin.Error) as caught:
            fsin.topology("tours:8x8")
        self.assertIn("torus", caught.exception.remedy or "")
        self.assertEqual(fsin.topology("torus:8x8", network="wormhole").nodes, 64)

    def test_a_network_goes_out_and_comes_in_as_a_graph(self) -> None:
        tree = fsin.topology("fattree:4,2")
        again = fsin.topology(tree.node_link())
        self.assertEqual((again.nodes, again.switches, again.diameter_hops), (tree.nodes, tree.switches, tree.diameter_hops))
        # Routes through a fat tree are chosen by its own routing; both networks carry a message over the same hops.
        for one in (again, tree.node_link()):
            found = fsin.run(topology=one, load=0.05, cycles=2000)
            self.assertEqual(found.nodes, tree.nodes)
        folder = Path(again.spec.removeprefix("graph:")).parent
        self.assertTrue(folder.exists())
        del again
        gc.collect()
        self.assertFalse(folder.exists())
        with tempfile.TemporaryDirectory() as target:
            tree.save(f"{target}/tree.json")
            by_command = command("topology", f"graph:{target}/tree.json", "--format", "json").stdout
            self.assertIn(f'"nodes": {tree.nodes}', by_command)

    def test_graphs_of_networkx(self) -> None:
        try:
            import networkx
        except ImportError:
            skipped("networkx is not installed")
            return
        graph = networkx.petersen_graph()
        petersen = fsin.topology(graph, endpoints=2)
        self.assertEqual((petersen.nodes, petersen.switches), (20, 10))
        self.assertEqual(fsin.run(topology=graph, load=0.1, cycles=1000).nodes, 10)
        out = networkx.node_link_graph(fsin.topology("torus:4x4").node_link(), edges="edges")
        self.assertEqual(out.number_of_nodes(), 16)
        with self.assertRaises(fsin.Error):
            fsin.topology(7)


    def test_errors_of_graphs_are_about_the_graph(self) -> None:
        links = [{"source": "a", "target": "x"}]
        for graph, fault in [
            ({}, "`nodes` is missing"),
            ({"nodes": [{"id": "a"}], "links": links}, "a link names `x`"),
            ({"nodes": [{"id": object()}], "links": []}, "is no JSON"),
        ]:
            for call in (fsin.topology, lambda graph: fsin.run(topology=graph, load=0.1)):
                with self.assertRaises(fsin.Error) as caught:
                    call(graph)
                self.assertTrue(caught.exception.what.startswith("the graph"), str(caught.exception))
                self.assertIn(fault, caught.exception.what)
                self.assertEqual(caught.exception.subject, "topology")
        with self.assertRaises(fsin.Error) as caught:
            fsin.topology("torus:4x4", ways=3)
        self.assertEqual(caught.exception.subject, "ways")

    def test_pictures_name_objects(self) -> None:
        ring: dict[str, Any] = {"graph": {"name": "my ring"}, "nodes": [{"id": n} for n in range(4)]}
        ring["links"] = [{"source": n, "target": (n + 1) % 4} for n in range(4)]
        swept = fsin.sweep(topology=[ring, "torus:4x4"], load=[0.1, 0.2], cycles=300)
        svg = fsin.plot(swept)["latency"].svg
        self.assertIn("my ring", svg)
        self.assertNotIn(tempfile.gettempdir(), svg)

        def nearest(node: int) -> int:
            return (node + 1) % 16

        ones = [[1.0] * 16] * 16
        swept = fsin.sweep(topology="torus:4x4", traffic=[nearest, ones, ones], load=[0.1, 0.2], cycles=300)
        svg = fsin.plot(swept)["latency"].svg
        for label in ("nearest", "matrix 2", "matrix 3"):
            self.assertIn(label, svg)


class Descriptions(unittest.TestCase):
    def test_lists_and_explanations(self) -> None:
        families = fsin.list()
        self.assertIn("topologies", families)
        names = [one.name for one in fsin.list("topologies")]
        self.assertIn("torus", names)
        self.assertTrue(fsin.list("routings", network="wormhole"))
        torus, collective = fsin.explain("torus")
        self.assertEqual((torus.family, collective.family), ("topologies", "collectives"))
        self.assertIn("torus", repr(torus))
        for call, remedy in [
            (lambda: fsin.list("topologeis"), "topologies"),
            (lambda: fsin.explain("tours"), "torus"),
            (lambda: fsin.list(network="wormhol"), "wormhole"),
        ]:
            with self.assertRaises(fsin.Error) as caught:
                call()
            self.assertIn(remedy, caught.exception.remedy or "")
        self.assertEqual(fsin.keys()["load"]["default"], "0.3")
        self.assertIn("phit_bytes", fsin.keys())


if __name__ == "__main__":
    unittest.main()
