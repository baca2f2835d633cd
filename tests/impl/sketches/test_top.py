"""Top-K: the most frequent items, whole; beside counts in plain Python."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threads_together import together

from latchfree.sketches import TopK
from latchfree.sketches.common.items import hash_of
from latchfree.sketches.kernels import top as t


def truth(items, most):
    return sorted(Counter(items).items(), key=lambda each: (-each[1], str(each[0])))[:most]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from("abcdefgh"), max_size=60), st.integers(0, 99))
def test_few_items_are_counted_exactly(items, seed):
    sketch = TopK(4, 0.001, seed=seed)
    half = len(items) // 2
    for item in items[:half]:
        sketch.add(item)
    sketch.add_many(items[half:])
    assert sketch.top() == truth(items, 4)
    assert TopK.from_bytes(sketch.to_bytes()).top() == sketch.top()


@pytest.mark.parametrize(
    "form",
    [
        list,
        iter,
        lambda items: np.array(items),
        pa.array,
        lambda items: pa.array(items).dictionary_encode(),
        lambda items: np.array(items, object),
    ],
)
def test_items_come_back_as_they_were(form):
    for items in (["tea", "tea", "ü" * 48, "", ""], [5, 5, -7, 2**63 - 1, -(2**63)]):
        sketch = TopK(5)
        sketch.add_many(form(items))
        assert sketch.top() == truth(items, 5)
    sketch = TopK(2)
    sketch.add_many(pa.array([b"\xff\x00", b"\xff\x00", b"x"]))
    assert sketch.top() == [(b"\xff\x00", 2), (b"x", 1)]


def test_the_most_frequent_of_many(rng):
    """A stream of 200,000 with a long tail: the ten are the ten, counts are within the error."""
    numbers = np.random.default_rng(rng.randrange(1 << 32)).zipf(1.3, 200_000) % 50_000
    sketch = TopK(10, 0.0005)
    sketch.add_many(numbers)
    expected = truth(numbers.tolist(), 10)
    found = sketch.top()
    assert [item for item, _ in found[:8]] == [item for item, _ in expected[:8]]
    for item, count in found:
        true = int(np.count_nonzero(numbers == item))
        assert true <= count <= true + 0.002 * len(numbers)
        assert sketch.estimate(item) == count


def test_counts_and_merging():
    one, other = TopK(3), TopK(3)
    one.add("tea", 10)
    one.add("oat", 4)
    other.add("rye", 7)
    other.add("oat", 9)
    one.merge(other)
    assert one.top() == [("oat", 13), ("tea", 10), ("rye", 7)]
    assert one.top(1) == [("oat", 13)]
    assert one.added == 30
    one.merge(one)
    assert one.top(2) == [("oat", 26), ("tea", 20)]


def test_the_callers_buffer_is_not_kept():
    """The published library kept the caller's slice: changing that changed what was seen."""
    sketch, buffer = TopK(2), bytearray(b"tea")
    sketch.add(buffer)
    buffer[:] = b"oat"
    assert sketch.top() == [(b"tea", 1)]


def test_a_slot_that_was_half_written_is_put_right_by_the_next_add():
    sketch = TopK(2)
    sketch.add("tea")
    place = sketch._place
    at = place.root + 24 + place.shape[0] * place.shape[1]
    slots = place._words[at:][: place.shape[2] * 4 * 16].reshape(-1, 16)
    (slot,) = slots[slots[:, int(t.HASH)] == hash_of("tea", 0)]
    index = int(np.flatnonzero(slots[:, int(t.HASH)] == hash_of("tea", 0))[0])
    for word in (int(t.SEAL), int(t.LENGTH), int(t.BYTES)):
        slots[index, word] ^= np.uint64(1)
        assert sketch.top() == []
        sketch.add("tea")
        assert [item for item, _ in sketch.top()] == ["tea"]
    assert sketch.estimate("tea") == 4
    assert slot[int(t.LENGTH)] == 3 + int(t.TEXT)


def test_threads_write_into_few_slots():
    """No count is lost, nothing that was not added is reported; a last add of each puts all slots right."""
    sketch, names = TopK(8, 0.01), [f"item {'x' * k}" for k in range(40)]

    def work(number):
        for step in range(60):
            sketch.add_many(names[(number + step) % 40 :] + names[:8] * 3)
            assert {item for item, _ in sketch.top()} <= set(names)

    together(*[lambda n=n: work(n) for n in range(4)])
    expected = Counter()
    for number in range(4):
        for step in range(60):
            expected.update(names[(number + step) % 40 :] + names[:8] * 3)
    for name in names:
        assert sketch.estimate(name) >= expected[name]
    sketch.add_many(names[:8])
    assert {item for item, _ in sketch.top()} <= set(names)
    assert len(sketch.top()) == 8


def test_it_says_what_it_is():
    sketch = TopK(10)
    assert repr(sketch) == "<TopK of 10 items, 5 rows of 2,719 counters, 119,000 bytes>"
    assert (sketch.items, sketch.error <= 0.001) == (10, True)
