"""Obstruction freedom in weak memory: a thread that is stuck in a schedule that the model forbids is no failure."""

from types import MappingProxyType

import numpy as np
import pytest

from latchfree.atomics import exchange, fence, load, load_seq, pause, store
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree_explore import Target, explore
from latchfree_model import Call, SequentialModel

_0, _1 = np.uint64(0), np.uint64(1)
_RIGHT, _LEFT_MISSED, _RIGHT_MISSED = np.uint64(8), np.uint64(16), np.uint64(24)


@kernel
def setup(mem: Handle, threads: Word) -> Word:
    return np.uint64(64)


@kernel
def left(mem: Handle, at: Word, thread: Word) -> None:
    store(mem, at, _1)
    fence(mem)
    if load(mem, at + _RIGHT) == _0:
        store(mem, at + _LEFT_MISSED, _1)


@kernel
def right(mem: Handle, at: Word, thread: Word) -> None:
    exchange(mem, at + _RIGHT, _1)
    if load_seq(mem, at) == _0:
        store(mem, at + _RIGHT_MISSED, _1)


@kernel
def both(mem: Handle, at: Word, thread: Word) -> None:
    """Wait for ever if both have missed the other: a fence and an exchange that did not see each other."""
    while load(mem, at + _LEFT_MISSED) == _1 and load(mem, at + _RIGHT_MISSED) == _1:
        pause(mem)


@kernel
def right_for_a_while(mem: Handle, at: Word, thread: Word) -> None:
    store(mem, at + _RIGHT_MISSED, _1)
    store(mem, at + _RIGHT_MISSED, _0)


@kernel
def missed(mem: Handle, at: Word, thread: Word) -> None:
    """Wait for the other one, which has nothing to wait for."""
    while load(mem, at + _RIGHT_MISSED) == _1:
        pause(mem)


class Nothing(SequentialModel[int]):
    """Every operation returns 0."""

    name = "nothing"
    operations = MappingProxyType({"left": 0, "right": 0, "right_for_a_while": 0, "both": 0, "missed": 0})

    def init(self) -> int:
        return 0

    def apply(self, state: int, call: Call) -> tuple[object, int]:
        return 0, state


KERNELS = {"left": left, "right": right, "right_for_a_while": right_for_a_while, "both": both, "missed": missed}
PACT = Target("pact", Nothing(), KERNELS, setup, 128)


def test_a_search_goes_on_after_a_stuck_thread_that_is_forbidden() -> None:
    result = explore(PACT, scenario="left; both | right", memory="rc11", progress=True, timeout=300)
    assert (result.verdict, result.complete) == ("ok", True)
    assert result.forbidden > 0
    # The schedules are those that the search runs without the question.
    assert result.schedules == explore(PACT, scenario="left; both | right", memory="rc11").schedules


def test_so_does_a_random_one() -> None:
    result = explore(
        PACT, scenario="left; both | right", memory="rc11", progress=True, strategy="random", schedules=400, seed=4
    )
    assert (result.failure, result.schedules) == (None, 400)
    assert result.forbidden > 0


@pytest.mark.parametrize("memory", ["sc", "rc11"])
def test_a_thread_that_the_model_lets_be_stuck_is_found(memory: str) -> None:
    result = explore(PACT, scenario="missed | right_for_a_while", memory=memory, progress=True)
    assert result.failure is not None
    assert (result.failure.kind, memory in result.failure.models) == ("not obstruction-free", True)
