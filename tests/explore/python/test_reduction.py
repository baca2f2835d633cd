"""The reduction loses nothing: it reaches the outcomes that all schedules reach, on random programs."""

import random

import pytest

pytest.importorskip("greenlet")

from random_programs import outcomes, random_program

from latchfree_explore.python.search.strategies import Reduced, Tree

SEED = 18
PARTS = 10


def compare(count, most, seed):
    rng = random.Random(seed)
    compared = cut = run = everything = 0
    while compared < count:
        module = random_program(rng)
        for polls in (False, True):
            early = rng.choice([0, 0, 1])
            all_of_them, schedules, _, whole = outcomes(module, Tree(), polls=polls, most=most, timeouts=early)
            if not whole:
                continue
            reduced, fewer, redundant, ended = outcomes(module, Reduced(), polls=polls, most=20 * most, timeouts=early)
            assert ended
            assert reduced == all_of_them, f"polls={polls} timeouts={early}\n{module.source}"
            assert fewer - redundant <= schedules
            compared, cut, run, everything = compared + 1, cut + redundant, run + fewer, everything + schedules
    return compared, cut, run, everything


def test_random_programs_come_to_the_same_outcomes():
    _, cut, run, everything = compare(count=6, most=60, seed=SEED)
    assert run - cut < everything


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_five_thousand_random_programs_come_to_the_same_outcomes(part):
    compared, cut, run, everything = compare(count=5_000 // PARTS, most=1_000, seed=SEED + 1 + part)
    print(f"{compared} programs: {everything:,} schedules in all, {run:,} run with the reduction, {cut:,} of them cut")
    assert cut < run / 5
