"""Count-Min: never too low, hardly too high; the conservative update beside its definition."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latchfree.sketches import CountMin, SketchMismatch
from latchfree.sketches.common.items import hash_of

WORD = (1 << 64) - 1
STEP = 0x9E3779B97F4A7C15


class Naive:
    """Rows of counters, as the papers define them."""

    def __init__(self, width, depth, conservative, seed):
        self.rows = [[0] * width for _ in range(depth)]
        self.conservative, self.seed = conservative, seed

    def places(self, item):
        h = hash_of(item, self.seed)
        for row in self.rows:
            h = h * STEP & WORD
            yield row, h * len(row) >> 64

    def add(self, item, count):
        least = self.estimate(item)
        for row, at in self.places(item):
            row[at] = max(row[at], least + count) if self.conservative else row[at] + count

    def estimate(self, item):
        return min(row[at] for row, at in self.places(item))


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9))), st.booleans(), st.integers(0, 99))
def test_counters_are_those_of_the_model(adds, conservative, seed):
    sketch, model, truth = CountMin(0.3, 0.9, conservative=conservative, seed=seed), None, Counter()
    width, depth, _, _ = sketch._place.shape
    model = Naive(width, depth, conservative, seed)
    half = len(adds) // 2
    for item, count in adds[:half]:
        sketch.add(item, count)
    sketch.add_many([item for item, _ in adds[half:]], [count for _, count in adds[half:]])
    for item, count in adds:
        model.add(item, count)
        truth[item] += count
    assert sketch._place.cells.tolist() == [cell for row in model.rows for cell in row]
    assert sketch.estimate_many(range(31)) == [model.estimate(item) for item in range(31)]
    assert all(sketch.estimate(item) >= truth[item] for item in range(31))
    assert sketch.added == sum(truth.values())


@pytest.mark.parametrize("conservative", [False, True])
def test_errors_are_within_the_bound(conservative, rng):
    sketch = CountMin(0.001, 0.99, conservative=conservative)
    numbers = np.random.default_rng(rng.randrange(1 << 32)).zipf(1.3, 200_000) % 50_000
    sketch.add_many(numbers)
    items, truth = np.unique(numbers, return_counts=True)
    over = sketch.estimate_many(items) - truth
    assert over.min() >= 0
    assert np.mean(over > sketch.error * sketch.added) <= 1 - sketch.confidence + 0.01


def test_the_conservative_update_is_closer(rng):
    numbers = np.random.default_rng(rng.randrange(1 << 32)).zipf(1.2, 100_000) % 20_000
    found = []
    for conservative in (False, True):
        sketch = CountMin(0.005, 0.95, conservative=conservative)
        sketch.add_many(numbers)
        items, truth = np.unique(numbers, return_counts=True)
        found.append(float(np.mean(sketch.estimate_many(items) - truth)))
    assert found[1] < 0.7 * found[0]


@pytest.mark.parametrize("conservative", [False, True])
def test_merging_adds(conservative):
    one, other = (CountMin(0.01, conservative=conservative) for _ in range(2))
    one.add_many(["a", "b"], [3, 4])
    other.add_many(["a", "c"], [2, 5])
    one.merge(other)
    assert one.estimate_many(["a", "b", "c"]) == [5, 4, 5]
    assert other.estimate_many(["a", "b", "c"]) == [2, 0, 5]
    assert one.added == 14
    one.merge(one)
    assert one.estimate("a") == 10
    assert one._place.cells.sum() == 28 * one._place.shape[1]


def test_a_conservative_one_is_no_plain_one():
    with pytest.raises(SketchMismatch, match="conservative"):
        CountMin(conservative=True).merge(CountMin())


def test_large_counts():
    sketch = CountMin(conservative=True)
    for _ in range(3):
        sketch.add("a", 2**32 - 1)
    assert sketch.estimate("a") == 3 * (2**32 - 1)


def test_it_says_what_it_is():
    sketch = CountMin(0.001, 0.99, conservative=True)
    assert repr(sketch) == "<CountMin of 5 rows of 2,719 counters, conservative, 108,760 bytes>"
    assert sketch.error <= 0.001
    assert sketch.confidence >= 0.99
    assert sketch.conservative
