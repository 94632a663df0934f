"""A script of a user, with the types of everything that it takes and gets: mypy reads it, and it runs."""

from __future__ import annotations

from array import array
from typing import Optional

import fsin


class Lists:
    """A generator of lists."""

    window = 512

    def generate(self, begin: int, until: int) -> Optional[fsin.Batch]:
        return None if begin else ([0], array("q", [1]), range(2, 3), 64)


def nearest(node: int) -> dict[int, float]:
    return {(node + 1) % 16: 0.75, (node + 5) % 16: 0.25}


result: fsin.Result = fsin.run(topology="torus:4x4", traffic=nearest, load=0.2, cycles=2000)
latency: float = result.latency_mean_cycles
own: fsin.Result = fsin.run(topology="torus:4x4", generator=Lists())
sweep: fsin.Sweep = fsin.sweep(topology="torus:4x4", load=[0.1, 0.2], cycles=500, progress=lambda done, of: None)
samples = result.table("samples", library=None) if "samples" in result else None
column: list[float] = sweep["latency_mean_cycles"]
pictures: fsin.Pictures = fsin.plot(sweep, title="Two loads")
caption: str = pictures["latency"].caption
found: Optional[float] = fsin.saturation(topology="torus:4x4", tolerance=0.2, samples=2, sample_size=500).load
try:
    fsin.run(topology="tours:4x4")
except fsin.RunFailed as failed:
    raise AssertionError(failed.result.failure)
except fsin.Error as error:
    about: tuple[Optional[str], Optional[str]] = (error.subject, error.remedy)
tree: fsin.Topology = fsin.topology("fattree:4,2")
names: list[str] = [node["id"] for node in tree.node_link()["nodes"]]
component: fsin.Component = fsin.explain("torus")[0]

assert about[0] == "topology" and names and found is not None
assert own.packets_received == 1 and latency > column[0] > 0
