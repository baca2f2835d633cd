"""Slots of an arena under the explorer: every order of claiming, releasing, adopting and dying of small openings.

The kernel's lock of an opening is a word of memory here. A call that uses a slot says whether anybody disturbed it.
"""

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest

from latchfree.arena.kernels.participants import FREE, adopt, claim, release
from latchfree.arena.layout import (
    H_PARTICIPANT_COUNT,
    IDENTITY_SHIFT,
    P_PIN,
    P_STATE,
    PARTICIPANT_WORDS,
    PARTICIPANTS,
)
from latchfree.atomics import exchange, load, poke, store
from latchfree.jit import kernel
from latchfree_explore import Target, explore
from latchfree_model import SequentialModel

SLOTS = 2

_0 = np.uint64(0)
_1 = np.uint64(1)
_2 = np.uint64(2)
_NO_SLOT = np.uint64(2)
_DISTURBED = np.uint64(3)
_COUNT = np.uint64(SLOTS)
_TABLE = np.uint64(PARTICIPANTS)
_STRIDE = np.uint64(PARTICIPANT_WORDS)
_LOCKS = np.uint64(PARTICIPANTS + SLOTS * PARTICIPANT_WORDS)


@kernel
def prepare(mem, threads):
    """Make two free slots and eight openings that live."""
    poke(mem, H_PARTICIPANT_COUNT, _COUNT)
    for who in range(8):
        poke(mem, _LOCKS + np.uint64(who), _1)
    return _0


@kernel
def _word(who, number):
    return np.uint64(who) << IDENTITY_SHIFT | number


@kernel
def use(mem, root, thread, who):
    """Claim a slot, pin, look whether slot and pin are still ours, unpin and release."""
    word = _word(who, _1)
    slot = claim(mem, word)
    if slot == _0:
        return _NO_SLOT
    exchange(mem, slot + P_PIN, word)
    undisturbed = load(mem, slot + P_STATE) == word and load(mem, slot + P_PIN) == word
    store(mem, slot + P_PIN, _0)
    return _1 if release(mem, slot, word) and undisturbed else _DISTURBED


@kernel
def use_twice(mem, root, thread, who):
    """Use a slot and, like a finalizer that comes late, release the slot of the first claim once more."""
    word = _word(who, _1)
    slot = claim(mem, word)
    if slot == _0:
        return _NO_SLOT
    release(mem, slot, word)
    return _DISTURBED if release(mem, slot, word) else _1


@kernel
def use_twice_by_store(mem, root, thread, who):
    """Do the same, but by a plain store."""
    word = _word(who, _1)
    slot = claim(mem, word)
    if slot == _0:
        return _NO_SLOT
    release(mem, slot, word)
    store(mem, slot + P_STATE, FREE)  # wrong: the slot may be another one's by now
    return _1


@kernel
def die(mem, root, thread, who):
    """Claim a slot, pin, and be killed: the kernel gives the lock back."""
    slot = claim(mem, _word(who, _1))
    if slot != _0:
        exchange(mem, slot + P_PIN, _1)
    store(mem, _LOCKS + np.uint64(who), _0)
    return _1


@kernel
def adopt_dead(mem, root, thread, who):
    """Adopt all slots of openings that have no lock; be killed in the midst of nothing."""
    for k in range(_COUNT):
        slot = _TABLE + np.uint64(k) * _STRIDE
        state = load(mem, slot + P_STATE)
        owner = state >> IDENTITY_SHIFT
        if state != FREE and owner != np.uint64(who) and load(mem, _LOCKS + owner) == _0:
            adopt(mem, slot, state, _word(who, _2))
    return _1


@kernel
def adopt_unknown(mem, root, thread, who):
    """Adopt without an answer of the kernel, as if no answer meant death."""
    for k in range(_COUNT):
        slot = _TABLE + np.uint64(k) * _STRIDE
        state = load(mem, slot + P_STATE)
        if state != FREE and state >> IDENTITY_SHIFT != np.uint64(who):
            adopt(mem, slot, state, _word(who, _2))
    return _1


@kernel
def close_process(mem, root, thread, who):
    """Release every slot of an identity, as if the identity were a process that has one opening only."""
    for k in range(_COUNT):
        slot = _TABLE + np.uint64(k) * _STRIDE
        state = load(mem, slot + P_STATE)
        if state >> IDENTITY_SHIFT == np.uint64(who):
            release(mem, slot, state)
    return _1


@kernel
def all_free(mem, root, thread):
    """Return 1 if all slots are free and without a pin."""
    for k in range(_COUNT):
        slot = _TABLE + np.uint64(k) * _STRIDE
        if load(mem, slot + P_STATE) != FREE or load(mem, slot + P_PIN) != _0:
            return _DISTURBED
    return _1


class Undisturbed(SequentialModel):
    """Every call goes its way: it gets a slot or none, and nobody disturbs it."""

    name = "undisturbed"
    operations = MappingProxyType({"use": 1, "late": 1, "die": 1, "adopt": 1, "close": 1, "free": 0})

    def init(self):
        """Nothing to know."""
        return 0

    def apply(self, state, call):
        """Return the result seen, unless the call was disturbed."""
        return (1 if call.result == int(_DISTURBED) else call.result), state


RIGHT = Target(
    "slots",
    Undisturbed(),
    {"use": use, "late": use_twice, "die": die, "adopt": adopt_dead, "close": close_process, "free": all_free},
    prepare,
    size=int(_LOCKS) + 8,
)

SCENARIOS = [
    "use(1) | use(2) | after: free",
    "late(1) | use(2) | after: free",
    "late(1); use(1) | late(2) | after: free",
    "die(1) | adopt(2) | after: adopt(2); free",
    "init: die(1) | use(2) | adopt(3) | after: free",
    "init: die(1) | adopt(2); use(2) | adopt(3); use(3) | after: free",
]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_nobody_is_disturbed_and_everything_comes_back(scenario):
    result = explore(RIGHT, scenario=scenario, timeout=600)
    assert (result.verdict, result.complete) == ("ok", True), result.reason


@pytest.mark.parametrize(
    ("wrong", "scenario"),
    [
        # Mutant O5: a plain store frees the slot of the next owner.
        ({"late": use_twice_by_store}, "late(1) | use(2)"),
        # Mutant O2: no answer counts as a death.
        ({"adopt": adopt_unknown}, "use(1) | adopt(2)"),
        # Mutant O1: two openings of process 1; one closes, and the other one is in the midst of a call.
        ({}, "use(1) | close(1)"),
    ],
    ids=["O5", "O2", "O1"],
)
def test_wrong_owners_are_found(wrong, scenario):
    target = replace(RIGHT, operations={**RIGHT.operations, **wrong})
    failure = explore(target, scenario=scenario, timeout=600).failure
    assert failure is not None
    assert "use(" in failure.message
    assert failure.context_switches <= 3  # dpor finds some failing order, not the shortest
