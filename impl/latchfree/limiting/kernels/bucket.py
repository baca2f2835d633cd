"""A token bucket in one word: the time at which the bucket will be full again.

Example: a bucket of five tokens, one more each second, and the word says 12. At time 10 it will be full in two seconds,
so two tokens are missing and three are there. Taking two moves the word to 14. At time 20 the word is long past: the
bucket is full, and taking one moves the word to 21.

Invariant: the word only grows, and never to more than the time of a take plus `span`, the time that filling takes. So
all takes whose time lies between s and e take at most a full bucket and what came in between s and e.

Time is in ticks, read by the caller *before* the call. A caller who is late takes by an old time: fewer tokens, never
more. So a grant is final. A refusal by an old time may be wrong: the caller reads the clock again and compares it with
the word that was seen, which can only have grown since.

This is the generic cell rate algorithm of ATM (ITU-T I.371, 1993) with one compare-and-swap.
"""

import numpy as np

from latchfree.atomics import cas, fetch_add, load, peek
from latchfree.jit import entry, kernel
from latchfree.kinds import Flag, Handle, Word
from latchfree.sketches.kernels.record import FIRST_CELL, GONE, SHAPE, enter, leave, note_added

_0 = np.uint64(0)
_1 = np.uint64(1)

# The shape.
COST = SHAPE  # ticks in which a token comes in
SPAN = SHAPE + np.uint64(1)  # ticks in which an empty bucket fills

# The cells; what is granted is counted as the items of a sketch are.
FULL_AT = FIRST_CELL
REFUSED = FIRST_CELL + np.uint64(1)

#: What `take` returns that has taken.
GRANTED = _0


@kernel
def refuses(seen: Word, ticks: Word, span: Word, now: Word) -> Flag:
    """Return whether at a time a bucket lacks some of the tokens that come in within `ticks`."""
    return max(seen, now) + ticks > now + span


@kernel
def take(mem: Handle, at: Word, ticks: Word, span: Word, now: Word) -> Word:
    """Take the tokens that come in within `ticks`; GRANTED, or the word that says they are not there."""
    while True:
        # spec: RateLimiter!Look -- acquire: an old word makes the exchange fail.
        seen = load(mem, at)
        if refuses(seen, ticks, span, now):
            return seen
        # LP: of a grant, or earlier, see spec/RateLimiter.tla.
        # spec: RateLimiter!Swap -- seq_cst: a store would grant what another has taken meanwhile (mutant K1).
        if cas(mem, at, seen, max(seen, now) + ticks):
            return GRANTED


@entry
def acquire(mem: Handle, me: Word, record: Word, number: Word, tokens: Word, keep: Word, now: Word) -> Word:
    """Take tokens if `keep` more remain; GRANTED, the word that says no, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    cost = peek(mem, record + COST)
    outcome = take(mem, record + FULL_AT, tokens * cost, peek(mem, record + SPAN) - keep * cost, now)
    if outcome == GRANTED:
        note_added(mem, record, tokens)
    leave(mem, me)
    return outcome


@entry
def refuse(mem: Handle, me: Word, record: Word, number: Word, tokens: Word) -> Word:
    """Count tokens that were refused; 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    # spec: none -- seq_cst (relaxed suffices): a sum, which nothing is read through.
    fetch_add(mem, record + REFUSED, tokens)
    leave(mem, me)
    return _1


@entry
def read(mem: Handle, me: Word, record: Word, number: Word, cell: Word) -> Word:
    """Return a cell; or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    # spec: none -- acquire: one look, at an instant of its own.
    found = load(mem, record + FIRST_CELL + cell)
    leave(mem, me)
    return found


@entry
def set_back(mem: Handle, me: Word, record: Word, number: Word, seen: Word, to: Word) -> Word:
    """Set the word back that no clock of this boot can have brought about; 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    # spec: none -- seq_cst: whoever is first sets it back, to an empty bucket.
    cas(mem, record + FULL_AT, seen, to)
    leave(mem, me)
    return _1
