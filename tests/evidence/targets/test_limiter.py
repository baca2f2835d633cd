"""The rate limiter under the explorer: every interleaving of small scenarios; kernels wrong on purpose are found."""

from dataclasses import replace

import numpy as np
import pytest

from latchfree.atomics import load, store
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word
from latchfree.limiting.kernels import bucket
from latchfree_evidence.exploring import explore
from latchfree_evidence.targets.limiter import RATE_LIMITER
from latchfree_explore.target import Operation

CLOCK = np.uint64(8)
SPAN = np.uint64(2)

SCENARIOS = [
    "acquire(2) | acquire(1)",
    "acquire(1) | acquire(1) | acquire(1)",
    "acquire(1); acquire(2) | tick; tick | acquire(2)",
    "init: acquire(2) | tick; acquire(1) | acquire(1); acquire(1)",
]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_interleaving_is_linearizable(scenario):
    result = explore(RATE_LIMITER, scenario=scenario, timeout=600)
    assert (result.verdict, result.complete) == ("ok", True), result.reason


def test_random_scenarios():
    assert explore("rate-limiter", seed=5, schedules=2_000).verdict == "ok"


@kernel
def takes_in_two_steps(mem: Handle, word: Word, thread: Word, tokens: Word) -> Flag:
    """K1: a store for the compare-and-swap."""
    now, seen = load(mem, word + CLOCK), load(mem, word)
    if bucket.refuses(seen, np.uint64(tokens), SPAN, now):
        return False
    store(mem, word, max(seen, now) + np.uint64(tokens))
    return True


@kernel
def looks_at_the_clock_once(mem: Handle, word: Word, thread: Word, tokens: Word) -> Flag:
    """K2: a refusal by a time that may be long past."""
    return bucket.take(mem, word, np.uint64(tokens), SPAN, load(mem, word + CLOCK)) == bucket.GRANTED


@kernel
def saves(mem: Handle, word: Word, thread: Word, tokens: Word) -> Flag:
    """K3: the word is not brought up to the time."""
    now, seen = load(mem, word + CLOCK), load(mem, word)
    if seen + np.uint64(tokens) > now + SPAN:
        return False
    store(mem, word, seen + np.uint64(tokens))
    return True


WRONG = {
    "K1": (takes_in_two_steps, "acquire(2) | acquire(1)", "acquire(2); acquire(1)"),
    "K2": (looks_at_the_clock_once, "acquire(1) | tick; acquire(1)", "tick; acquire(1); acquire(1)"),
    "K3": (saves, "tick; acquire(2); acquire(1)", "acquire(2); acquire(1)"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name):
    acquire, scenario, alone = WRONG[name]
    target = replace(RATE_LIMITER, operations={**RATE_LIMITER.operations, "acquire": Operation(acquire, bool)})
    result = explore(target, scenario=scenario, timeout=600)
    assert result.verdict == "violation"
    assert result.failure.kind == "not linearizable"
    assert explore(target, scenario=alone).verdict == "ok"
