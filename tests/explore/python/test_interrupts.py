"""Ctrl-C while plain Python is explored: the exploration ends, and nothing is left behind."""

import ctypes
import gc
import itertools
import os
import signal
import sys
import threading

import pytest

pytest.importorskip("greenlet")

from latchfree_explore import CannotControl, explore_object, explore_threads
from latchfree_explore.python import watchdog
from latchfree_explore.python.program import Machine
from latchfree_explore.python.search.strategies import Reduced

LIBC = ctypes.CDLL(None)
LOCK = threading.Lock()
STATE = {"total": 0}
PRESSED = []  # how often Ctrl-C is still to be pressed


@pytest.fixture(autouse=True)
def _as_in_a_terminal():
    PRESSED.clear()  # what a schedule takes out is put back
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # workers of pytest ignore the signal
    yield
    signal.signal(signal.SIGINT, before)


class Counter:
    shared = 0

    def __init__(self):
        self.n = 0

    def add(self):
        Counter.shared += 1
        with LOCK:
            STATE["total"] += 1
            self.press()
            self.n += 1

    def press(self):
        for _ in range(PRESSED.pop() if PRESSED else 0):
            signal.raise_signal(signal.SIGINT)


PRESSING = """
class Pressing(Reduced):
    step = taken = 0
    def choose(self, run, enabled, last):
        self.taken += 1
        if self.taken == self.step:
            signal.raise_signal(signal.SIGINT)
        return super().choose(run, enabled, last)
"""


def at_step(step):
    """Have Ctrl-C pressed when a step is chosen; the class is of no module that is explored."""
    space = {"Reduced": Reduced, "signal": signal, "__name__": "latchfree_pressing"}
    exec(PRESSING, space)
    space["Pressing"].step = step
    return space["Pressing"]()


def nothing_is_left():
    assert STATE == {"total": 0}
    assert Counter.shared == 0
    assert not LOCK.locked()
    assert gc.isenabled()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert not any(name.startswith("_lf_") for name in Counter.add.__globals__)


@pytest.mark.parametrize("step", [1, 2, 3, 7, 15, 30, 60, 110, 250])
def test_ctrl_c_at_any_step_ends_the_search(step, monkeypatch):
    from latchfree_explore.python import exploring

    monkeypatch.setitem(exploring.PLANS, "dpor", lambda bound, seed: [(at_step(step), None)])
    try:
        result = explore_threads(Counter.add, Counter.add, Counter.add, setup=Counter, strategy="dpor", raises=False)
    except KeyboardInterrupt:
        assert step <= 60  # until the first schedule is done there is no result
    else:
        assert (result.interrupted, result.verdict) == (True, "unknown")
    nothing_is_left()


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_in_the_code_that_is_explored(times):
    PRESSED[:] = [times]
    with pytest.raises(KeyboardInterrupt):
        explore_threads(Counter.add, Counter.add, setup=Counter, strategy="dpor")
    nothing_is_left()


def test_ctrl_c_while_a_schedule_is_judged_waits_for_its_end():
    judged = []

    def check(counter):
        judged.append(counter.n)
        if len(judged) == 4:
            PRESSED.append(1)
            counter.press()
        assert counter.n == 2

    result = explore_threads(Counter.add, Counter.add, setup=Counter, check=check, strategy="dpor", raises=False)
    assert (result.interrupted, result.wrong, len(judged)) == (True, None, 4)
    nothing_is_left()


class Racy:
    def __init__(self):
        self.n = 0

    def add(self, k):
        before = self.n
        self.n = before + k
        return before


def interrupting(monkeypatch, at):
    """Have Ctrl-C pressed before the schedule of a number, counted from 1."""
    before = Machine.execute
    count = itertools.count(1)

    def execute(self, *given, **named):
        if next(count) == at:
            signal.raise_signal(signal.SIGINT)
        return before(self, *given, **named)

    monkeypatch.setattr(Machine, "execute", execute)


def test_ctrl_c_ends_a_search_that_is_to_raise(monkeypatch):
    interrupting(monkeypatch, 4)
    with pytest.raises(KeyboardInterrupt):
        explore_threads(Counter.add, Counter.add, Counter.add, setup=Counter, strategy="dpor")
    nothing_is_left()


def test_ctrl_c_ends_the_generated_programs(monkeypatch):
    pytest.importorskip("hypothesis")
    from latchfree_lincheck.testing import linearizable

    interrupting(monkeypatch, 4)
    with pytest.raises(KeyboardInterrupt):
        linearizable("counter", explore="gil", threads=2, operations=["add"], programs=10)(Racy)()


@pytest.mark.parametrize("at", [4, 5, 6, 7, 8, 9, 10])
def test_ctrl_c_after_a_failure_keeps_the_failure(monkeypatch, at):
    """The third schedule fails: then come those with few preemptions, the telling, and smaller scenarios."""
    interrupting(monkeypatch, at)
    result = explore_object(Racy, "add(1); add(1) | add(1)", model="counter", raises=False)
    assert (result.interrupted, result.verdict, result.wrong.kind) == (True, "violation", "not linearizable")
    assert result.steps
    assert [step.thread for step in result.steps] == result.wrong.choices


def test_ctrl_c_before_the_failure_is_shown_waits_and_a_second_one_ends_all(monkeypatch):
    before = Machine.execute
    left = []

    def execute(self, *given, telling=False, **named):
        if telling and left:
            left.pop()
            signal.raise_signal(signal.SIGINT)
        return before(self, *given, telling=telling, **named)

    monkeypatch.setattr(Machine, "execute", execute)
    left[:] = [1]
    result = explore_object(Racy, "add(1) | add(1)", model="counter", raises=False)
    assert (result.interrupted, result.verdict, len(result.steps)) == (True, "violation", 4)
    left[:] = [1, 2]
    with pytest.raises(KeyboardInterrupt):
        explore_object(Racy, "add(1) | add(1)", model="counter", raises=False)


def reads_a_pipe(counter):
    LIBC.read(PIPE[0], ctypes.create_string_buffer(1), 1)


PIPE = []


def test_a_call_that_waits_outside_in_another_thread_is_named(monkeypatch):
    """What is said on standard error ends the call here, so it is said while the call waits."""
    PIPE[:] = os.pipe()
    monkeypatch.setattr(watchdog, "PATIENCE", 2.0)
    try:
        with open(PIPE[1], "w", buffering=1, closefd=False) as said:
            monkeypatch.setattr(sys, "stderr", said)
            thread = threading.Thread(target=lambda: explore_threads(reads_a_pipe, setup=Counter, schedules=1))
            thread.start()
            thread.join()
            monkeypatch.undo()
        text = os.read(PIPE[0], 10_000).decode()
    finally:
        list(map(os.close, PIPE))
    assert "in reads_a_pipe: no step in 2 s; fix: " in text
    assert "explore in the main thread to have it ended" in text


def test_a_handler_of_the_program_stays():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        PRESSED[:] = [1]
        result = explore_threads(Counter.add, setup=Counter, strategy="dpor")
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    assert (result.verdict, result.interrupted) == ("ok", False)


def rounds_without_end(counter):
    for _ in range(10**12):
        pass


def waits_outside(counter):
    LIBC.usleep(100_000_000)


@pytest.mark.parametrize("body", [rounds_without_end, waits_outside])
def test_what_makes_no_step_is_named(body, monkeypatch):
    monkeypatch.setattr(watchdog, "PATIENCE", 3.0)
    with pytest.raises(CannotControl, match=rf"test_interrupts.py:\d+ in {body.__name__}: no step in"):
        explore_threads(body, body, setup=Counter)
    nothing_is_left()
