"""Many items at once: counted apart, and written into the table in one call; beside one item at a time."""

from collections import Counter

import numpy as np
import pytest
from threads_together import together

from latchfree.sketches import CountMin, TopK
from latchfree.sketches.border import SKETCH
from latchfree.sketches.common.items import CHUNK, hash_of
from latchfree.sketches.counted import are_enough
from latchfree.sketches.kernels import top as t
from latchfree.words import mix

SHAPES = ((0.5, 0.5), (0.1, 0.9), (0.003, 0.99))


def counters(sketch):
    """The counters of a sketch, without the table of candidates."""
    width, depth = sketch._place.shape[:2]
    return sketch._place.cells[: width * depth]


@pytest.fixture
def calls(monkeypatch):
    """How often each kernel is called through a place."""
    made, run = Counter(), type(CountMin()._place).run

    def counting(place, kernel, *arguments):
        made[kernel] += 1
        return run(place, kernel, *arguments)

    monkeypatch.setattr(type(CountMin()._place), "run", counting)
    return made


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("form", [int, str])
def test_a_slice_counts_as_one_by_one(shape, form, rng, calls):
    items = [form(rng.randrange(-300, 300)) for _ in range(CHUNK + 700)]
    for many, single, kernel in (
        (CountMin(*shape, seed=3), CountMin(*shape, seed=3), SKETCH.count_add_slice),
        (TopK(5, *shape, seed=3), TopK(5, *shape, seed=3), SKETCH.top_add_slice),
    ):
        many.add_many(items)
        assert calls[kernel] >= 1
        for item in items:
            single.add(item)
        assert counters(many).tolist() == counters(single).tolist()
        assert many.added == single.added == len(items)
    assert dict(many.top()).items() <= {item: many.estimate(item) for item in items}.items()


def test_few_items_and_conservative_sketches_are_counted_one_by_one(calls):
    CountMin(0.1, 0.9).add_many(range(20))
    CountMin(0.5, 0.5, conservative=True).add_many(range(CHUNK))
    TopK(3, 0.1, 0.9).add_many(range(20))
    assert calls[SKETCH.count_add_slice] == calls[SKETCH.top_add_slice] == 0
    assert calls[SKETCH.count_add_many] == 2
    assert calls[SKETCH.top_add_many] == 1


def test_how_many_are_enough():
    own = CountMin(0.1, 0.9)._own_counters(CHUNK)
    assert len(own) == 28 * 3
    hashes = np.zeros(30, np.uint64)
    assert [are_enough(hashes[:k], own) for k in (0, 20, 21, 30)] == [False, False, True, True]
    assert not are_enough(hashes, own[:0])
    assert len(CountMin(0.1, 0.9)._own_counters(20)) == 0
    assert len(CountMin(0.0001, 0.9)._own_counters(1 << 30)) == 0


@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("fill", ["a", "ü", "\0"])
def test_bytes_of_each_length_are_written_whole(text, fill):
    """All are added by one call, and lie one behind the other: none has bytes of its neighbour."""
    texts = sorted({(fill * size) + tail for size in range(95 // len(fill.encode()) + 1) for tail in ("", "z")})
    items = texts if text else [each.encode() for each in texts]
    sketch = TopK(400, 0.001)
    sketch.add_many(items)
    assert {item for item, _ in sketch.top()} == set(items)
    assert max(len(each if not text else each.encode()) for each in items) in (95, 96)
    single = TopK(400, 0.001)
    for item in items:
        single.add(item)
    assert sketch.to_bytes() == single.to_bytes()


def test_an_item_that_has_become_longer_is_cut():
    """Whoever owns an Arrow array may change its offsets after they were checked: nothing behind `room` is written."""
    sketch, words = TopK(3), np.full(40, 7, np.uint64)
    data, ends = np.full(300, 120, np.uint8), np.array([0, 250], np.int64)
    hashes, wanted = np.array([5], np.uint64), np.ones(1, np.uint8)
    sketch._place.run(SKETCH.top_put_blobs, hashes, wanted, data.ctypes.data, ends, 0, words[:12])
    assert sketch.top() == [(b"x" * 96, 0)]
    assert (words[12:] == 7).all()


def test_integers_are_written_whole():
    items = [0, 1, -1, 2**63 - 1, -(2**63), 1 << 40]
    sketch = TopK(10)
    sketch.add_many(items)
    assert dict(sketch.top()) == dict.fromkeys(items, 1)


@pytest.mark.parametrize("repeated", [1, 20])
def test_a_bucket_has_its_most_frequent_items(repeated, rng, calls):
    """Two buckets of four: all 40 items find room or look frequent at first, and those that are not are evicted."""
    items = [item for item in range(40) for _ in range(3 + 7 * item % 40)] * repeated
    rng.shuffle(items)
    sketch, true = TopK(1, 0.001), Counter(items)
    sketch.add_many(items)
    assert (calls[SKETCH.top_add_slice] > 0) == (repeated > 1)
    assert sketch._place.shape[2] == 2
    held = set(sketch._slots()[:, int(t.HASH)].tolist())
    for bucket in (0, 1):
        here = [item for item in true if int(mix(np.uint64(hash_of(item, 0)))) >> 63 == bucket]
        inside = [true[item] for item in here if hash_of(item, 0) in held]
        outside = [true[item] for item in here if hash_of(item, 0) not in held]
        assert len(inside) == 4
        assert min(inside) >= max(outside)


def test_threads_count_slices():
    """No count is lost where slices meet, nor where a slice meets items that come one by one."""
    sketches = [CountMin(0.5, 0.9), TopK(4, 0.5, 0.9)]
    items = np.arange(4 * CHUNK) % 7

    def work(number):
        for step in range(30):
            for sketch in sketches:
                sketch.add_many(items[: CHUNK // (1 + (number + step) % 3)])
                sketch.add(5)

    together(*[lambda n=n: work(n) for n in range(3)])
    total = sum(30 * 1 + sum(CHUNK // (1 + (n + step) % 3) for step in range(30)) for n in range(3))
    for sketch in sketches:
        width, depth = sketch._place.shape[:2]
        assert sketch.added == total
        assert counters(sketch).reshape(depth, width).sum(axis=1).tolist() == [total] * depth
        assert sketch.estimate(5) >= 90
    assert hash_of(5, 0) in sketches[1]._slots()[:, int(t.HASH)]
