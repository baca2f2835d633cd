"""KLL: ranks beside exact ones, within the error; merged, stored, shared by threads, killed."""

import math
import os
import pickle
import zlib

import numpy as np
import pyarrow as pa
import pytest
from children import in_child
from hypothesis import given, settings
from hypothesis import strategies as st
from threads_together import together

from latchfree import Arena, StructureMissing
from latchfree.sketches import KLL, SketchGone, SketchInvalid, SketchMismatch, from_bytes
from latchfree.sketches.common import levels
from latchfree.sketches.common.items import CHUNK
from latchfree.sketches.common.numbers import number_of, numbers_in, numbers_of, word_of, words_of
from latchfree.sketches.kernels import lanes as w
from latchfree_fsck import fsck

NUMBERS = st.floats(allow_nan=False)


def filled(items, error=0.05, **more):
    sketch = KLL(error, **{"seed": 1, **more})
    sketch.add_many(items)
    return sketch


def worst(sketch, items):
    """Return the greatest error of a rank, over all items."""
    ordered = np.sort(np.asarray(items, np.float64))
    truth = np.searchsorted(ordered, ordered, side="right") / len(ordered)
    return np.abs(np.array(sketch.ranks(ordered)) - truth).max()


@settings(max_examples=60, deadline=None)
@given(st.lists(NUMBERS, min_size=1, max_size=34), st.lists(st.floats(0, 1), max_size=5))
def test_few_items_are_exact(items, ranks):
    """As long as level 0 is not full, a sketch is a sorted list."""
    sketch, ordered = filled(items), sorted(items)
    for x in items:
        assert sketch.rank(x) == sum(item <= x for item in items) / len(items)
    for rank in ranks:
        assert sketch.quantile(rank) == ordered[max(0, math.ceil(rank * len(items)) - 1)]
    assert (sketch.least, sketch.greatest, sketch.count, sketch.added) == (
        ordered[0],
        ordered[-1],
        len(items),
        len(items),
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**64 - 1), st.sampled_from([0.2, 0.1, 0.03]), st.integers(1, 4_000), st.booleans())
def test_what_a_lane_has_stays_whole(seed, error, count, one_by_one):
    """Weights add up to the items added, levels are sorted and no larger than their room, bounds are exact."""
    rng = np.random.default_rng(seed)
    items = rng.choice([rng.normal(size=count), rng.integers(0, 9, count).astype(float)])
    sketch = KLL(error, seed=seed)
    if one_by_one:
        for item in items[:500].tolist():
            sketch.add(item)
        items = items[:500]
    else:
        sketch.add_many(items)
    words, room = sketch._read(), sketch._place.shape[0]
    for at in range(0, len(words), levels.words_read(room)):
        levels.check(words[at : at + levels.words_read(room)], room)
    (lane,) = sketch._lanes()
    assert lane.total == sketch.count == sketch.added == len(items)
    assert all(len(level) <= room for level in lane.levels)
    assert sum(map(len, lane.levels)) <= 5 * room + 8 * len(lane.levels)
    assert (sketch.least, sketch.greatest) == (items.min(), items.max())
    assert set(numbers_of(np.concatenate(lane.levels)).tolist()) <= set(items.tolist())
    assert sketch.quantiles([0, 1]) == [items.min(), items.max()]


@pytest.mark.parametrize("order", ["random", "rising", "falling", "few", "zigzag"])
def test_ranks_are_within_the_error(order):
    """Over 40 seeds, the root of the mean square error of each of some ranks is at most the standard error."""
    count, error, rng = 20_000, 0.05, np.random.default_rng(5)
    items = {
        "random": rng.normal(size=count),
        "rising": np.arange(count),
        "falling": -np.arange(count),
        "few": rng.integers(0, 20, count),
        "zigzag": np.where(np.arange(count) % 2, 1, -1) * np.arange(count),
    }[order]
    ordered = np.sort(items)
    asked = ordered[count // 20 :: count // 10]
    truth = np.searchsorted(ordered, asked, side="right") / count
    wrong = [np.array(filled(items, error, seed=seed).ranks(asked)) - truth for seed in range(40)]
    sigma = np.sqrt(np.mean(np.square(wrong), axis=0))
    assert (sigma <= filled([], error).error).all()
    assert sigma.max() > 0


@pytest.mark.slow
def test_ranks_of_a_million():
    items = np.random.default_rng(5).exponential(size=1_000_000)
    for seed in range(10):
        assert worst(filled(items, 0.01, seed=seed), items) <= 3 * 0.01


def test_sizes_are_those_of_the_kernels():
    for room in (8, 9, 174, 65_535):
        word = np.uint64(room)
        kernels = [w.above(word), w.copy_words(word), w.lane_words(word)]
        assert [levels.above(room), levels.copy_words(room), levels.lane_words(room)] == kernels


def test_coins_are_of_the_seed():
    items = np.arange(5_000)
    assert filled(items).to_bytes() == filled(items).to_bytes()
    assert filled(items).to_bytes() != filled(items, seed=2).to_bytes()
    assert KLL().seed != KLL().seed


# numbers -------------------------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(st.lists(NUMBERS, max_size=20))
def test_words_are_in_the_order_of_numbers(numbers):
    words = words_of(np.array(numbers, np.float64))
    assert [word_of(x) for x in numbers] == words.tolist()
    assert numbers_of(words).tolist() == numbers
    for one, a in zip(numbers, words.tolist(), strict=True):
        for other, b in zip(numbers, words.tolist(), strict=True):
            assert (one < other, one == other) == (a < b, a == b)


@pytest.mark.parametrize(
    "form",
    [
        list,
        tuple,
        iter,
        np.array,
        lambda items: np.array(items, object),
        lambda items: np.array(items, np.float32),
        pa.array,
        lambda items: pa.chunked_array([items[:1], items[1:]]),
        lambda items: pa.array(items, pa.int8()),
        lambda items: np.array(items)[::-1][::-1],
    ],
)
def test_forms_of_items(form):
    assert numbers_in(form([3, -1, 7])).tolist() == [3.0, -1.0, 7.0]
    assert filled(form([3, -1, 7])).quantiles([0, 0.5, 1]) == [-1.0, 3.0, 7.0]


@pytest.mark.parametrize(
    ("items", "error", "text"),
    [
        ([1, math.nan], ValueError, "element 1: items must be numbers, got NaN"),
        (np.array([1, math.nan]), ValueError, "element 1: items must be numbers, got NaN"),
        (pa.array([1.0, None]), ValueError, "element 1 is null"),
        (pa.array(["a"]), TypeError, "an Arrow array of string"),
        (["a"], TypeError, "element 0: items must be float or int, got str"),
        ([True], TypeError, "must be float or int, got bool"),
        ([1j], TypeError, "must be float or int, got complex"),
        ([0, 2**53 + 1], ValueError, r"element 1: integers must be from -2\*\*53"),
        (np.array([0, -(2**53) - 1]), ValueError, r"element 1: integers must be from -2\*\*53"),
        (np.array([2**64 - 1], np.uint64), ValueError, r"element 0: integers must be from -2\*\*53"),
        (np.array(["a"]), TypeError, "an array of <U1"),
        (np.array([[1.0]]), ValueError, "must have one dimension, got 2"),
        (5, TypeError, "for one item use add"),
        ("abc", TypeError, "for one item use add"),
    ],
)
def test_items_that_are_refused(items, error, text):
    sketch = KLL()
    with pytest.raises(error, match=text):
        sketch.add_many(items)
    assert sketch.count == sketch.added == 0


def test_what_else_is_refused():
    for call in (lambda s: s.quantile(0.5), lambda s: s.rank(1), lambda s: s.least, lambda s: s.greatest):
        with pytest.raises(ValueError, match="the sketch is empty"):
            call(KLL())
    for rank in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match="rank must be from 0 to 1"):
            filled([1]).quantile(rank)
    with pytest.raises(ValueError, match="error must be from"):
        KLL(0.3)
    with pytest.raises(ValueError, match="writers must be from 1 to 64"):
        KLL(writers=65)
    with pytest.raises(ValueError, match="items must be numbers, got NaN"):
        KLL().add(math.nan)
    assert number_of(np.float32(0.5)) == 0.5


# merging and storing -------------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 3_000), min_size=1, max_size=5), st.integers(0, 2**32))
def test_merged_parts_have_all_items(sizes, seed):
    whole, items = KLL(0.1, seed=seed), np.random.default_rng(seed).permutation(sum(sizes))
    for number, (size, end) in enumerate(zip(sizes, np.cumsum(sizes), strict=True)):
        whole.merge(filled(items[end - size : end], 0.1, seed=number))
    assert whole.count == whole.added == len(items)
    if len(items):
        assert (whole.least, whole.greatest) == (0, len(items) - 1)
        assert worst(whole, items) <= 6 * whole.error


def test_merging_often_keeps_room():
    """Parts of high levels on top of low ones, and a sketch with itself."""
    sketch = filled(range(1_000), 0.2)
    for _ in range(43):
        sketch.merge(sketch)
        sketch.merge(filled(range(10), 0.2))
    assert sketch.count == sketch.added == 1_000 * 2**43 + sum(10 * 2**k for k in range(43))
    (lane,) = sketch._lanes()
    assert all(len(level) <= sketch._place.shape[0] for level in lane.levels)
    assert abs(sketch.rank(499) - 0.5) < 6 * sketch.error
    with pytest.raises(ValueError, match=r"more than 9,007,199,254,740,992 items"):
        sketch.merge(sketch)


def test_others_are_refused():
    with pytest.raises(SketchMismatch, match=r"different shapes: .* make both with the same error"):
        KLL(0.1).merge(KLL(0.05))
    with pytest.raises(TypeError, match="a KLL is merged with another one"):
        KLL().merge([1])
    one = filled([1], writers=1)
    one.merge(filled([2], seed=9, writers=3))
    assert one.quantiles([0, 1]) == [1.0, 2.0]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 3_000), st.integers(0, 2**32))
def test_bytes_and_back(count, seed):
    sketch = filled(np.random.default_rng(seed).normal(size=count), 0.1, seed=seed)
    data = sketch.to_bytes()
    again = from_bytes(data)
    assert (type(again), again.count, again.added, again.seed, again.to_bytes()) == (KLL, count, count, seed, data)
    assert len(data) <= 72 + 8 * (65 + 6 * 18 + 8 * 12)
    for each in (sketch, again):
        each.add_many(range(1_000))
    assert again.to_bytes() == sketch.to_bytes()  # the coins go on, too


def test_lanes_are_merged_in_bytes():
    sketch = filled(range(0, 3_000, 2), 0.1, writers=2)
    words = sketch._place.cells
    words[int(w.OWNER)] = os.getpid() << 32 | 77  # somebody is adding in the first lane
    sketch.add_many(range(1, 3_000, 2))
    assert len(sketch._lanes()) == 2
    again = KLL.from_bytes(sketch.to_bytes())
    assert (len(again._lanes()), again.count, again.added) == (1, 3_000, 3_000)
    assert abs(again.rank(1_499) - 0.5) < 6 * again.error
    assert sketch.count == 3_000


def test_bytes_that_were_changed():
    data = filled(range(500, 0, -1), 0.2).to_bytes()
    cells = np.frombuffer(data, "<u8", offset=72)
    changes = {
        0: (int(cells[0]) ^ 1, "have not the sizes"),
        1: (56, "more items than it has room for|have not the sizes"),
        3: (9999, "have not the sizes"),
        5: (0, "beyond the bounds"),
        9: (9999, "have not the sizes"),
    }
    for at, (value, text) in changes.items():
        changed = cells.copy()
        changed[at] = value
        with pytest.raises(SketchInvalid, match=text):
            KLL.from_bytes(with_cells(data, changed))
    unsorted = cells.copy()
    unsorted[-1], unsorted[-2] = cells[-2], cells[-1]
    with pytest.raises(SketchInvalid, match=r"is not sorted|a damaged sketch"):
        KLL.from_bytes(with_cells(data, unsorted[:-1]))
    with pytest.raises(SketchInvalid, match="fewer than the head"):
        KLL.from_bytes(with_cells(data, cells[:10]))


def with_cells(data, cells):
    body = data[24:72] + cells.astype("<u8").tobytes()
    return data[:16] + zlib.crc32(body).to_bytes(4, "little") + data[20:24] + body


# together ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shared", [False, True])
def test_threads_lose_nothing(shared, shared_name):
    """More threads than lanes: some wait. Readers see whole lanes, and counts that only rise."""
    threads, items = 4, np.arange(4 * CHUNK, dtype=np.float64)
    with Arena.create(name=shared_name, capacity=8 << 20) as arena:
        sketch = KLL.create(arena, "s", 0.05, writers=2, seed=1) if shared else KLL(0.05, writers=2, seed=1)
        seen = []

        def look():
            while not seen or seen[-1] < len(items):
                seen.append(sketch.count)
                if seen[-1]:
                    assert 0 <= sketch.least <= sketch.quantile(0.5) <= sketch.greatest < len(items)

        together(*[lambda n=n: sketch.add_many(items[n::threads]) for n in range(threads)], look)
        assert seen == sorted(seen)
        assert sketch.count == sketch.added == len(items)
        assert (sketch.least, sketch.greatest) == (0, len(items) - 1)
        assert worst(sketch, items) <= 6 * sketch.error
        arena.unlink()


def test_a_fork_takes_over_the_lanes_of_its_parent():
    """A thread of the parent that was adding is not in the child."""
    sketch = filled(range(10), writers=1)
    sketch._place.cells[int(w.OWNER)] = os.getpid() << 32 | 1
    in_child(lambda: sketch.add(5) or sketch.count == 11)
    sketch._place.cells[int(w.OWNER)] = 0
    sketch.add(5)
    assert sketch.count == 11


def test_a_lane_of_a_dead_process_is_taken_over(tmp_path):
    path = tmp_path / "arena"
    with Arena.create(path=path, capacity=8 << 20) as arena:
        sketch = KLL.create(arena, "s", 0.1, writers=1, seed=1)
        sketch.add_many(range(100))
        lane = sketch._place.root + 24
        with arena.lend() as other:
            arena.words[lane + int(w.OWNER)] = other << 32 | 5
            arena.words[other + 8] = 3  # pinned: in a call
            busy = []

            def add():
                sketch.add(1.0)
                busy.append(arena.words[other + 8] == 0)

            def end():
                assert sketch.count == 100
                arena.words[other + 8] = 0

            together(add, end)
            assert busy == [True]
        assert sketch.count == 101
        arena.words[lane + int(w.OWNER)] = 5 << 32
    report = fsck(path=path, repair=True)
    assert report.clean, report
    with Arena.open(path) as arena:
        assert int(arena.words[lane + int(w.OWNER)]) == 0
        assert KLL.open(arena, "s").count == 101


@pytest.mark.parametrize(
    ("offset", "value", "text"),
    [
        (int(w.STATE), 99, "more items than it has room for"),
        (int(w.LANE_HEAD + w.LEVELS), 60, "more items than it has room for"),
        (int(w.LANE_HEAD + w.USED), 1, "have not the sizes"),
        (int(w.LANE_HEAD + w.GREATEST), 0, "beyond the bounds"),
    ],
)
def test_fsck_finds_damage(tmp_path, offset, value, text):
    path = tmp_path / "arena"
    with Arena.create(path=path, capacity=8 << 20) as arena:
        sketch = KLL.create(arena, "s", 0.1, seed=1)
        sketch.add_many(range(36))
        at = sketch._place.root + 24 + offset
        assert int(arena.words[sketch._place.root + 24 + int(w.STATE)]) >> 32 == 2
    assert fsck(path=path).clean
    words = np.memmap(path, np.uint64, "r+")
    words[at] = value
    words.flush()
    del words
    report = fsck(path=path)
    assert len(report.damage) == 1
    assert text in report.damage[0]


def test_a_named_sketch(shared_name):
    with Arena.create(name=shared_name, capacity=8 << 20) as arena:
        made = KLL.create(arena, "s", 0.05, writers=2, seed=1)
        other = KLL.open(arena, "s")
        made.add_many(range(1_000))
        sent = pickle.dumps(other)
        third = pickle.loads(sent)
        assert made.to_bytes() == other.to_bytes() == third.to_bytes() == made.copy().to_bytes()
        assert (other.name, other.arena, other.writers, other.count, other.copy().name) == ("s", arena, 2, 1_000, None)
        assert repr(made) == ("<KLL of 2 lanes of 35 items a level, standard error 4.9 % of rank, 26,032 bytes, 's'>")
        in_child(lambda: other.add_many([-1, 1_000]))
        assert (made.least, made.greatest, made.added) == (-1, 1_000, 1_002)
        KLL.unlink(arena, "s")
        calls = [made.to_bytes, lambda: made.add(1), lambda: made.add_many([1]), lambda: made.rank(1)]
        for call in [*calls, lambda: made.count, lambda: made.merge(made.copy()), lambda: pickle.loads(sent)]:
            with pytest.raises((SketchGone, StructureMissing)):
                call()
        arena.unlink()
