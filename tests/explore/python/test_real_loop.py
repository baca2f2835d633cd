"""What asyncio's own loop comes to, with a random outside, is among what is explored."""

import random

import pytest

pytest.importorskip("greenlet")

import random_tasks as rt
from real_loop import really

from latchfree_explore.python.search.strategies import Reduced

SEED = 33
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of what hung on the loop
DOES = [each for each in (*rt.BASE, *rt.PRIMITIVES, *rt.TIMES, *rt.TASKS) if "loop().time())" not in each]
"""Without the time itself: real code takes some, and rounding differs."""


def compare(count, most, runs, seed):
    """Explore random programs, run each on asyncio's loop; return how many outcomes there are and how many it hit."""
    rng = random.Random(seed)
    compared = known = hit = 0
    while compared < count:
        module = rt.random_tasks(rng, DOES)
        cancels = rng.choice([0, 0, 1])
        seen, _, _, ended = rt.outcomes(module, Reduced(), cancels=cancels, most=most)
        if not ended:
            continue
        real = {really(module, rng, cancels) for _ in range(runs)} - {None}
        assert real <= seen, f"cancels={cancels} {real - seen}\n{module.source[len(rt.START) :]}"
        compared, known, hit = compared + 1, known + len(seen), hit + len(real)
    return compared, known, hit


def test_what_asyncio_does_is_explored():
    compared, known, hit = compare(count=15, most=150, runs=15, seed=SEED)
    assert compared <= hit <= known


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_what_asyncio_does_is_explored_in_many_programs(part):
    compared, known, hit = compare(count=60, most=3_000, runs=60, seed=SEED + 1 + part)
    print(f"{compared} programs: {known:,} outcomes explored, {hit:,} of them seen on asyncio's loop, and no other")
    assert compared <= hit <= known
