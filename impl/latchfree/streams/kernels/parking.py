"""Sleeping until a ring has changed: who sleeps says so first, who changes the ring wakes who has said so.

Example: a get finds the ring empty. It sets the lowest bit of the word `NEWS`, looks once more, and asks the kernel to
put it to sleep unless the word has changed meanwhile. A put that is done sees the bit, adds one to the word, which
clears the bit and counts in the others, and wakes all sleepers.

Invariant: if the bit is not set, nobody sleeps whom nobody is about to wake. Specified in `spec/Parking.tla`.

All sleepers are woken, and not one: the one might be killed on the way, or find that another has taken its value.
Nothing here counts sleepers, so that one who was killed asleep leaves nothing behind but a bit, which the next change
clears. A process that was killed between a change and the waking leaves sleepers asleep; so nobody sleeps for more
than a second without a look (`latchfree.streams.blocking`).
"""

import numpy as np

from latchfree.atomics import cas, fence, fetch_or, load
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word

_0 = np.uint64(0)
_1 = np.uint64(1)
#: The bit of who is about to sleep, or asleep.
ASLEEP = np.uint64(1)


@kernel
def arm(mem: Handle, word: Word) -> Word:
    """Say that somebody is about to sleep; return what the word must still be when they fall asleep."""
    # spec: Parking!Arm -- seq_cst: before the look at the ring that follows, in one order with `tell`.
    return fetch_or(mem, word, ASLEEP) | ASLEEP


@kernel
def tell(mem: Handle, word: Word) -> Flag:
    """After a change: keep from falling asleep who is about to; return whether sleepers are to be woken."""
    fence(mem)  # the change is visible before the look: who armed later finds it when looking once more
    # spec: Parking!Look -- relaxed would do: the fence orders it.
    seen = load(mem, word)
    if seen & ASLEEP == _0:
        return False
    # spec: Parking!Move -- if it fails another has moved the word for those who sleep, and wakes them, unless it is
    # killed; so the caller wakes them, too.
    cas(mem, word, seen, seen + _1)
    return True
