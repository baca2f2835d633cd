"""MinHash: the similarity of sets, within three standard errors."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threads_together import together

from latchfree.sketches import MinHash, SketchMismatch


def similar(one, other, hashes=1024, seed=0):
    first, second = MinHash(hashes, seed=seed), MinHash(hashes, seed=seed)
    first.add_many(one)
    second.add_many(other)
    return first.jaccard(second)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.25, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("form", [np.asarray, lambda items: [str(item) for item in items]])
def test_jaccards_index_within_three_sigma(share, form):
    """The published library gave disjoint sets 0.485."""
    size, hashes = 4_000, 2_048
    common = round(share * size)
    one = np.arange(size)
    other = np.arange(size) + (size - common)
    truth = common / (2 * size - common)
    sigma = math.sqrt(truth * (1 - truth) / hashes)
    assert abs(similar(form(one), form(other), hashes) - truth) <= 3 * sigma


@settings(max_examples=30, deadline=None)
@given(st.sets(st.integers(0, 99)), st.sets(st.integers(0, 99)), st.integers(0, 2**64 - 1))
def test_order_and_repetition_do_not_matter(one, other, seed):
    first, again = MinHash(32, seed=seed), MinHash(32, seed=seed)
    first.add_many(sorted(one))
    for item in sorted(one, reverse=True) * 2:
        again.add(item)
    assert first.jaccard(again) == 1.0
    both = MinHash(32, seed=seed)
    both.add_many(sorted(one | other))
    again.merge(first)
    second = MinHash(32, seed=seed)
    second.add_many(sorted(other))
    again.merge(second)
    assert again._place.cells.tolist() == both._place.cells.tolist()


def test_empty_sets():
    assert similar([], []) == 1.0
    assert similar([], [1]) == 0.0
    assert similar([""], [""]) == 1.0


def test_others_are_refused():
    with pytest.raises(SketchMismatch, match="different shapes"):
        MinHash(16).jaccard(MinHash(17))
    with pytest.raises(SketchMismatch, match="the seeds are 0 and 1"):
        MinHash(16).jaccard(MinHash(16, seed=1))
    with pytest.raises(TypeError):
        MinHash(16).jaccard({1, 2})


def test_threads_make_what_one_makes():
    items, alone, sketch = np.arange(4_000), MinHash(64), MinHash(64)
    alone.add_many(items)
    together(*[lambda n=n: sketch.add_many(items[n::4]) for n in range(4)])
    assert sketch.to_bytes() == alone.to_bytes()
    assert repr(sketch) == "<MinHash of 64 hashes, 512 bytes>"
    assert sketch.error == 0.0625
