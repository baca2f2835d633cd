"""Ctrl-C ends an exploration; what it interrupts is never taken for a result."""

from dataclasses import dataclass

import pytest

from latchfree_explore import Target, explore
from latchfree_explore.examples.counter import COUNTER, LOST_UPDATE
from latchfree_explore.examples.treiber import TREIBER

LONG = "push(1); pop; pop | push(2); pop; pop | push(3); pop; pop"


def press(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize("strategy", ["dpor", "bounded", "random", "pct"])
def test_in_a_report(strategy):
    result = explore(TREIBER, scenario=LONG, strategy=strategy, on_progress=press)
    assert (result.verdict, result.interrupted, result.complete) == ("unknown", True, False)
    assert result.reason == "interrupted; nothing wrong so far"
    assert result.failure is None
    assert result.schedules > 0
    assert result.scenarios == 1


def test_in_a_report_of_minimising():
    def press_later(schedules, scenarios, what):
        if what.startswith("minimising"):
            raise KeyboardInterrupt

    result = explore(LOST_UPDATE, scenario="increment; increment | increment; read | read", on_progress=press_later)
    assert (result.verdict, result.interrupted) == ("violation", True)
    assert result.failure is not None


@dataclass(frozen=True)
class Pressed(Target):
    """A target while whose memory is prepared Ctrl-C is pressed, as it may be while something is compiled."""

    after: int = 0

    def prepare(self, threads, keys):
        prepared.append(keys)
        if len(prepared) > self.after:
            raise KeyboardInterrupt
        return super().prepare(threads, keys)


prepared = []


@pytest.fixture(autouse=True)
def _nothing_prepared():
    prepared.clear()


def test_before_anything_has_run():
    target = Pressed("counter", COUNTER.model, COUNTER.operations)
    with pytest.raises(KeyboardInterrupt):
        explore(target, scenario="increment | increment")


def test_between_two_scenarios():
    target = Pressed("counter", COUNTER.model, COUNTER.operations, after=2)
    result = explore(target, schedules=100_000)
    assert (result.verdict, result.interrupted, result.scenarios) == ("unknown", True, 2)


def test_another_exception_of_a_report_is_the_callers():
    def fail(*_):
        raise OSError("the terminal is gone")

    with pytest.raises(OSError, match="the terminal is gone"):
        explore(TREIBER, scenario=LONG, on_progress=fail)
