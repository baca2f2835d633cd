"""Loops that wait, and loops that get on though nothing of that is seen."""

import asyncio
import heapq
import io
import itertools
import math
import os
import queue
import re
import threading
import time
from collections import deque
from concurrent.futures import Future, wait

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


class Looked:
    def __init__(self):
        self.order = {"a": 1, "b": 2}
        self.flags, self.queue, self.heap, self.left = [0, 0], deque(), [], set()
        self.done, self.name = False, "state 0"

    def end(self):
        self.order = {"b": 2}
        self.flags[:] = 1, 1
        self.queue.append(1)
        heapq.heappush(self.heap, 1)
        self.left.add(2)
        self.done, self.name = True, "state 1"

    def asks_a_new_list(self):
        found = []
        found.append(self.done)
        return found[0]

    def keeps_a_new_list(self):
        while True:
            found = [self.done]
            if found[0]:
                return

    def keeps_a_new_dictionary(self):
        while True:
            found = dict(done=self.done)  # noqa: C408
            if found["done"]:
                return

    def keeps_what_is_sorted(self):
        while True:
            found = sorted(self.flags)
            if found[0]:
                return

    def pops(self, pop):
        while True:
            try:
                return pop()
            except (IndexError, KeyError):
                pass


def while_not(asks):
    def waits(it):
        while not asks(it):
            pass

    return waits


WAITS = {
    "a new list in a method": while_not(Looked.asks_a_new_list),
    "a new list in a variable": Looked.keeps_a_new_list,
    "a new dictionary in a variable": Looked.keeps_a_new_dictionary,
    "a sorted list in a variable": Looked.keeps_what_is_sorted,
    "the first key": while_not(lambda it: next(iter(it.order)) == "b"),
    "the first flag": while_not(lambda it: next((flag for flag in it.flags if flag), None)),
    "a match": while_not(lambda it: re.match("state 1", it.name)),
    "a product": while_not(lambda it: math.prod(it.flags)),
    "a map": while_not(lambda it: any(map(lambda flag: flag, it.flags))),  # noqa: C417
    "pairs": while_not(lambda it: all(a for a, _ in zip(it.flags, it.flags, strict=True))),
    "numbered flags": while_not(lambda it: min(enumerate(it.flags))[1]),
    "a deque": lambda it: it.pops(it.queue.popleft),
    "a list": lambda it: it.pops(it.heap.pop),
    "a heap": lambda it: it.pops(lambda: heapq.heappop(it.heap)),
    "a set": lambda it: it.pops(it.left.pop),
}


@pytest.mark.parametrize("switches", ["free", "gil"])
@pytest.mark.parametrize("name", WAITS)
def test_a_loop_that_makes_something_new_in_each_round_waits(name, switches):
    def ends(it):
        assert it.done in (0, 1)

    result = explore_threads(WAITS[name], Looked.end, setup=Looked, check=ends, switches=switches, strategy="dpor")
    assert (result.verdict, result.complete) == ("ok", True)
    alone = explore_threads(WAITS[name], setup=Looked, switches=switches, strategy="dpor", raises=False)
    assert alone.wrong.kind == "livelock"


def by_new_iterators_of_old_ones():
    numbers, others = iter([0] * 4), iter([[0]] * 4)
    while next(map(str, numbers), None):
        pass
    while next(zip(others, [0], strict=False), None):
        pass


def by_iterators_in_a_list():
    both = [iter([1] * 3), iter([1] * 3)]
    while sum(map(next, both, [0, 0])):
        pass


def by_old_generators():
    numbers = [(n for n in range(2)) for _ in range(3)]
    at = 0
    while at < 3:
        if next(numbers[at], None) is None:
            at += 1


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
    by_new_iterators_of_old_ones, by_iterators_in_a_list, by_old_generators,
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


class Permits:
    def __init__(self, kind=threading.Semaphore):
        self.permits = kind(1)
        self.permits.acquire()

    def poll(self):
        while not self.permits.acquire(blocking=False):
            pass

    def release(self):
        self.permits.release()


def polls_a_future(future):
    while not future.done():
        pass


def polls_whether_it_runs(future):
    while future.running() or not future.done():
        pass


def completes(future):
    future.set_running_or_notify_cancel()
    future.set_result(1)


def polls_their_number():
    before = threading.active_count()
    threading.Thread(target=int).start()
    while threading.active_count() > before:
        pass


@pytest.mark.parametrize("switches", ["free", "gil"])
@pytest.mark.parametrize(
    ("threads", "setup"),
    [
        ([Permits.poll, Permits.release], Permits),
        ([Permits.poll, Permits.release], lambda: Permits(threading.BoundedSemaphore)),
        ([polls_a_future, completes], Future),
        ([polls_whether_it_runs, completes], Future),
        ([polls_their_number], None),
    ],
)
def test_a_loop_that_polls_the_library_waits(threads, setup, switches):
    ends = explore_threads(*threads, setup=setup, switches=switches, strategy="dpor")
    assert (ends.verdict, ends.complete) == ("ok", True)


class Waits:
    def __init__(self):
        self.event, self.condition, self.permits, self.future = (
            threading.Event(), threading.Condition(), threading.Semaphore(0), Future(),
        )  # fmt: skip

    def polls_the_event(self):
        while not self.event.wait(0):
            pass

    def polls_the_condition(self):
        while not self.event.is_set():
            with self.condition:
                self.condition.wait(0)

    def polls_a_permit(self):
        while not self.permits.acquire(timeout=0):
            pass

    def polls_for_a_result(self):
        while True:
            try:
                return self.future.result(timeout=0)
            except TimeoutError:
                pass

    def polls_futures(self):
        while wait([self.future], timeout=0).not_done:
            pass

    def ends(self):
        self.event.set()
        self.permits.release()
        self.future.set_result(1)


@pytest.mark.parametrize("switches", ["free", "gil"])
@pytest.mark.parametrize(
    "polls",
    [
        Waits.polls_the_event,
        Waits.polls_the_condition,
        Waits.polls_a_permit,
        Waits.polls_for_a_result,
        Waits.polls_futures,
    ],
)
def test_a_loop_that_waits_no_time_waits(polls, switches):
    ends = explore_threads(polls, Waits.ends, setup=Waits, switches=switches, strategy="dpor")
    assert (ends.verdict, ends.complete) == ("ok", True)


def test_a_loop_that_keeps_the_lock_of_a_condition_waits_where_it_gives_the_lock_back():
    def polls(condition):
        with condition:
            while not condition.wait(0):
                pass

    def notifies(condition):
        with condition:
            condition.notify()

    seen = explore_threads(polls, notifies, setup=threading.Condition, strategy="dpor", raises=False)
    assert seen.wrong.kind == "endless"  # where the notify comes first

    def polls_a_flag(it):
        with it.condition:
            while not it.permits.acquire(blocking=False):
                it.condition.wait(0)

    def sets_the_flag(it):
        with it.condition:
            it.permits.release()

    assert explore_threads(polls_a_flag, sets_the_flag, setup=Waits, strategy="dpor").complete


def test_a_loop_with_an_end_that_touches_nothing_shared_may_be_long():
    def long():
        rounds = 0
        while rounds < 150_000:
            rounds += 1

    result = explore_threads(long, strategy="dpor", raises=False)
    assert (result.verdict, result.complete) == ("ok", True)
