"""A ring whose callers wait: in threads, processes and asyncio; timeouts, signals, shutdown, what is done when full."""

import asyncio
import os
import pickle
import queue
import signal
import threading
import time
from collections import deque
from contextlib import suppress
from pathlib import Path

import pytest
from children import in_child
from hypothesis import given
from hypothesis import strategies as st
from threads_together import together

from latchfree import Arena, RingBuffer, RingCounts
from latchfree.errors import ArenaClosed
from latchfree.streams import RingEmpty, RingFull, RingGone, RingShutDown, RingStalled
from latchfree.streams.futex import FUTEX
from latchfree.streams.handle import WHEN_FULL
from latchfree.streams.kernels.layout import ENQ

PATIENCE = 1200

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def eventually(condition):
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.002)


class Waiting:
    """A thread in a call that waits; `outcome` is what the call returned or raised."""

    def __init__(self, call):
        self.outcome = None
        self._call = call
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self):
        try:
            self.outcome = self._call()
        except BaseException as error:
            self.outcome = error

    def end(self):
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive()
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome


def waits(ring):
    counts = ring.counts()
    return counts.put_waits + counts.get_waits


# one in a thread -----------------------------------------------------------------------------------------------------


def test_a_get_waits_for_a_put_and_a_put_for_a_get(either):
    ring = RingBuffer(2, arena=either)
    getter = Waiting(ring.get)
    eventually(lambda: ring.counts().get_waits)
    assert ring.put(5) is True
    assert getter.end() == 5
    ring.put_many([1, 2])
    putter = Waiting(lambda: ring.put(3))
    eventually(lambda: ring.counts().put_waits)
    assert ring.try_get() == 1
    assert putter.end() is True
    assert ring.get_many(9).tolist() == [2, 3]


def test_whatever_puts_wakes_and_whatever_gets_makes_room():
    ring = RingBuffer(2)
    for put in (ring.try_put, ring.put, lambda value: ring.put_many([value])):
        getter, before = Waiting(ring.get), waits(ring)
        eventually(lambda before=before: waits(ring) > before or len(ring) == 0)
        put(7)
        assert getter.end() == 7
    for get in (ring.try_get, ring.get, lambda: ring.get_many(1)):
        ring.put_many([1, 2])
        putter = Waiting(lambda: ring.put(3))
        get()
        assert putter.end()
        ring.get_many(2)


@pytest.mark.parametrize("timeout", [0, 0.01])
def test_the_time_comes(timeout, either):
    ring = RingBuffer(2, arena=either)
    with pytest.raises(RingEmpty, match="had no value in time"):
        ring.get(timeout)
    assert ring.get_many(5, timeout).tolist() == []
    assert ring.put_many([1, 2, 3], timeout) == 2
    with pytest.raises(RingFull, match="no room for a 3th value"):
        ring.put(3, timeout=timeout)
    assert ring.get_many(5, timeout).tolist() == [1, 2]
    assert issubclass(RingFull, queue.Full)
    assert issubclass(RingEmpty, queue.Empty)


def test_bad_timeouts_are_refused_and_nothing_is_put_or_taken():
    ring = RingBuffer(4)
    ring.put(1)
    for bad, error in ((-1, ValueError), (float("nan"), ValueError), ("1", TypeError), (1j, TypeError)):
        for call in (lambda bad=bad: ring.put(2, bad), lambda bad=bad: ring.get(bad)):
            with pytest.raises(error, match="timeout must be"):
                call()
        for call in (lambda bad=bad: ring.put_many([2], bad), lambda bad=bad: ring.get_many(1, bad)):
            with pytest.raises(error, match="timeout must be"):
                call()
    for bad, error in ((1.5, TypeError), (1 << 63, ValueError)):
        with pytest.raises(error):
            ring.put(bad)
    assert ring.get(timeout=10**400) == 1
    assert len(ring) == 0


def test_batches_wait_for_all_their_room_and_for_the_first_value():
    ring = RingBuffer(2)
    putter = Waiting(lambda: ring.put_many(range(7), timeout=None))
    found = []
    while len(found) < 7:
        found += ring.get_many(2, timeout=None).tolist()
    assert found == list(range(7))
    assert putter.end() == 7


def test_a_wait_for_a_claimed_cell_ends_in_time():
    ring = RingBuffer(2, stall_timeout=0.02)
    ring._arena.words[ring._ring + int(ENQ)] += 1  # claimed, and no more
    with pytest.raises(RingEmpty):
        ring.get(timeout=0.001)
    for call in (ring.get, lambda: asyncio.run(ring.aget())):
        with pytest.raises(RingStalled, match="cell 0 of 2 has been claimed by a put"):
            call()


@pytest.mark.skipif(not FUTEX.works, reason="this kernel has no futex")
def test_who_waits_is_asleep_in_the_kernel():
    ring = RingBuffer(2)
    getter = Waiting(ring.get)
    path = Path(f"/proc/self/task/{getter.thread.native_id}/wchan")
    with suppress(OSError):
        if path.read_text() != "0":
            eventually(lambda: "futex" in path.read_text())
    ring.put(1)
    assert getter.end() == 1


def test_without_a_futex_it_naps(monkeypatch):
    monkeypatch.setattr(FUTEX, "_call", None)
    ring = RingBuffer(2)
    getter = Waiting(ring.get)
    eventually(lambda: ring.counts().get_waits)
    ring.put(1)
    assert getter.end() == 1
    assert not FUTEX.works


# how waiting ends ----------------------------------------------------------------------------------------------------


def test_control_c_ends_a_wait_and_takes_nothing_along():
    ring = RingBuffer(2)

    def interrupt():
        eventually(lambda: ring.counts().get_waits)
        time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        ring.get()
    thread.join()
    ring.put(1)
    assert ring.get() == 1


def test_a_shutdown_wakes_all_and_what_was_put_is_got(either):
    ring = RingBuffer(2, arena=either)
    getters = [Waiting(ring.get) for _ in range(3)]
    eventually(lambda: waits(ring) >= 3)
    ring.shutdown()
    for getter in getters:
        with pytest.raises(RingShutDown, match="was shut down"):
            getter.end()
    ring = RingBuffer(2, arena=either)
    ring.put_many([1, 2])
    putter = Waiting(lambda: ring.put(3))
    eventually(lambda: waits(ring))
    ring.shutdown()
    ring.shutdown()
    with pytest.raises(RingShutDown):
        putter.end()
    for call in (lambda: ring.try_put(4), lambda: ring.put(4), lambda: ring.put_many([4])):
        with pytest.raises(RingShutDown):
            call()
    assert len(ring) == 2
    assert (ring.get(), ring.get_many(9).tolist(), len(ring)) == (1, [2], 0)
    for call in (ring.try_get, ring.get, lambda: ring.get_many(1), lambda: ring.get_many(1, None)):
        with pytest.raises(RingShutDown):
            call()
    counts = ring.counts()
    assert (counts.puts, counts.gets, counts.shut) == (2, 2, True)


@pytest.mark.parametrize("weak", [False, True])
def test_an_immediate_shutdown_drops_what_is_left(weak):
    ring = RingBuffer(4, weak=weak)
    ring.put_many([1, 2, 3])
    ring.shutdown(immediate=True)
    with pytest.raises(RingShutDown):
        ring.try_get()
    assert (ring.counts().dropped, len(ring)) == (3, 0)


def test_no_value_is_put_after_a_get_was_told_of_the_end():
    """Puts race with the shutdown: each either returns and its value is got, or raises."""
    for _ in range(20):
        ring, put, got = RingBuffer(8), [], []

        def produce(first, ring=ring, put=put):
            for value in range(first, first + 10_000):
                try:
                    ring.put(value)
                except RingShutDown:
                    return
                put.append(value)

        def consume(ring=ring, got=got):
            with suppress(RingShutDown):
                while True:
                    got.append(ring.get())

        def stop(ring=ring):
            eventually(lambda: ring.counts().puts > 20)
            ring.shutdown()

        together(lambda p=produce: p(0), lambda p=produce: p(100_000), consume, consume, stop)
        assert sorted(put) == sorted(got)


def test_closing_wakes_who_waits_here(shared_name):
    with Arena.create(name=shared_name, capacity=8 << 20) as arena:
        closed = RingBuffer(2, arena=arena)
        first = Waiting(closed.get)
        eventually(lambda: waits(closed))
        closed.close()
        with pytest.raises(RingGone, match="was closed here"):
            first.end()
        ring = RingBuffer(2, arena=arena)
        second = Waiting(ring.get)
        eventually(lambda: waits(ring))
    with pytest.raises(ArenaClosed):
        second.end()


def test_who_waits_elsewhere_learns_that_the_ring_is_gone(shared):
    rings = [RingBuffer(2, arena=shared)]
    other = pickle.loads(pickle.dumps(rings[0]))
    getter = Waiting(other.get)
    eventually(lambda: waits(rings[0]))
    rings.clear()
    with pytest.raises(RingGone, match="has dropped it"):
        getter.end()
    other._arena.close()


# many ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weak", [False, True])
def test_nobody_is_forgotten_among_threads(either, weak):
    """Every thread waits again and again, in a ring of two cells; a lost wake-up would leave it waiting."""
    ring, got, times = RingBuffer(2, arena=either, weak=weak), [], 300

    def produce(first):
        for value in range(first, first + times):
            ring.put(value)

    def consume():
        got.extend(ring.get() for _ in range(times))

    together(*[lambda first=k * times: produce(first) for k in range(3)], *[consume] * 3)
    assert sorted(got) == list(range(3 * times))
    counts = ring.counts()
    assert (counts.puts, counts.gets, counts.most) == (3 * times, 3 * times, 2)


def test_nobody_is_forgotten_among_processes(shared):
    ring, back, times = RingBuffer(2, arena=shared), RingBuffer(2, arena=shared), 300
    child = os.fork()
    if child == 0:
        try:
            for _ in range(times):
                back.put(ring.get() + 1)
            os._exit(0)
        finally:
            os._exit(1)
    for value in range(times):
        ring.put(value)
        assert back.get() == value + 1
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_one_killed_asleep_leaves_the_others_to_be_woken(shared):
    ring = RingBuffer(2, arena=shared)
    child = os.fork()
    if child == 0:
        try:
            ring.get()
        finally:
            os._exit(1)
    eventually(lambda: waits(ring))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    getter = Waiting(ring.get)
    ring.put(1)
    assert getter.end() == 1
    assert ring.put_many([2, 3, 4]) == 2


def test_a_child_forked_beside_sleepers_waits_for_itself(shared):
    ring = RingBuffer(2, arena=shared)
    getter = Waiting(lambda: asyncio.run(ring.aget()))
    eventually(lambda: waits(ring))

    def body():
        with pytest.raises(RingEmpty):
            asyncio.run(ring.aget(timeout=0.01))
        with pytest.raises(RingEmpty):
            ring.get(timeout=0.01)

    in_child(body)
    ring.put(1)
    assert getter.end() == 1


# when it is full -----------------------------------------------------------------------------------------------------


@given(
    st.sampled_from(WHEN_FULL[1:]),
    st.sampled_from([2, 4]),
    st.lists(st.tuples(st.sampled_from(["put", "get"]), st.integers(-5, 5)), max_size=30),
)
def test_what_is_done_when_full(when_full, capacity, calls):
    ring, model, dropped, puts = RingBuffer(capacity, when_full=when_full), deque(), 0, 0
    for name, value in calls:
        full = len(model) == capacity
        if name == "get":
            assert ring.try_get() == (model.popleft() if model else None)
        elif full and when_full == "reject":
            with pytest.raises(RingFull):
                ring.put(value)
        elif full and when_full == "drop newest":
            assert ring.put(value) is False
            dropped += 1
        else:
            if full:
                model.popleft()
                dropped += 1
            assert ring.put(value) is True
            model.append(value)
            puts += 1
        assert len(ring) == len(model)
    assert (ring.counts().dropped, ring.counts().puts, ring.when_full) == (dropped, puts, when_full)


def test_what_is_done_when_full_goes_along_with_the_ring(shared):
    ring = RingBuffer(2, arena=shared, when_full="drop oldest")
    other = pickle.loads(pickle.dumps(ring))
    assert [other.put(value) for value in (1, 2, 3)] == [True] * 3
    assert (other.when_full, ring.get_many(5).tolist()) == ("drop oldest", [2, 3])
    assert ring.counts() == other.counts()
    assert isinstance(ring.counts(), RingCounts)
    other._arena.close()
    for bad, error in (("drop", ValueError), (None, TypeError), (3, TypeError)):
        with pytest.raises(error, match="when_full must be"):
            RingBuffer(2, when_full=bad)


# asyncio -------------------------------------------------------------------------------------------------------------


def test_coroutines_put_and_get(either):
    async def main():
        ring = RingBuffer(2, arena=either)
        getters = [asyncio.create_task(ring.aget()) for _ in range(20)]
        for value in range(20):
            assert await ring.aput(value)
        return sorted(await asyncio.gather(*getters))

    assert asyncio.run(main()) == list(range(20))


def test_a_coroutine_waits_for_a_thread_and_others_run_meanwhile():
    ring = RingBuffer(2)

    async def main():
        getter = asyncio.create_task(ring.aget())
        while not ring.counts().get_waits:
            await asyncio.sleep(0.001)
        thread = threading.Thread(target=ring.put, args=(5,))
        thread.start()
        found = await getter
        thread.join()
        return found

    assert asyncio.run(main()) == 5
    assert asyncio.run(ring_round(ring)) == 6  # another loop


async def ring_round(ring):
    await ring.aput(6)
    return await ring.aget()


def test_cancelled_coroutines_lose_nothing():
    async def main():
        ring, got = RingBuffer(2), []

        async def consume():
            while True:
                got.append(await ring.aget())

        async def produce(put):
            for value in range(1000):
                await ring.aput(value)
                put.append(value)

        put = []
        producer = asyncio.create_task(produce(put))
        while not producer.done():
            consumers = [asyncio.create_task(consume()) for _ in range(3)]
            await asyncio.sleep(0.001)
            for consumer in consumers:
                consumer.cancel()
            await asyncio.gather(*consumers, return_exceptions=True)
        got.extend(ring.get_many(2).tolist())
        assert sorted(got) == put == list(range(1000))

        putter = None
        ring.put_many([1, 2])
        putter = asyncio.create_task(ring.aput(3))
        while not ring.counts().put_waits:
            await asyncio.sleep(0)
        putter.cancel()
        await asyncio.gather(putter, return_exceptions=True)
        assert ring.get_many(5).tolist() == [1, 2]

    asyncio.run(main())


def test_coroutines_meet_timeouts_and_shutdowns():
    ring = RingBuffer(2)

    async def main():
        with pytest.raises(RingEmpty):
            await ring.aget(timeout=0.01)
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(ring.aget(), 0.01)
        ring.put_many([1, 2])
        with pytest.raises(RingFull):
            await ring.aput(3, timeout=0.01)
        ring.get_many(2)
        getter = asyncio.create_task(ring.aget())
        await asyncio.sleep(0.01)
        ring.shutdown()
        with pytest.raises(RingShutDown):
            await getter

    asyncio.run(main())
