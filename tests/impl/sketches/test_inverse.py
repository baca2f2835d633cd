"""The inverse Bloom filter: never an item seen that was not added; beside a table in plain Python."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latchfree.sketches import InverseBloom
from latchfree.sketches.common.items import hash_of
from latchfree.sketches.kernels import inverse
from latchfree.sketches.kernels.record import FIRST_CELL


@settings(max_examples=80, deadline=None)
@given(st.lists(st.text(max_size=3)), st.integers(2, 9), st.integers(0, 2**64 - 1))
def test_answers_are_those_of_a_table(items, slots, seed):
    table, expected = {}, []
    for item in items:
        at = hash_of(item, seed) * slots >> 64
        expected.append(table.get(at) == item)
        table[at] = item
    one, many = InverseBloom(slots, seed=seed), InverseBloom(slots, seed=seed)
    assert [one.add(item) for item in items] == expected
    assert many.add_many(items) == expected
    assert many.contains_many(items) == [table[hash_of(item, seed) * slots >> 64] == item for item in items]
    assert one.to_bytes() == many.to_bytes()


def test_nothing_is_seen_in_a_fresh_filter():
    """The published library said of the empty key that it had been seen."""
    for item in ("", b"", 0, -1, "a"):
        sketch = InverseBloom(2)
        assert item not in sketch
        assert sketch.add(item) is False
        assert sketch.add(item) is True


@pytest.mark.parametrize("h", [0, (1 << 64) - 1])
def test_no_hash_is_seen_in_a_fresh_filter(h):
    """Not even those that empty slots hold."""
    place = InverseBloom(2)._place
    words = (np.uint64(place.base), np.uint64(place.root), np.uint64(h))
    assert not inverse.add(*words)
    assert inverse.add(*words)
    assert int(FIRST_CELL) == 24


def test_the_callers_buffer_is_not_kept():
    """The published library kept the caller's slice: changing that changed what was seen."""
    sketch, buffer = InverseBloom(64), bytearray(b"tea")
    sketch.add(buffer)
    buffer[:] = b"oat"
    assert b"oat" not in sketch
    assert b"tea" in sketch


def test_an_item_is_forgotten_for_another():
    sketch = InverseBloom(2)
    sketch.add_many(range(100))
    assert sum(sketch.contains_many(range(100))) == 2


def test_it_is_not_merged():
    assert not hasattr(InverseBloom(2), "merge")
    assert repr(InverseBloom(1000)) == "<InverseBloom of 1,000 slots, 8,000 bytes>"
