"""A training step of a transformer as Chakra execution traces, one file for each rank.

usage: step.py FOLDER [RANKS]

RANKS is 32 unless given, and a multiple of 8: 8 consecutive ones share each layer (tensor parallel), and the groups of 8, four
of them unless given, train on different data (data parallel).
Forward, a rank computes each layer and adds the group's parts (all-reduce); backward the same, with twice the computing, and
the gradients of each layer are added over the data-parallel group beside the computing of the layer before. The last
all-reduces end the step. Times and sizes are those of a small model, so that the step can be simulated packet by packet.
"""

import json
import os
import sys

TENSOR = 8
LAYERS = 4
FORWARD_US = 6
ACTIVATIONS, GRADIENTS = 16 * 1024, 64 * 1024

COMPUTE, COLLECTIVE, ALL_REDUCE = 4, 7, 0


def varint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value) if value else b""


def text(field, value):
    return varint(field << 3 | 2) + varint(len(value)) + value


def attribute(name, field, value):
    """An attribute: 9 is an int64, 27 a bool, 29 a string."""
    value = text(field, value.encode()) if field == 29 else varint(field << 3) + varint(value)
    return text(10, text(1, name.encode()) + value)


class Rank:
    """The nodes of a rank."""

    def __init__(self):
        self.out = bytearray()
        self.add(text(1, b"0.0.4"))
        self.nodes = 0

    def add(self, message):
        self.out += varint(len(message)) + message

    def node(self, kind, name, after, micros=0, attributes=b""):
        """Adds a node that needs the data of `after`; returns its number."""
        self.nodes += 1
        needs = b"".join(varint(node) for node in after)
        self.add(
            number(1, self.nodes)
            + text(2, name.encode())
            + number(3, kind)
            + (text(5, needs) if needs else b"")
            + number(7, micros)
            + attributes
        )
        return self.nodes

    def all_reduce(self, name, size, group, after):
        attributes = (
            attribute("comm_type", 9, ALL_REDUCE)
            + attribute("comm_size", 9, size)
            + attribute("pg_name", 29, group)
            + attribute("is_cpu_op", 27, 0)
        )
        return self.node(COLLECTIVE, name, after, attributes=attributes)


def step(rank):
    nodes, after = Rank(), []
    tensor, data = f"tensor{rank // TENSOR}", f"data{rank % TENSOR}"
    for layer in range(LAYERS):
        after = [nodes.node(COMPUTE, f"forward {layer}", after, micros=FORWARD_US)]
        after = [nodes.all_reduce(f"activations {layer}", ACTIVATIONS, tensor, after)]
    for layer in reversed(range(LAYERS)):
        computed = [nodes.node(COMPUTE, f"backward {layer}", after, micros=2 * FORWARD_US)]
        after = [nodes.all_reduce(f"activation gradients {layer}", ACTIVATIONS, tensor, computed)]
        # After the other one, so that all ranks begin their collectives in the same order.
        nodes.all_reduce(f"gradients {layer}", GRADIENTS, data, after)
    return bytes(nodes.out)


def main(folder, ranks=32):
    os.makedirs(folder, exist_ok=True)
    for rank in range(ranks):
        with open(os.path.join(folder, f"step.{rank}.et"), "wb") as file:
            file.write(step(rank))
    groups = {f"tensor{group}": [group * TENSOR + place for place in range(TENSOR)] for group in range(ranks // TENSOR)}
    groups |= {f"data{place}": list(range(place, ranks, TENSOR)) for place in range(TENSOR)}
    with open(os.path.join(folder, "groups.json"), "w", encoding="ascii") as file:
        json.dump(groups, file)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
