"""A ring in every life of a process: dropped, closed, pickled, forked, killed, interrupted; its memory comes back."""

import gc
import os
import pickle
import signal
import threading
import time
from contextlib import suppress
from functools import partial

import numpy as np
import pytest
from children import in_child
from threads_together import together

from latchfree import Arena, ArenaInvalid, Ctrie
from latchfree.errors import ArenaClosed
from latchfree.streams import RingBuffer, RingGone, RingStalled
from latchfree.streams.kernels.layout import ENQ
from latchfree.streams.kernels.roster import enter, leave
from latchfree_fsck import fsck

PATIENCE = 1200

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def eventually(condition, step=lambda: None):
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until
        step()
        time.sleep(0.01)


def every_call(ring):
    return [
        lambda: ring.try_put(1),
        ring.try_get,
        lambda: ring.put_many([1]),
        lambda: ring.get_many(1),
        lambda: len(ring),
    ]


# memory --------------------------------------------------------------------------------------------------------------


def test_the_memory_of_2000_dropped_rings_comes_back(either):
    RingBuffer(256, arena=either)
    before = either.allocated
    rings = [RingBuffer(256, arena=either) for _ in range(2000)]
    most = either.allocated
    assert most - before > 2000 * 16 * 256
    del rings
    either.collect()
    assert either.allocated - before < 0.01 * (most - before)


@pytest.mark.parametrize("way", ["dropped", "closed", "with", "cycle"])
def test_a_ring_let_go_makes_room_for_the_next(either, way):
    for k in range(20 if way == "cycle" else 200):
        if k == 10:
            allocated, used = either.allocated, either.used
        ring = RingBuffer(64, arena=either)
        ring.put_many(range(10))
        if way == "closed":
            ring.close()
            ring.close()
        elif way == "with":
            with ring:
                assert ring.try_get() == 0
        elif way == "cycle":
            circle = [ring]
            circle.append(circle)
            del circle
            ring = None
            gc.collect()
    del ring
    assert either.allocated <= allocated
    assert either.used == used


def test_a_ring_waits_until_nobody_is_in_a_call(shared):
    RingBuffer(1024, arena=shared)
    before = shared.allocated
    ring = RingBuffer(1024, arena=shared)
    with shared.lend() as other:
        call = [np.uint64(word) for word in (shared.base, other, ring._ring, ring._number)]
        assert enter(*call)
        del ring
        for _ in range(5):
            shared.adopt()
        assert shared.allocated >= before + 16 * 1024
        leave(*call[:2])
        assert not enter(*call)
    eventually(lambda: shared.allocated == before, shared.adopt)


def test_closing_the_arena_gives_the_rings_back(tmp_path):
    path = tmp_path / "arena"
    with Arena.create(path=path, capacity=8 << 20) as arena:
        rings = [RingBuffer(64, arena=arena) for _ in range(3)]
        before = arena.allocated
        assert len(rings) == 3
    with Arena.open(path) as arena:
        assert arena.allocated <= before - 3 * 16 * 64
    report = fsck(path=path)
    assert report.clean, report
    assert fsck(path=path, repair=True).repaired
    with Arena.open(path) as arena:
        assert RingBuffer(64, arena=arena).put_many([1, 2]) == 2


def test_the_memory_of_2000_short_threads_comes_back(either):
    """Bulk calls and rings, in threads that end at once: limbo and free lists are those of whoever comes next."""
    new = {"keys": int, "values": int}
    trie = Ctrie.create(either, "numbers", **new) if either.shared else Ctrie(arena=either, **new)
    keys = list(range(40))

    def body():
        trie.update(dict.fromkeys(keys, 1))
        trie.put_many(keys, keys)
        trie.remove_many(keys)
        ring = RingBuffer(32, arena=either)
        assert ring.put_many(keys) == 32
        assert len(ring.get_many(40)) == 32

    def settled():
        for _ in range(5):
            either.collect()
        return either.allocated

    for _ in range(5):
        together(body)
    before, used = settled(), either.used
    for _ in range(100):
        together(body)
    assert either.used == used, "one after the other, threads use the same bytes again"
    for _ in range(250):
        together(*[body] * 8)
    eventually(lambda: settled() <= 1.01 * before and either.census().limbo == 0)
    assert either.used <= 8 * used, "what overlaps, and no more"


# whose it is ---------------------------------------------------------------------------------------------------------


def test_a_ring_ends_with_the_references_of_its_maker(shared):
    ring = RingBuffer(4, arena=shared)
    ring.put_many([1, 2, 3])
    sent = pickle.dumps(ring)
    other = pickle.loads(sent)
    assert (other.capacity, other.weak, other.get_many(2).tolist()) == (4, False, [1, 2])
    assert len(ring) == len(other) == 1
    assert ring._owner.mine
    assert not other._owner.mine, "who does not own it pins itself"
    del ring
    RingBuffer(4, arena=shared)
    for call in [*every_call(other), lambda: pickle.loads(sent)]:
        with pytest.raises(RingGone, match="the opening of the arena that made it has dropped it"):
            call()
    assert repr(other) == "<RingBuffer of 4 integers>"
    other._arena.close()


def test_a_ring_that_was_closed_is_named(either):
    ring = RingBuffer(4, arena=either)
    ring.close()
    for call in every_call(ring):
        with pytest.raises(RingGone, match="was closed here"):
            call()
    assert repr(ring) == "<RingBuffer of 4 integers>"


def test_a_closed_arena_is_named_by_every_call(shared_name):
    with Arena.create(name=shared_name, capacity=8 << 20) as arena:
        ring = RingBuffer(4, arena=arena)
        ring.try_put(1)
    for call in [*every_call(ring), lambda: pickle.dumps(ring), lambda: RingBuffer(4, arena=arena)]:
        with pytest.raises(ArenaClosed, match=r"open it again with Arena\.open"):
            call()
    assert (repr(ring), ring.capacity, ring.weak) == ("<RingBuffer of 4 integers>", 4, False)


def test_another_arena_in_the_same_place_is_refused(tmp_path):
    path = tmp_path / "arena"
    with Arena.create(path=path, capacity=8 << 20) as arena:
        sent = pickle.dumps(RingBuffer(4, arena=arena))
    path.unlink()
    with Arena.create(path=path, capacity=8 << 20) as arena:
        ring = RingBuffer(4, arena=arena)
        ring.put_many([7, 8])
        with pytest.raises(ArenaInvalid, match=r"arena"):
            pickle.loads(sent)
        assert ring.get_many(4).tolist() == [7, 8]


# forks and kills -----------------------------------------------------------------------------------------------------


def test_a_forked_child_uses_the_rings_of_its_parent_and_leaves_them(either):
    ring, spare = RingBuffer(64, arena=either), RingBuffer(4, arena=either)
    ring.put_many(range(10))
    spare.try_put(5)
    rings = [ring, spare]

    def body():
        assert ring.capacity == 64
        assert len(ring) == 10
        assert ring.get_many(10).tolist() == list(range(10))
        assert ring.put_many([20, 21]) == 2
        assert ring.try_put(22)
        own = RingBuffer(64, arena=either)
        assert own.put_many([1]) == 1
        rings.clear()
        gc.collect()

    in_child(body)
    assert spare.try_get() == 5
    expected = [20, 21, 22] if either.shared else list(range(10))
    assert ring.get_many(64).tolist() == expected


def test_a_child_learns_that_its_parent_has_dropped_a_ring(shared):
    ring = RingBuffer(4, arena=shared)
    here, there = os.pipe()

    def body():
        assert os.read(here, 1) == b"!"
        for call in every_call(rings[0]):
            with pytest.raises(RingGone, match="has dropped it"):
                call()

    rings = [ring]
    del ring
    child = os.fork()
    if child == 0:
        try:
            body()
            os._exit(0)
        finally:
            os._exit(1)
    rings.clear()
    os.write(there, b"!")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    os.close(here)
    os.close(there)


def test_no_call_writes_where_a_ring_was(shared, rng):
    """Children are in calls of a ring while their parent drops it and fills its memory with something else."""
    filled, values = Ctrie.create(shared, "filled", keys=int, values=bytes), list(range(512))
    warm = RingBuffer(4, arena=shared)
    assert warm.put_many(values) == len(warm.get_many(4)) == 4  # compiled now, not in the children
    expected = {}
    for turn in range(10):
        rings, (here, there) = [RingBuffer(512, arena=shared)], os.pipe()
        children = []
        for _ in range(2):
            children.append(os.fork())
            if children[-1] == 0:
                try:
                    os.write(there, b"!")
                    while True:
                        rings[0].put_many(values)
                        rings[0].get_many(512)
                except RingGone:
                    os._exit(0)
                finally:
                    os._exit(1)
        assert len(os.read(here, 1)) == len(os.read(here, 1)) == 1
        time.sleep(rng.uniform(0, 0.002))
        rings.clear()
        expected.update((100 * turn + k, bytes([k]) * 80) for k in range(100))
        filled.update(expected)
        for child in children:
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert dict(filled) == expected
        os.close(here)
        os.close(there)


def kill_an_owner(where, *, rings=20):
    """Have another process make rings, and kill it; return one of its rings as it was pickled."""
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            arena = Arena.open(where)
            made = [RingBuffer(256, arena=arena) for _ in range(rings)]
            made[0].put_many([1, 2, 3])
            os.write(there, pickle.dumps(made[0]))
            signal.pause()
        finally:
            os._exit(1)
    sent = os.read(here, 1 << 16)
    os.close(here)
    os.close(there)
    return sent, child


def kill(child):
    os.kill(child, signal.SIGKILL)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def test_the_rings_of_a_killed_process_are_adopted(shared, shared_name):
    own = RingBuffer(4, arena=shared)
    before = shared.allocated
    sent, child = kill_an_owner(shared_name)
    ring = pickle.loads(sent)
    assert shared.allocated > before + 20 * 16 * 256
    assert ring.get_many(10).tolist() == [1, 2, 3]
    kill(child)

    def is_gone():
        try:
            len(ring)
        except RingGone:
            return True
        return False

    eventually(is_gone, shared.adopt)
    eventually(lambda: shared.allocated <= before + 8 * 128, shared.adopt)
    assert own.put_many([1]) == 1
    ring._arena.close()


def test_fsck_counts_the_rings_of_a_killed_process_and_frees_them(tmp_path):
    path = tmp_path / "arena"
    with Arena.create(path=path, capacity=8 << 20) as arena:
        Ctrie.create(arena, "stock", keys=int, values=int).update({1: 2})
    kill(kill_an_owner(path)[1])
    report = fsck(path=path)
    assert report.clean, report
    assert report.memory.waiting >= 20 * 2 * 256
    assert fsck(path=path, repair=True).repaired
    assert fsck(path=path).memory.waiting == 0
    with Arena.open(path) as arena:
        assert RingBuffer(256, arena=arena).put_many([1]) == 1
        assert dict(Ctrie.open(arena, "stock")) == {1: 2}
        assert arena.allocated < 10_000


# signals and wrong arguments -----------------------------------------------------------------------------------------


def test_a_signal_handler_uses_the_ring_that_it_interrupts(either):
    ring, taken, put = RingBuffer(64, arena=either), [], []
    numbers = iter(range(10**9, 2 * 10**9))

    def handler(number, frame):
        value = next(numbers)
        if ring.try_put(value):
            put.append(value)
        found = ring.try_get()
        if found is not None:
            taken.append(found)

    previous = signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    try:
        count = 0
        while len(put) < 200:
            values = np.arange(count, count + 50)
            count += ring.put_many(values)
            taken.extend(ring.get_many(30).tolist())
            if ring.try_put(count):
                count += 1
            found = ring.try_get()
            if found is not None:
                taken.append(found)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    taken.extend(ring.get_many(64).tolist())
    assert sorted(taken) == [*range(count), *sorted(put)], "a handler may interrupt a handler"


def test_wrong_arguments_are_refused_before_memory_is_touched(arena):
    ring = RingBuffer(8, arena=arena)
    ring.put_many([1, 2])
    allocated = arena.allocated
    for bad, error in (
        (float("nan"), ValueError),
        (-1, ValueError),
        (-(10**400), ValueError),
        ("1", TypeError),
        (None, TypeError),
        (1j, TypeError),
        (np.ones(2), TypeError),
        (True, TypeError),
    ):
        with pytest.raises(error, match="stall_timeout must be"):
            RingBuffer(8, arena=arena, stall_timeout=bad)
    for capacity, error in ((2**70, ValueError), (-(2**70), ValueError), (8.0, TypeError), ("8", TypeError)):
        with pytest.raises(error):
            RingBuffer(capacity, arena=arena)
    for weak in (1, 0, "no", None):
        with pytest.raises(TypeError, match="weak must be True or False, got"):
            RingBuffer(8, arena=arena, weak=weak)
    with pytest.raises(TypeError, match="arena must be an Arena, not str"):
        RingBuffer(8, arena="name")
    assert arena.allocated == allocated
    for most, error in (
        (-1, ValueError),
        (-(2**80), ValueError),
        (1.0, TypeError),
        (None, TypeError),
        ("1", TypeError),
    ):
        with pytest.raises(error):
            ring.get_many(most)
    for value in (2**64, -(2**200), 10**5000):
        with pytest.raises(ValueError, match="a ring buffer holds integers"):
            ring.try_put(value)
    for values in (None, 5, "12", {1, 2}, {1: 2}, [[1]], [1, "2"], [None], np.array([1], "M8[s]"), [True], [2**70]):
        with pytest.raises((TypeError, ValueError)):
            ring.put_many(values)
    with pytest.raises(ValueError, match="masked"):
        ring.put_many(np.ma.array([1, 2], mask=[False, True]))
    assert ring.get_many(2**80).tolist() == [1, 2]
    for timeout in (float("inf"), 10**400, np.float32(1), 0):
        assert RingBuffer(8, arena=arena, stall_timeout=timeout).try_put(1)


def test_an_argument_that_closes_the_ring_meets_a_closed_ring(either):
    class Closing:
        def __init__(self, ring):
            self.ring = ring

        def __index__(self):
            self.ring.close()
            return 1

        def __array__(self, *args, **kwargs):
            self.ring.close()
            return np.ones(1, int)

    for call in (RingBuffer.try_put, RingBuffer.put_many, RingBuffer.get_many):
        ring = RingBuffer(4, arena=either)
        with pytest.raises(RingGone, match="closed here"):
            call(ring, Closing(ring))


def test_a_ring_closed_beside_bulk_calls_refuses_the_next(either):
    for _ in range(20):
        ring, refused = RingBuffer(64, arena=either), []

        def work(ring=ring, refused=refused):
            try:
                while True:
                    ring.put_many(range(100))
                    ring.get_many(100)
            except RingGone as error:
                refused.append(error)

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        time.sleep(0.002)
        ring.close()
        for thread in threads:
            thread.join()
        assert len(refused) == 2
        again = RingBuffer(64, arena=either)
        assert again.put_many(range(100)) == 64
        assert again.get_many(100).tolist() == list(range(64))


@pytest.mark.parametrize("timeout", [0.05, float("inf")])
def test_closing_the_arena_beside_bulk_calls_lets_none_write_afterwards(shared_name, timeout):
    """Whoever is in a call comes out of it first; whoever waits for a claimed cell is refused."""
    for turn in range(10):
        arena = Arena.create(name=shared_name, capacity=8 << 20)
        ring, stalled = RingBuffer(64, arena=arena), RingBuffer(2, arena=arena, stall_timeout=timeout)
        arena.words[stalled._ring + int(ENQ)] += 1  # claimed, and no more
        outcomes = []

        def work(call, outcomes=outcomes):
            try:
                while True:
                    call()
            except ArenaClosed as error:
                outcomes.append(error)

        def wait(ring=stalled):
            with suppress(RingStalled):
                ring.get_many(2)

        calls = [partial(ring.put_many, range(100)), partial(ring.get_many, 100), partial(ring.try_put, 1), wait]
        threads = [threading.Thread(target=work, args=(call,)) for call in calls]
        for thread in threads:
            thread.start()
        time.sleep(0.001 * turn)
        arena.close()
        for thread in threads:
            thread.join(PATIENCE)
        assert len(outcomes) == 4
        arena.unlink()
