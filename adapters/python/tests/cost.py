"""What a source of messages in Python costs beside the built-in one: instructions of a run, counted by callgrind.

    python cost.py            both sources; starting up is left out, as the difference of two lengths
    python cost.py KIND N     one run of N cycles: own or built-in

Uniform traffic of 256 nodes on a 16x16 torus at load 0.3, in packets of 16 phits of 4 bytes. The Python source draws with numpy. Needs
valgrind.
"""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

NODES, LOAD, PHITS = 256, 0.3, 16


class Uniform:
    window = 1024

    def __init__(self) -> None:
        import numpy

        self.draw = numpy.random.default_rng(1)
        self.sort = numpy.sort

    def generate(self, begin: int, until: int, /) -> tuple[Any, Any, Any, int]:
        count = self.draw.binomial(NODES * (until - begin), LOAD / PHITS)
        cycles = self.sort(self.draw.integers(begin, until, count))
        sources = self.draw.integers(0, NODES, count)
        return cycles, sources, (sources + self.draw.integers(1, NODES, count)) % NODES, 4 * PHITS


def one(kind: str, cycles: int) -> None:
    import fsin

    keys: dict[str, Any] = {"topology": "torus:16x16", "cycles": cycles}
    if kind == "own":
        found = fsin.run(generator=Uniform(), **keys)
    else:
        found = fsin.run(traffic="uniform", load=LOAD, **keys)
    print("packets", found.packets_received)


def count(kind: str, cycles: int) -> tuple[int, int]:
    """Instructions and packets of a run."""
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    done = subprocess.run([*valgrind, sys.executable, __file__, kind, str(cycles)], capture_output=True, text=True, check=True)
    instructions = re.search(r"Collected : (\d+)", done.stderr)
    packets = re.search(r"packets (\d+)", done.stdout)
    assert instructions and packets, done.stderr
    return int(instructions[1]), int(packets[1])


def main() -> None:
    each = {}
    for kind in ("built-in", "own"):
        short, long = count(kind, 1000), count(kind, 4000)
        each[kind] = (long[0] - short[0]) / (long[1] - short[1])
        print(f"{kind:<9}{each[kind]:8.0f} instructions for each packet")
    print(f"own / built-in {each['own'] / each['built-in']:.3f}")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        one(sys.argv[1], int(sys.argv[2]))
    else:
        main()
