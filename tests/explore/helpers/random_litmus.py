"""Random litmus programs, and execution graphs in a form that does not depend on who made them."""

from __future__ import annotations

import random
from collections import Counter

from latchfree_explore.weak.brute import candidate_count
from latchfree_explore.weak.graph import Graph
from latchfree_explore.weak.programs import Instruction, Program

ORDERS = {
    "load": ("na", "rlx", "acq", "sc"),
    "store": ("na", "rlx", "rel", "sc"),
    "exchange": ("rlx", "acq", "rel", "ar", "sc"),
    "cas": ("rlx", "acq", "rel", "ar", "sc"),
    "fetch_add": ("rlx", "acq", "rel", "ar", "sc"),
    "fence": ("acq", "rel", "ar", "sc", "sc", "sc"),
}
OPERATIONS = ("load", "load", "load", "store", "store", "store", "exchange", "cas", "fetch_add", "fence")


def random_instruction(rng: random.Random, value: int) -> Instruction:
    operation = rng.choice(OPERATIONS)
    order = rng.choice(ORDERS[operation])
    if operation == "fence":
        return Instruction("fence", "", order)
    numbers = {"load": (), "cas": (rng.choice((0, 0, 1, 2)), value), "fetch_add": (1,)}.get(operation, (value,))
    return Instruction(operation, rng.choice("xy"), order, numbers)


def random_program(rng: random.Random, most: int) -> Program:
    """A program of two to four threads with at most so many candidate executions."""
    while True:
        values = iter(range(1, 100))
        threads = tuple(
            tuple(random_instruction(rng, next(values)) for _ in range(rng.randint(1, 4)))
            for _ in range(rng.choice((2, 2, 3, 3, 4)))
        )
        words = dict.fromkeys(each.word for thread in threads for each in thread if each.word)
        program = Program(threads, dict.fromkeys(words, 0))
        if words and 2 <= candidate_count(program) <= most:
            return program


def shape(graph: Graph) -> object:
    """Events, values, rf and mo, with events named by thread and position."""
    seen: Counter[int] = Counter()
    name = []
    for event in graph.events:
        name.append((event.thread, seen[event.thread]))
        seen[event.thread] += 1
    return (
        tuple(sorted((name[i], event) for i, event in enumerate(graph.events))),
        tuple(sorted((name[r], name[w]) for r, w in enumerate(graph.source) if w is not None)),
        tuple((word, tuple(name[w] for w in order)) for word, order in sorted(graph.writes.items())),
    )
