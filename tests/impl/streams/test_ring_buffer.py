"""The ring buffer in one thread: a bounded deque; and what it refuses."""

import asyncio
import contextlib
import multiprocessing
from collections import deque

import numpy as np
import process_bodies
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latchfree import Arena, Ctrie
from latchfree.errors import ArenaClosed, ArenaFull
from latchfree.streams import RingBuffer, RingStalled
from latchfree.streams.kernels.layout import DEQ, ENQ

PATIENCE = 1200

INTEGERS = st.integers(-(1 << 63), (1 << 63) - 1)
CALLS = st.lists(
    st.one_of(
        st.tuples(st.just("put"), INTEGERS),
        st.tuples(st.just("get"), st.none()),
        st.tuples(st.just("put_many"), st.lists(INTEGERS, max_size=12)),
        st.tuples(st.just("get_many"), st.integers(0, 12)),
        st.tuples(st.just("len"), st.none()),
    ),
    max_size=40,
)


def move(ring, position):
    """Set the positions of an empty ring, as if so many values had passed through it."""
    words, at = ring._arena.words, ring._ring
    cells = int(words[at + 34])
    for k in range(ring.capacity):
        here = (position + k) % 2**64
        words[cells + 2 * (here % ring.capacity)] = here
    words[at + int(ENQ)] = words[at + int(DEQ)] = position


@given(CALLS, st.sampled_from([2, 4, 8]), st.booleans(), st.sampled_from([0, 2**63 - 3, 2**64 - 5]))
def test_in_one_thread_it_is_a_bounded_deque(calls, capacity, weak, position):
    ring, model = RingBuffer(capacity, weak=weak), deque()
    move(ring, position)
    for name, argument in calls:
        if name == "put":
            room = len(model) < capacity
            assert ring.try_put(argument) is room
            if room:
                model.append(argument)
        elif name == "get":
            assert ring.try_get() == (model.popleft() if model else None)
        elif name == "put_many":
            room = capacity - len(model)
            assert ring.put_many(argument) == min(room, len(argument))
            model.extend(argument[:room])
        elif name == "get_many":
            expected = [model.popleft() for _ in range(min(argument, len(model)))]
            assert ring.get_many(argument).tolist() == expected
        assert len(ring) == len(model)
    assert (ring.capacity, ring.weak) == (capacity, weak)


@pytest.mark.parametrize(
    ("capacity", "use"), [(0, 2), (1, 2), (3, 4), (-4, 2), (1000, 1024), (1 << 26, 1 << 25), ((1 << 25) + 1, 1 << 25)]
)
def test_a_capacity_is_a_power_of_two(capacity, use):
    with pytest.raises(ValueError, match=f"power of two from 2 to 33,554,432, got {capacity:,}; use {use:,}$"):
        RingBuffer(capacity)


NO_INTEGERS = (1.0, "1", None, True, np.bool_(True), np.arange(2))
MANY = [
    ([1, 2.5], TypeError, "values, element 1: a ring buffer holds integers.*got float 2.5"),
    (["a"], TypeError, "values, element 0: .*got str 'a'"),
    ([[1]], TypeError, "values, element 0: .*got list"),
    ([1, None], TypeError, "values, element 1: .*got NoneType"),
    ([1, True], TypeError, "values, element 1: .*got bool True"),
    ([5, 1 << 64], ValueError, "values, element 1: .*not 18446744073709551616"),
    (np.array([1, 1 << 63], np.uint64), ValueError, "values must be .*element 1 is 9223372036854775808"),
    (np.array([[1]]), ValueError, "values must have one dimension, got 2"),
    (np.array([1.0]), TypeError, "values must be .*got an array of float64"),
    (pa.array([1, None]), ValueError, "values must be integers.*element 1 is null"),
    (pa.chunked_array([[1, 2], [None]]), ValueError, "values must be integers.*element 2 is null"),
    (pa.array([1.5]), TypeError, "values must be .*got an Arrow array of double"),
    ("ab", TypeError, "values must be a sequence or an array, not one str; for one use put"),
    (b"ab", TypeError, "not one bytes; for one use put"),
    (7, TypeError, "not one int; for one use put"),
    (None, TypeError, "not one NoneType; for one use put"),
    ({1: 2}, TypeError, "not one dict; for one use put"),
    ({1, 2}, TypeError, "values must be in an order"),
]


def test_what_is_no_integer_of_64_bits_is_refused_and_nothing_changes():
    ring = RingBuffer(8)
    for bad, error in (
        (1 << 63, ValueError),
        (-(1 << 63) - 1, ValueError),
        *((each, TypeError) for each in NO_INTEGERS),
    ):
        for call in (ring.try_put, ring.put, lambda value: asyncio.run(ring.aput(value))):
            with pytest.raises(error, match=r"a ring buffer holds integers from -2\*\*63 to 2\*\*63 - 1"):
                call(bad)
    for bad, error, text in MANY:
        with pytest.raises(error, match=text):
            ring.put_many(bad)
    for bad, error in ((-1, ValueError), (True, TypeError), (1.0, TypeError), (None, TypeError)):
        with pytest.raises(error, match=r"most must be .*0 or more, got"):
            ring.get_many(bad)
    with pytest.raises(ValueError, match="stall_timeout must be at least 0"):
        RingBuffer(2, stall_timeout=-1)
    assert len(ring) == 0


def test_batches_take_arrays_of_any_integers():
    ring = RingBuffer(8)
    assert ring.put_many(np.array([1, -2], np.int8)) == 2
    assert ring.put_many(np.array([3, 9, 4, 9], np.uint32)[::2]) == 2
    assert ring.put_many(pa.chunked_array([[5], [], [6]])) == ring.put_many(n for n in (5, 6)) == 2
    assert ring.get_many(4).tolist() == [1, -2, 3, 4]
    assert ring.get_many(4).tolist() == [5, 6, 5, 6]
    ring.put_many([1, -2, 3, 4])
    assert ring.put_many([]) == ring.put_many(range(0)) == 0
    to_read = np.array([5, 6])
    to_read.flags.writeable = False  # as the values of an Arrow array are
    assert ring.put_many(to_read) == 2
    got = ring.get_many(100)
    assert (got.dtype, got.tolist()) == (np.dtype(np.int64), [1, -2, 3, 4, 5, 6])


@pytest.mark.parametrize("what", ["put", "get"])
def test_a_claim_that_is_not_done_is_named(what):
    ring = RingBuffer(2, stall_timeout=0.05)
    words, at = ring._arena.words, ring._ring
    if what == "put":  # the oldest of two is claimed by a get that stops there
        ring.put_many([7, 8])
        words[at + int(DEQ)] += 1
    else:  # the first cell is claimed by a put that stops there, and the second is filled
        words[at + int(ENQ)] += 1
        assert ring.try_put(8)
    other = "get" if what == "put" else "put"
    calls = {
        "put": [lambda: ring.try_put(1), lambda: ring.put_many([1])],
        "get": [ring.try_get, lambda: ring.get_many(1)],
    }
    for call in calls[what]:
        with pytest.raises(RingStalled, match=rf"cell 0 of 2 has been claimed by a {other} at position 0 for 0.05 s"):
            call()


def test_a_weak_ring_does_not_wait():
    ring = RingBuffer(2, weak=True, stall_timeout=0)
    ring._arena.words[ring._ring + int(ENQ)] += 1
    assert ring.try_put(8)
    assert ring.try_get() is None
    assert ring.get_many(5).tolist() == []
    assert len(ring) == 2


def test_what_is_done_of_a_batch_counts_when_the_next_is_stalled():
    ring = RingBuffer(4, stall_timeout=0.05)
    words, at = ring._arena.words, ring._ring
    ring.put_many([5, 6])
    words[at + int(ENQ)] += 1  # claimed, and no more
    assert ring.get_many(10).tolist() == [5, 6]
    assert ring.put_many([7, 8, 9, 10]) == 3


def test_two_rings_in_one_arena_do_not_touch(arena):
    rings = [RingBuffer(capacity, arena=arena) for capacity in (2, 64, 4)]
    for k, ring in enumerate(rings):
        assert ring.put_many(range(100 * k, 100 * k + 100)) == ring.capacity
    for k, ring in enumerate(rings):
        assert ring.get_many(100).tolist() == list(range(100 * k, 100 * k + ring.capacity))


def test_the_counters_are_on_lines_of_their_own(arena):
    for _ in range(5):
        ring = RingBuffer(2, arena=arena)
        assert (ring._base + 8 * ring._ring) % 128 == 0
        assert 8 * int(DEQ - ENQ) == 128


def test_an_arena_without_room_is_left_as_it_was():
    arena = Arena.anonymous(4 << 20)
    RingBuffer(2, arena=arena)
    allocated = arena.allocated
    with pytest.raises(ArenaFull, match="no room for a ring of 1,048,576 cells, 16,777,216 bytes"):
        RingBuffer(1 << 20, arena=arena)
    assert arena.allocated == allocated
    RingBuffer(2, arena=arena)


def test_a_private_ring_is_not_pickled():
    import pickle

    with pytest.raises(TypeError, match=r"make it with RingBuffer\(capacity, arena=Arena.create"):
        pickle.dumps(RingBuffer(2))


def test_a_closed_arena_is_named(shared_name):
    with Arena.create(name=shared_name, capacity=8 << 20) as arena:
        ring = RingBuffer(4, arena=arena)
        assert ring.try_put(1)
    for call in (lambda: ring.try_put(1), ring.try_get, lambda: ring.put_many([1]), lambda: ring.get_many(1)):
        with pytest.raises(ArenaClosed, match=r"open it again with Arena\.open"):
            call()


def test_two_processes(shared_name):
    with Arena.create(name=shared_name, capacity=8 << 20) as arena:
        there, back = RingBuffer(32, arena=arena), RingBuffer(32, arena=arena)
        assert there.put_many([1]) == len(there.get_many(1)) == 1  # compiled now, not in the child
        child = multiprocessing.get_context("spawn").Process(target=process_bodies.double, args=(there, back, 1000))
        child.start()
        waiting, got = np.arange(1000), []
        while len(got) < 1000:
            waiting = waiting[there.put_many(waiting) :]
            got += back.get_many(1000).tolist()
            assert child.is_alive() or len(got) + len(back) >= 1000
        child.join(PATIENCE)
        assert child.exitcode == 0
        assert got == [2 * k for k in range(1000)]


def test_a_ring_fits_where_removed_keys_have_just_made_room():
    """Memory that waits to be freed is collected, and free pieces merged, before the arena counts as full."""
    arena = Arena.anonymous(4 << 20)
    trie = Ctrie(keys=int, values=int, arena=arena)
    count = 0
    with contextlib.suppress(ArenaFull):
        for count in range(10**6):
            trie[count] = count
    with pytest.raises(ArenaFull, match="no room for a ring"):
        RingBuffer(1 << 15, arena=arena)
    for key in range(count):
        del trie[key]
    ring = RingBuffer(1 << 15, arena=arena)
    assert ring.put_many(range(10)) == 10
    assert ring.get_many(20).tolist() == list(range(10))
