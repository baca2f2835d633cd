"""Loops that wait, and loops that get on though nothing of that is seen."""

import asyncio
import io
import itertools
import os
import queue
import threading
import time

import pytest

pytest.importorskip("greenlet")

from latchfree_explore import explore_async, explore_threads


class Shared:
    def __init__(self):
        self.ready = False
        self.lock = threading.Lock()
        self.queue = queue.Queue()

    def set(self):
        with self.lock:
            self.ready = True
        self.queue.put(1)

    def ask_under_the_lock(self):
        while True:
            with self.lock:
                if self.ready:
                    return

    def ask_the_queue(self):
        while self.queue.empty():
            pass


@pytest.mark.parametrize("switches", ["free", "gil"])
@pytest.mark.parametrize("wait", [Shared.ask_under_the_lock, Shared.ask_the_queue])
def test_a_loop_that_gives_back_its_locks_waits(wait, switches):
    ends = explore_threads(wait, Shared.set, setup=Shared, switches=switches, strategy="dpor")
    assert (ends.verdict, ends.complete) == ("ok", True)
    assert ends.schedules < 10
    alone = explore_threads(wait, setup=Shared, switches=switches, strategy="dpor", raises=False)
    assert alone.wrong.kind == "livelock"


@pytest.mark.parametrize("wait", [Shared.ask_under_the_lock, Shared.ask_the_queue])
def test_two_loops_under_one_lock_do_not_wake_each_other(wait):
    result = explore_threads(wait, wait, setup=Shared, strategy="dpor", raises=False)
    assert result.wrong.kind == "livelock"
    assert explore_threads(wait, wait, Shared.set, setup=Shared, strategy="dpor", raises=False).verdict == "ok"


def test_a_loop_that_keeps_a_lock_is_no_mere_repetition():
    def takes(locks):
        while any(not lock.locked() for lock in locks):
            next(lock for lock in locks if not lock.locked()).acquire()

    assert explore_threads(takes, setup=lambda: [threading.Lock() for _ in range(3)], strategy="dpor").complete


def by_hand():
    async def answers():
        return [await asyncio.sleep(0, number) for number in range(3)]

    coroutine, found = answers(), None
    while True:
        try:
            coroutine.send(None)
        except StopIteration as end:
            found = end.value
            break
    assert found == [0, 1, 2]


def of_a_generator():
    numbers = (number for number in range(3))
    while True:
        try:
            next(numbers)
        except StopIteration:
            return


def of_a_pipe():
    read, write = os.pipe()
    os.write(write, b"abc")
    os.close(write)
    while os.read(read, 1):
        pass
    os.close(read)


def by_a_sum():
    numbers = iter([1] * 5)
    while sum(itertools.islice(numbers, 2)):
        pass


def by_a_dictionary():
    pairs = iter([(1, 0)] * 5)
    while dict(itertools.islice(pairs, 1)):
        pass


def by_any():
    numbers = iter([True] * 5)
    while any(numbers):
        pass


def by_a_search():
    numbers = iter([0] * 5)
    while 0 in numbers:
        pass


def by_a_loop():
    numbers = iter([0, 0, 1])
    while True:
        for number in numbers:  # noqa: B007
            break
        if number:
            return


def of_a_generator_that_is_sliced():
    numbers = (1 for _ in range(4))
    while sum(itertools.islice(numbers, 1)):
        pass


def of_a_file():
    lines = io.StringIO("a\n" * 4)
    while lines.readline():
        pass


def by_the_clock():
    end = time.monotonic() + 1
    while time.monotonic() < end:
        pass


def by_the_clock_that_is_kept():
    end = time.monotonic() + 1
    while True:
        now = time.monotonic()
        if now >= end:
            return


LOOPS = [
    by_hand, of_a_generator, of_a_pipe, by_a_sum, by_a_dictionary, by_any, by_a_search, by_a_loop,
    of_a_generator_that_is_sliced, of_a_file, by_the_clock, by_the_clock_that_is_kept,
]  # fmt: skip


@pytest.mark.parametrize("switches", ["free", "gil"])
@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_that_gets_on_by_its_calls_ends(loop, switches):
    assert explore_threads(loop, switches=switches, strategy="dpor").verdict == "ok"


@pytest.mark.parametrize("clock", [time.monotonic, lambda: asyncio.get_running_loop().time()])
def test_a_coroutine_that_looks_at_the_clock_until_it_is_time_ends(clock):
    async def main():
        sleeps = asyncio.create_task(asyncio.sleep(0.5))
        await asyncio.sleep(0)
        end = clock() + 1
        while clock() < end:
            assert not sleeps.done()

    assert explore_async(main, strategy="dpor").verdict == "ok"
