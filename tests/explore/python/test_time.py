"""Virtual time: deadlines that have passed, and deadlines that pass while others could still go on."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

import pytest

pytest.importorskip("greenlet")

import shared_objects as so

from latchfree_explore import explore_threads


def explored(*threads, **options):
    return explore_threads(*threads, raises=False, strategy="dpor", **options)


def adds_later(counter):
    time.sleep(1)
    counter.increment()


def test_threads_that_sleep_equally_long_go_on_in_any_order():
    result = explored(adds_later, adds_later, setup=so.Counter, check=lambda it: it.n == 2)
    assert result.wrong.kind == "invariant", result.explain()


def test_who_wakes_later_finds_everything_done():
    def adds_much_later(counter):
        time.sleep(2)
        counter.increment()

    result = explored(adds_later, adds_much_later, setup=so.Counter, check=lambda it: it.n == 2)
    assert result.verdict == "ok"
    assert result.complete


def test_a_deadline_may_pass_early_if_asked():
    result = explored(adds_later, lambda it: it.increment(), setup=so.Counter, check=lambda it: it.n == 2)
    assert result.verdict == "ok"
    result = explored(adds_later, lambda it: it.increment(), setup=so.Counter, check=lambda it: it.n == 2, timeouts=1)
    assert result.wrong.kind == "invariant"
    with pytest.raises(ValueError, match="timeouts must be at least 0, got -1"):
        explored(adds_later, setup=so.Counter, timeouts=-1)


class Number:
    """A number of a class of its own, which says when it is looked at."""

    def __init__(self):
        self.looks = 0

    def __index__(self):
        self.looks += 1
        return 1

    def __bool__(self):
        raise AssertionError("looked at while the threads run")


def test_numbers_are_read_before_the_threads_run():
    number = Number()
    result = explored(adds_later, lambda it: it.increment(), setup=so.Counter, check=lambda it: it, timeouts=number)
    assert (result.verdict, number.looks) == ("ok", 1)
    for name in ("timeouts", "schedules", "bound", "seed"):
        with pytest.raises(TypeError, match=f"{name} must be a whole number, got str"):
            explored(adds_later, setup=so.Counter, **{name: "1"})


class Patient:
    def __init__(self):
        self.lock = threading.Lock()
        self.got = []

    def hold(self):
        with self.lock:
            self.got.append("held")

    def try_a_while(self):
        if self.lock.acquire(timeout=1):
            self.lock.release()
        else:
            self.got.append("late")


def never_late(it):
    return "late" not in it.got


def test_a_wait_for_a_lock_ends_early_if_asked():
    threads = [lambda it: it.hold(), lambda it: it.try_a_while()]
    assert explored(*threads, setup=Patient, check=never_late).complete
    assert explored(*threads, setup=Patient, check=never_late, timeouts=1).verdict == "violation"


def cancels_in_time():
    """The timer looks whether it was cancelled, and then calls: in between it may be cancelled in vain."""
    said = []
    timer = threading.Timer(1, lambda: said.append("called"))
    timer.start()
    time.sleep(1)
    timer.cancel()
    before = len(said)
    timer.join()
    assert len(said) == before


@pytest.mark.parametrize("switches", ["free", "gil"])
def test_a_timer_may_call_after_it_was_cancelled(switches):
    assert explored(cancels_in_time, switches=switches).wrong.kind == "exception"


def until_it_is_over():
    condition, end = threading.Condition(), time.monotonic() + 0.1
    with condition:
        while (left := end - time.monotonic()) >= 0:
            condition.wait(left)


def as_one_is_completed(limit):
    event = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(event.wait)
        with pytest.raises(TimeoutError):
            list(as_completed([future], timeout=limit))
        event.set()


@pytest.mark.parametrize("waits", [until_it_is_over, lambda: as_one_is_completed(1), lambda: as_one_is_completed(0)])
@pytest.mark.parametrize("switches", ["free", "gil"])
def test_a_wait_that_has_timed_out_is_over(waits, switches):
    assert explored(waits, switches=switches).complete
