"""Tables of results as frames."""

from __future__ import annotations

import sys
import unittest
from typing import Any
from unittest import mock

import fsin
from common import skipped


def without(*names: str) -> Any:
    """As if these packages were not installed."""
    return mock.patch.dict(sys.modules, {name: None for name in names})


class Frames(unittest.TestCase):
    def setUp(self) -> None:
        self.result = fsin.run(
            kernel="all-reduce:bytes=4096,group=3", topology="torus:3x3", vcs=2, link_loads=True, node_stats=True
        )

    def checked(self, library: str) -> None:
        found = self.result.table("collectives", library=library)
        self.assertEqual(type(found).__module__.split(".")[0], library)
        self.assertEqual(list(found.columns), list(self.result.collectives[0]))
        self.assertEqual(list(found["time_max_ns"]), [row["time_max_ns"] for row in self.result.collectives])
        self.assertEqual(len(self.result.table("per_node", library=library)), 9)
        links = self.result.table("link_packets", library=library)
        self.assertEqual(list(links.columns), ["router", "port", "packets"])
        self.assertEqual(len(links), 36)
        packets = [one for ports in self.result.link_packets for one in ports if one is not None]
        self.assertEqual(links["packets"].sum(), sum(packets))

    def test_pandas(self) -> None:
        try:
            import pandas
        except ModuleNotFoundError:
            return skipped("pandas is not installed")
        self.checked("pandas")
        self.assertIsInstance(self.result.table("collectives"), pandas.DataFrame)

    def test_polars(self) -> None:
        try:
            import polars
        except ModuleNotFoundError:
            return skipped("polars is not installed")
        self.checked("polars")
        with without("pandas"):
            self.assertIsInstance(self.result.table("collectives"), polars.DataFrame)

    def test_neither_is_a_clear_error(self) -> None:
        with without("pandas", "polars"):
            with self.assertRaisesRegex(fsin.Error, "neither pandas nor polars is installed") as caught:
                self.result.table("collectives")
            self.assertIn("pip install pandas", caught.exception.remedy or "")
            with self.assertRaisesRegex(fsin.Error, "polars is not installed"):
                self.result.table("collectives", library="polars")

    def test_wrong_names_are_refused(self) -> None:
        with self.assertRaisesRegex(fsin.Error, "no table 'collectvies': did you mean 'collectives'"):
            self.result.table("collectvies")  # type: ignore[arg-type]
        with self.assertRaisesRegex(fsin.Error, "no table 'jobs', since this kind of run"):
            self.result.table("jobs")
        with self.assertRaisesRegex(fsin.Error, "is no table"):
            self.result.table("digest")  # type: ignore[arg-type]
        with self.assertRaisesRegex(fsin.Error, "library is 'numpy'"):
            self.result.table("collectives", library="numpy")  # type: ignore[arg-type]
