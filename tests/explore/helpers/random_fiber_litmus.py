"""Random litmus programs of the accesses that the explorer has."""

from __future__ import annotations

import random

from latchfree_explore.weak.programs import Program, parse_program

_OURS = (
    "load {w}", "load {w}", "load_seq {w}", "store {w} {n}", "store {w} {n}", "exchange {w} {n}", "cas {w} 0 {n}",
    "cas {w} 1 {n}", "fetch_add {w} 1", "fence",
)  # fmt: skip
_RELEASES = ("load {w}", "load {w}", "store {w} {n}", "store {w} {n}", "exchange {w} {n} ar", "cas {w} 0 {n} ar")
_PLAIN = ("poke x {n}", "poke x {n}", "peek x", "peek x", "load x", "store x {n}")
_PASSING = ("store y {n}", "store y {n}", "exchange y {n}", "load y", "load y", "load y rlx", "store y {n} rlx")
#: What ours may be weakened to.
_WEAKENED = (
    "load {w} rlx", "load {w} rlx", "store {w} {n} rlx", "exchange {w} {n} rlx", "fetch_add {w} 1 rlx",
    "exchange {w} {n} ar", "cas {w} 0 {n} ar",
)  # fmt: skip


def random_program(rng: random.Random, *, weakened: bool, most: int = 8) -> Program:
    """Return a program of two or three threads, two words, and at most so many instructions; some have no seq_cst."""
    if not weakened and rng.random() < 0.3:
        return _random(rng, _RELEASES, most)
    return _random(rng, (*_OURS, *_WEAKENED, *_WEAKENED) if weakened else _OURS, most)


def random_plain_program(rng: random.Random, most: int) -> Program:
    """Return a program in which some accesses of word x are plain, and y is for passing x on."""
    return _random(rng, (*_PLAIN, *_PASSING), most)


def _random(rng: random.Random, forms: tuple[str, ...], most: int) -> Program:
    fresh = iter(range(1, 100))
    while True:
        threads = [
            [rng.choice(forms).format(w=rng.choice("xy"), n=next(fresh)) for _ in range(rng.randint(1, 3))]
            for _ in range(rng.choice((2, 2, 3)))
        ]
        text = " | ".join("; ".join(line) for line in threads)
        if sum(map(len, threads)) <= most and "x" in text and "y" in text:
            return parse_program(text)
