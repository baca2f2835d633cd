"""Lesson 12: stores that wait. Replace the bodies of `send`, `receive` and `enter`."""

from types import MappingProxyType

import numpy as np

from latchfree import kernel
from latchfree.atomics import cas, fetch_add, load, pause, peek, poke, store
from latchfree_explore import Operation, Target
from latchfree_model import Call, SequentialModel

ZERO = np.uint64(0)
ONE = np.uint64(1)
DATA = np.uint64(8)  # the message
READY = np.uint64(9)  # 1 when the message is there
WANTS = np.uint64(10)  # two words: whether thread 0, and whether thread 1, wants to enter
EMPTY = -1

LAST = np.uint64(12)
INSIDE = np.uint64(16)
FENCES = np.uint64(17)
BUFFERS = np.uint64(32)  # for each thread and each word a store that waits, with the bit WAITS, or 0
BUFFER_EACH = np.uint64(8)
WAITS = np.uint64(1 << 32)


@kernel
def buffer(thread, at):
    """Return where a thread's store to a word waits."""
    return BUFFERS + np.uint64(thread) * BUFFER_EACH + (np.uint64(at) - DATA)


@kernel
def put(mem, thread, at, value):
    """Store a value into a word: this thread sees it at once, the others when it is delivered."""
    store(mem, buffer(thread, at), WAITS | np.uint64(value))


@kernel
def get(mem, thread, at):
    """Return what this thread sees in a word: its own store, if one waits, else what memory holds."""
    waiting = load(mem, buffer(thread, at))
    return waiting & ~WAITS if waiting != ZERO else load(mem, np.uint64(at))


@kernel
def deliver(mem, root, thread, sender, at):
    """Deliver the store of a thread to a word, if one waits. This is what memory does, when it likes."""
    place = buffer(sender, at)
    waiting = load(mem, place)
    if waiting != ZERO:
        store(mem, np.uint64(at), waiting & ~WAITS)
        cas(mem, place, waiting, ZERO)


@kernel
def settle(mem, thread):
    """Deliver everything that waits for a thread."""
    for k in range(LAST - DATA):
        deliver(mem, ZERO, thread, thread, DATA + np.uint64(k))


@kernel
def fence(mem, thread):
    """Wait until all stores of this thread have been delivered. A fence takes as long as a hundred additions."""
    settle(mem, thread)
    fetch_add(mem, FENCES, ONE)


@kernel
def send(mem, root, thread, value):
    """Send a message: DATA, then READY."""
    put(mem, thread, DATA, value)


@kernel
def receive(mem, root, thread):
    """Return the message if it is there, else EMPTY; never half of it."""
    return EMPTY


@kernel
def enter(mem, root, thread):
    """Say that this thread, 0 or 1, wants to enter; return whether the other one does not."""
    return True


@kernel
def enter_once(mem, root, thread):
    """Enter, and count who is inside."""
    if enter(mem, root, thread):
        fetch_add(mem, INSIDE, ONE)


@kernel
def settled(mem, root, thread):
    """Deliver what waits for threads 0 and 1, and then receive."""
    for other in range(2):
        settle(mem, np.uint64(other))
    return receive(mem, root, thread)


@kernel
def inside(mem, root, thread):
    """Return how many are inside."""
    return load(mem, INSIDE)


@kernel
def fences(mem, root, thread):
    """Return how many fences there have been."""
    return load(mem, FENCES)


class WeakModel(SequentialModel[tuple[int, int, int]]):
    """A message of the value 7, sent once, and a door for one. The state: sent, entered, fences needed."""

    name = "message-and-door"
    operations = MappingProxyType({
        "send": 1, "receive": 0, "enter": 0, "deliver": 2, "settled": 0, "inside": 0, "alone": 0, "fences": 0,
    })  # fmt: skip

    def init(self):
        """Return the state at the beginning."""
        return (0, 0, 0)

    def apply(self, state, call: Call):
        """Return the result that a call must have, and the next state."""
        sent, entered, needed = state
        if call.f == "send":
            return None, (call.arguments[0], entered, needed + 1)
        if call.f == "enter":
            return None, (sent, entered + 1, needed + 1)
        answers = {
            "receive": "whole or nothing",
            "settled": sent or None,
            "inside": "at most one",
            "alone": min(entered, 1),
            "fences": needed,
        }
        return answers.get(call.f), state

    def matches(self, call: Call, expected: object):
        """Return whether a result is right; fewer fences are welcome."""
        return call.result <= expected if call.f == "fences" else call.result == expected


def nothing(word):
    """Say that an operation returns nothing."""
    return


def whole(word):
    """Return what a message is: the 7 that was sent, or EMPTY, is fine."""
    return "whole or nothing" if word in (EMPTY, 7) else f"torn: {word}"


def value_or_none(word):
    """Return a message, None for EMPTY."""
    return None if word == EMPTY else word


def at_most_one(word):
    """Return whether at most one is inside."""
    return "at most one" if word <= 1 else f"{word} inside"


WEAK = Target(
    "weak-memory",
    WeakModel(),
    {
        "send": Operation(send, nothing),
        "receive": Operation(receive, whole),
        "enter": Operation(enter_once, nothing),
        "deliver": Operation(deliver, nothing),
        "settled": Operation(settled, value_or_none),
        "inside": Operation(inside, at_most_one),
        "alone": Operation(inside),
        "fences": Operation(fences),
    },
)
