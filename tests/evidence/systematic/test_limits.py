"""A mutant hangs after a number of steps, however fast the machine is; who is killed from outside gives no verdict."""

import ctypes
import os
import signal

import pytest

from latchfree.words import bits_below, tail_word
from latchfree_evidence.systematic import limits
from latchfree_evidence.systematic.judging import judged
from latchfree_evidence.systematic.layers import Cover
from latchfree_evidence.systematic.limits import Hang, allow, refill, step, taken
from latchfree_evidence.systematic.plain.world import World


@pytest.fixture(autouse=True)
def _no_limit_is_left():
    yield
    allow(0)


def test_the_last_step_raises():
    allow(3)
    step()
    step()
    with pytest.raises(Hang, match="steps"):
        step()
    allow(0)
    for _ in range(10):
        step()
    assert taken() == 10
    allow(2)
    step()
    refill()
    step()
    assert taken() == 1


def test_the_begin_of_a_kernel_is_a_step():
    world = World()
    allow(0)
    world[bits_below](5)
    assert taken() == 1


def test_rounds_are_counted():
    made, text = World()[tail_word], ctypes.create_string_buffer(b"abcdefg")
    allow(0)
    made(ctypes.addressof(text), 5)
    assert taken() == 6


def test_code_without_steps_ends_by_processor_time(monkeypatch):
    def spin():
        while True:
            pass

    monkeypatch.setattr(limits, "_SECONDS", 0.01)
    allow(1)
    with pytest.raises(Hang, match="processor time"):
        spin()


def test_a_hang_tells_its_limit():
    def layer(group, replaced):
        allow(5)
        while True:
            step()

    verdict = judged({"sequential": layer}, "ring", {})
    assert (verdict.layer, verdict.how, verdict.detail) == ("sequential", "hang", "steps")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_who_is_killed_from_outside_gives_no_verdict(number):
    with pytest.raises(ChildProcessError, match="--resume"):
        judged({"sequential": lambda group, replaced: os.kill(os.getpid(), number)}, "ring", {})


def test_who_crashes_gives_one():
    verdict = judged({"sequential": lambda group, replaced: os.kill(os.getpid(), signal.SIGUSR1)}, "ring", {})
    assert verdict.how == "crash"


def test_a_trial_that_takes_few_steps_has_room_for_more():
    assert Cover(frozenset(), 0).most > 10_000
    assert Cover(frozenset(), 10**6).most >= 4 * 10**6
