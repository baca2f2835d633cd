"""The Bloom filter: no item is missed, and the rate of false positives is the one that was asked for."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latchfree.sketches import Bloom
from latchfree.sketches.common.sizing import items_for, rate, shape_for


@pytest.mark.parametrize(("wanted", "items"), [(0.01, 1_000_000), (0.1, 200_000), (0.001, 1_000_000), (1e-4, 500_000)])
def test_the_rate_of_false_positives_is_the_one_asked_for(wanted, items):
    """At most 1.1 times, for strings and integers; far less would be memory for nothing."""
    probes = max(1_000_000, int(400 / wanted))
    sketch = Bloom(items, wanted)
    sketch.add_many(np.arange(items))
    assert sketch.contains_many(np.arange(items)).all()
    measured = np.mean(sketch.contains_many(np.arange(probes) + 10**12))
    assert 0.8 * wanted < measured <= 1.1 * wanted
    assert abs(sketch.estimate() / items - 1) < 0.01


def test_strings_of_a_million_decimal_numbers():
    sketch = Bloom(1_000_000, 0.01)
    texts = [str(number) for number in range(1_000_000)]
    sketch.add_many(texts)
    assert all(sketch.contains_many(texts[::97]))
    assert np.mean(sketch.contains_many([f"{number}" for number in range(2_000_000, 2_300_000)])) <= 0.011


def test_the_theory_of_sizes():
    """The rate falls with the size; a shape is the smallest of its kind; no size is far above the classic one."""
    for wanted in (0.3, 0.05, 0.01, 1e-3, 1e-5, 1e-8):
        blocks, words, bits = shape_for(100_000, wanted)
        assert rate(blocks, words, bits, 100_000) <= wanted < rate(int(blocks * 0.99), words, bits, 100_000)
        classic = 100_000 * -math.log(wanted) / math.log(2) ** 2 / 64
        assert 0.95 * classic < blocks * words < (1.35 if wanted > 1e-4 else 2.2) * classic
    assert rate(10, 4, 2, 0) == 0.0
    assert items_for(10, 4, 2, 10 * 4 * 64) == math.inf
    assert items_for(10, 4, 2, 0) == 0.0


def test_a_rate_computed_is_a_rate_thrown(rng):
    """The sum over Poisson's distribution beside bits that are thrown at random."""
    blocks, words, bits, items = 50, 4, 2, 900
    generator, hits, tries = np.random.default_rng(rng.randrange(1 << 32)), 0, 0
    for _ in range(60):
        cells = np.zeros((blocks, words, 64), bool)
        at = generator.integers(0, blocks, items)
        for word in range(words):
            for _ in range(bits):
                cells[at, word, generator.integers(0, 64, items)] = True
        found = np.ones(4000, bool)
        at = generator.integers(0, blocks, len(found))
        for word in range(words):
            for _ in range(bits):
                found &= cells[at, word, generator.integers(0, 64, len(found))]
        hits, tries = hits + int(found.sum()), tries + len(found)
    expected = rate(blocks, words, bits, items)
    assert abs(hits / tries - expected) < 6 * math.sqrt(expected / tries) + 0.03 * expected


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=20)), st.lists(st.text(max_size=20)), st.integers(0, 2**64 - 1))
def test_nothing_added_is_missed(one, other, seed):
    """Beside a set: one by one, many at a time, merged, stored."""
    first, second = Bloom(100, seed=seed), Bloom(100, seed=seed)
    for item in one:
        first.add(item)
    second.add_many(other)
    second.merge(first)
    again = Bloom.from_bytes(second.to_bytes())
    for item in set(one) | set(other):
        assert item in second
        assert item in again
    assert again.added == len(one) + len(other)
    both = Bloom(100, seed=seed)
    both.add_many(one + other)
    assert both.to_bytes() == again.to_bytes()


def test_an_empty_filter_has_nothing():
    sketch = Bloom(1000)
    assert "" not in sketch
    assert 0 not in sketch
    assert sketch.estimate() == 0
    assert not any(sketch.contains_many(range(1000)))


def test_a_filter_that_is_overfull_says_so():
    sketch = Bloom(2)
    sketch.add_many(range(10_000))
    assert sketch.estimate() == math.inf
    assert 10**9 in sketch


def test_it_says_what_it_is():
    sketch = Bloom(1_000_000, 0.01, seed=3)
    assert repr(sketch) == "<Bloom for 1,000,000 items, 1 % false positives, 1,309,728 bytes>"
    assert (sketch.expected, sketch.seed, sketch.name, sketch.arena) == (1_000_000, 3, None, None)
    assert 0.0099 < sketch.false_positives <= 0.01
