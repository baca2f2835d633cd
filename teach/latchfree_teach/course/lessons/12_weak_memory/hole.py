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
FOREIGN = np.uint64(18)  # 1 when a thread has used what is not its own
RUNS = np.uint64(20)  # for each thread, whether an operation of it runs
NOT_YOURS = -2
BUFFERS = np.uint64(32)  # for each thread and each word a store that waits, with the bit WAITS, or 0
BUFFER_EACH = np.uint64(8)
WAITS = np.uint64(1 << 32)


@kernel
def buffer(thread, at):
    """Return where a thread's store to a word waits."""
    return BUFFERS + np.uint64(thread) * BUFFER_EACH + (np.uint64(at) - DATA)


@kernel
def look(mem, thread, at):
    """Note if a thread passes the number of another one, which runs nothing, or a word other than the four."""
    if peek(mem, RUNS + np.uint64(thread)) == ZERO or np.uint64(at) < DATA or np.uint64(at) >= LAST:
        poke(mem, FOREIGN, ONE)


@kernel
def put(mem, thread, at, value):
    """Store a value into a word: this thread sees it at once, the others when it is delivered."""
    look(mem, thread, at)
    store(mem, buffer(thread, at), WAITS | np.uint64(value))


@kernel
def get(mem, thread, at):
    """Return what this thread sees in a word: its own store, if one waits, else what memory holds."""
    look(mem, thread, at)
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
    look(mem, thread, DATA)
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
def send_once(mem, root, thread, value):
    """Send a message."""
    poke(mem, RUNS + thread, ONE)
    send(mem, root, thread, value)
    poke(mem, RUNS + thread, ZERO)


@kernel
def receive_once(mem, root, thread):
    """Receive."""
    poke(mem, RUNS + thread, ONE)
    found = receive(mem, root, thread)
    poke(mem, RUNS + thread, ZERO)
    return found


@kernel
def enter_once(mem, root, thread):
    """Enter, and count who is inside."""
    poke(mem, RUNS + thread, ONE)
    if enter(mem, root, thread):
        fetch_add(mem, INSIDE, ONE)
    poke(mem, RUNS + thread, ZERO)


@kernel
def counted(mem, at):
    """Return a count, or NOT_YOURS if a thread has used what is not its own."""
    return NOT_YOURS if peek(mem, FOREIGN) != ZERO else np.int64(load(mem, at))


@kernel
def settled(mem, root, thread):
    """Deliver what waits for threads 0 and 1, and then receive."""
    for other in range(2):
        settle(mem, np.uint64(other))
    found = receive_once(mem, root, thread)
    return NOT_YOURS if peek(mem, FOREIGN) != ZERO else found


@kernel
def inside(mem, root, thread):
    """Return how many are inside."""
    return counted(mem, INSIDE)


@kernel
def fences(mem, root, thread):
    """Return how many fences there have been."""
    return counted(mem, FENCES)


class WeakModel(SequentialModel[tuple[int | None, int, int]]):
    """A message, sent once, and a door for one. The state: the message or None, entered, fences needed."""

    name = "message-and-door"
    operations = MappingProxyType({
        "send": 1, "receive": 0, "enter": 0, "deliver": 2, "settled": 0, "inside": 0, "alone": 0, "fences": 0,
    })  # fmt: skip

    def init(self):
        """Return the state at the beginning."""
        return (None, 0, 0)

    def apply(self, state, call: Call):
        """Return the result that a call must have, and the next state."""
        sent, entered, needed = state
        if call.f == "send":
            return None, (call.arguments[0], entered, needed + 1)
        if call.f == "enter":
            return None, (sent, entered + 1, needed + 1)
        answers = {
            "receive": None if call.result is None else sent,
            "settled": sent,
            "inside": "at most one",
            "alone": min(entered, 1),
            "fences": needed,
        }
        return answers.get(call.f), state

    def matches(self, call: Call, expected: object):
        """Return whether a result is right; fewer fences are welcome."""
        if call.f == "fences" and call.result != FORBIDDEN:
            return call.result <= expected
        return call.result == expected


FORBIDDEN = "a thread passed a number that is not its own, or a word other than the four"


def nothing(word):
    """Say that an operation returns nothing."""
    return


def told(word):
    """Return a message or a count, None for EMPTY."""
    return FORBIDDEN if word == NOT_YOURS else None if word == EMPTY else word


def at_most_one(word):
    """Return whether at most one is inside."""
    return "at most one" if 0 <= word <= 1 else told(word) if word < 0 else f"{word} inside"


WEAK = Target(
    "weak-memory",
    WeakModel(),
    {
        "send": Operation(send_once, nothing),
        "receive": Operation(receive_once, told),
        "enter": Operation(enter_once, nothing),
        "deliver": Operation(deliver, nothing),
        "settled": Operation(settled, told),
        "inside": Operation(inside, at_most_one),
        "alone": Operation(inside, told),
        "fences": Operation(fences, told),
    },
)
