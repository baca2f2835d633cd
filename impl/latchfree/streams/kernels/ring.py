"""A bounded first-in first-out queue of words for any number of producers and consumers.

Example: a ring of 4 cells is empty. A put claims position 0 by moving the put counter from 0 to 1, writes its value to
cell 0, and sets the turn of the cell from 0 to 1. A get finds turn 1 at position 0, claims the position by moving the
get counter, reads the value, and sets the turn to 4: the cell waits for the put at position 4.

The ring of D. Vyukov ("Bounded MPMC queue", 2010), specified in `spec/Ring.tla`. Position k is in cell k modulo the
number of cells, and the turn of the cell says who may use the cell: at turn k the put at position k writes, at turn
k + 1 the get at position k reads. A put or get claims its position by compare-and-swap and, done with the cell, passes
the turn.

Invariant: between a claim and the turn passed on, the cell is touched by the claimer alone.

An operation of a *strict* ring reads the opposite counter before the operation is refused, and is refused only if this
counter says full, or empty (`spec/RingStrict.tla`). Otherwise the operation waits for the thread that has claimed the
cell and is not done. A *weak* ring never waits, and refuses instead: a get finds "empty" although a put has returned,
while an earlier put is at work; "full" likewise (`spec/RingWeak.tla`). In both rings a thread that dies between claim
and turn blocks its cell, until somebody mends the ring (`latchfree.streams.kernels.mending`): for that an operation
announces the cell before it claims it, in the words of its participant `me`; an operation without one has 0.
"""

import numpy as np

from latchfree.atomics import cas, load, load_seq, pause, peek, poke, store
from latchfree.jit import kernel
from latchfree.kinds import Array, Flag, Handle, Word
from latchfree.streams.kernels.layout import (
    CELLS,
    DEQ,
    ENQ,
    MASK,
    RING_WORDS,
    SHUT_BEGUN,
    TURN,
    VALUE,
    WEAK,
)
from latchfree.streams.kernels.mending import announce, skips_hole
from latchfree.streams.kernels.positions import (
    cell_of,
    end_of,
    is_behind,
    is_empty,
    is_full,
    length,
    turn_to_get,
    turn_to_put_again,
)
from latchfree.streams.kernels.shutting import finds_drained, finds_shut

_0 = np.uint64(0)
_1 = np.uint64(1)

# What became of an operation, or of one attempt.
DONE = np.uint64(0)
REFUSED = np.uint64(1)  # the ring is full, or empty
STALLED = np.uint64(2)  # it has waited as often as it should
WAIT = np.uint64(3)  # the cell is claimed by somebody who is not done with it
LOST = np.uint64(4)  # another has claimed the position first
LATE = np.uint64(5)  # another has already been at the position
SHUT = np.uint64(7)  # the ring takes no more puts; and for a get: has no more values


@kernel
def format_ring(mem: Handle, ring: Word, cells: Word, mask: Word, weak: Word, first: Word) -> None:
    """Make words that nobody else knows yet an empty ring whose first position is `first`."""
    for k in range(RING_WORDS):
        poke(mem, ring + np.uint64(k), _0)
    poke(mem, ring + ENQ, first)
    poke(mem, ring + DEQ, first)
    poke(mem, ring + MASK, mask)
    poke(mem, ring + WEAK, weak)
    poke(mem, ring + CELLS, cells)
    for k in range(mask + _1):
        position = first + np.uint64(k)
        cell = cell_of(cells, position, mask)
        poke(mem, cell + TURN, position)
        poke(mem, cell + VALUE, _0)


@kernel
def claim(mem: Handle, counter: Word, position: Word) -> Flag:
    """Claim a position, unless it is no longer the next of its counter."""
    # LP: of a put or get that is done, where it succeeds.
    # spec: Ring!PutClaim, Ring!GetClaim -- seq_cst: in one order with the looks at the opposite counter.
    return cas(mem, counter, position, position + _1)


@kernel
def fill(mem: Handle, cell: Word, position: Word, value: Word) -> None:
    """Put a value into a claimed cell, and pass the turn."""
    # spec: Ring!PutWrite -- nobody else touches the value; atomic so that it is a step of its own to the explorer.
    store(mem, cell + VALUE, value)
    # spec: Ring!PutPublish -- release: who reads the turn reads the value.
    store(mem, cell + TURN, turn_to_get(position))


@kernel
def drain(mem: Handle, cell: Word, position: Word, mask: Word) -> Word:
    """Take the value out of a claimed cell, and pass the turn."""
    # spec: Ring!GetRead -- it was acquired with the turn.
    value = load(mem, cell + VALUE)
    # spec: Ring!GetRelease -- release: the value has been read before another is written.
    store(mem, cell + TURN, turn_to_put_again(position, mask))
    return value


@kernel
def finds_full(mem: Handle, ring: Word, position: Word) -> Flag:
    """Return whether a put that must not write at a position yet is refused."""
    if peek(mem, ring + WEAK) != _0:
        return True
    # LP: of a put that is refused.
    # spec: RingStrict!PutCheckFull -- seq_cst: the last claim before this look is seen. One round behind `position` it
    # can only be while that is the next to put at: so at this instant the ring is full.
    return is_full(position, load_seq(mem, ring + DEQ), peek(mem, ring + MASK))


@kernel
def finds_empty(mem: Handle, ring: Word, position: Word) -> Flag:
    """Return whether a get that must not read at a position yet is refused."""
    if peek(mem, ring + WEAK) != _0:
        return True
    # LP: of a get that is refused.
    # spec: RingStrict!GetCheckEmpty -- seq_cst, as in `finds_full`; no get can have passed the last position filled.
    return is_empty(position, load_seq(mem, ring + ENQ))


@kernel
def put_once(mem: Handle, ring: Word, value: Word, me: Word) -> Word:
    """Try to put once: DONE, REFUSED, SHUT, WAIT, LOST or LATE."""
    mask = peek(mem, ring + MASK)
    # spec: Ring!PutReadPosition -- acquire: what is read next is no older. The first one is fused with Ring!Invoke.
    position = load(mem, ring + ENQ)
    cell = cell_of(peek(mem, ring + CELLS), position, mask)
    # spec: Ring!PutReadTurn -- acquire: pairs with the release of whoever has emptied the cell.
    turn = load(mem, cell + TURN)
    if turn == position:
        announce(mem, me, cell)
        if not claim(mem, ring + ENQ, position):
            return LOST
        fill(mem, cell, position, value)
        return DONE
    if not is_behind(turn, position):
        return LATE
    # Whoever has read the position behind the end has acquired this word, too.
    # spec: none -- acquire; it spares most a look at both counters, and decides nothing.
    if load(mem, ring + SHUT_BEGUN) != _0 and finds_shut(mem, ring, position):
        return SHUT
    return REFUSED if finds_full(mem, ring, position) else WAIT


@kernel
def get_once(mem: Handle, ring: Word, me: Word) -> tuple[Word, Word]:
    """Try to get once: DONE and the value; or REFUSED, SHUT, WAIT, LOST or LATE and 0."""
    mask = peek(mem, ring + MASK)
    # spec: Ring!GetReadPosition -- acquire, as in `put_once`.
    position = load(mem, ring + DEQ)
    cell = cell_of(peek(mem, ring + CELLS), position, mask)
    # spec: Ring!GetReadTurn -- acquire: pairs with the release of whoever has filled the cell.
    turn = load(mem, cell + TURN)
    wanted = turn_to_get(position)
    if turn == wanted:
        announce(mem, me, cell)
        if not claim(mem, ring + DEQ, position):
            return LOST, _0
        return DONE, drain(mem, cell, position, mask)
    if not is_behind(turn, wanted):
        return LATE, _0
    if skips_hole(mem, ring, cell, turn, position, me):
        return LATE, _0
    # spec: none -- as in `put_once`.
    if load(mem, ring + SHUT_BEGUN) != _0 and finds_drained(mem, ring, position):
        return SHUT, _0
    return (REFUSED, _0) if finds_empty(mem, ring, position) else (WAIT, _0)


@kernel
def try_put(mem: Handle, ring: Word, value: Word, patience: Word, me: Word) -> Word:
    """Put a value: DONE, REFUSED or SHUT; or STALLED after waiting `patience` times for the same or other cells."""
    while True:
        outcome = put_once(mem, ring, value, me)
        if outcome <= REFUSED or outcome == SHUT:
            return outcome
        if outcome == WAIT:
            if patience == _0:
                return STALLED
            patience -= _1
            pause(mem)


@kernel
def try_get(mem: Handle, ring: Word, patience: Word, me: Word) -> tuple[Word, Word]:
    """Get the oldest value: DONE and the value; or REFUSED, SHUT or STALLED, as `try_put`, and 0."""
    while True:
        outcome, value = get_once(mem, ring, me)
        if outcome <= REFUSED or outcome == SHUT:
            return outcome, value
        if outcome == WAIT:
            if patience == _0:
                return STALLED, _0
            patience -= _1
            pause(mem)


@kernel
def put_batch(mem: Handle, ring: Word, values: Array, first: Word, patience: Word, me: Word) -> tuple[Word, Word]:
    """Put `values[first:]` one after the other; return how many are in now, and the outcome of the last."""
    for k in range(np.int64(first), len(values)):
        outcome = try_put(mem, ring, np.uint64(values[k]), patience, me)
        if outcome != DONE:
            return np.uint64(k), outcome
    return np.uint64(len(values)), DONE


@kernel
def get_batch(mem: Handle, ring: Word, values: Array, patience: Word, me: Word) -> tuple[Word, Word]:
    """Fill `values` one after the other; return how many are there now, and the outcome of the last."""
    for k in range(len(values)):
        outcome, value = try_get(mem, ring, patience, me)
        if outcome != DONE:
            return np.uint64(k), outcome
        values[k] = np.int64(value)
    return np.uint64(len(values)), DONE


@kernel
def count(mem: Handle, ring: Word) -> Word:
    """Return how many positions are claimed by puts and not yet claimed by gets."""
    while True:
        # spec: none -- acquire; it is read again below.
        taken = load(mem, ring + DEQ)
        # LP: here, where nothing was taken in between.
        # spec: none -- seq_cst, in one order with the claims.
        filled = load_seq(mem, ring + ENQ)
        # spec: none -- seq_cst: positions never come back, so nothing was taken since the first look.
        if load_seq(mem, ring + DEQ) == taken:
            return length(end_of(filled, taken), taken)
