"""Random litmus programs of the accesses that the explorer has."""

from __future__ import annotations

import random

from latchfree_explore.weak.programs import Program, parse_program

_LOADS = ("load {w}", "load {w}", "load_seq {w}", "load {w} rlx")
_WRITES = (
    "store {w} {n}", "store {w} {n}", "store {w} {n} rlx", "exchange {w} {n}", "exchange {w} {n} ar",
    "exchange {w} {n} rlx", "cas {w} 0 {n}", "cas {w} 1 {n}", "cas {w} 0 {n} ar", "fetch_add {w} 1",
    "fetch_add {w} 1 rlx",
)  # fmt: skip
#: What our atomics have; the others are what they may be weakened to.
_OURS = ("load {w}", "load_seq {w}", "store {w} {n}", "exchange {w} {n}", "cas {w} 0 {n}", "fetch_add {w} 1", "fence")


def random_program(rng: random.Random, *, ours: bool = False, most: int = 8) -> Program:
    """Return a program of two or three threads, two words, and at most so many instructions."""
    fresh = iter(range(1, 100))
    forms = _OURS if ours else (*_LOADS, *_LOADS, *_WRITES, "fence")
    while True:
        threads = [
            [rng.choice(forms).format(w=rng.choice("xy"), n=next(fresh)) for _ in range(rng.randint(1, 3))]
            for _ in range(rng.choice((2, 2, 3)))
        ]
        text = " | ".join("; ".join(line) for line in threads)
        if sum(map(len, threads)) <= most and "x" in text and "y" in text:
            return parse_program(text)
