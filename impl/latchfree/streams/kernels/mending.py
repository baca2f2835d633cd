"""Mending a ring: what was claimed by a process that is dead is passed on by others.

Example: a process claims position 5 and is killed before it has written. Its participant has announced the cell, and
the reaper of another process releases the participant, which takes the announcement back. Now no participant announces
the cell, and yet the position is claimed and the turn of the cell is still 5. So nobody alive will put there: the
mender makes the position a *hole*, by compare-and-swap on the turn, and the next get skips the hole.

Invariant: between the claim of a position and the turn passed on, the claimer announces the cell. So a cell that is
claimed, not passed on, and announced by nobody is nobody's. Specified in `spec/RingCrash.tla`.

A value whose put was under way is lost, as its put never returned. A value that a get had claimed is lost with the
process that claimed it. Nothing else is. Only the two cells where the next put and the next get wait can hold anybody
up, so the mender looks at no others.
"""

import numpy as np

from latchfree.arena.layout import H_CLAIMED, P_IN_HAND, PARTICIPANT_WORDS, PARTICIPANTS
from latchfree.atomics import cas, load, load_seq, peek, store
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word
from latchfree.streams.kernels.layout import CELLS, DEQ, ENQ, MASK, TURN
from latchfree.streams.kernels.positions import cell_of, end_of, turn_of_hole, turn_to_get, turn_to_put_again

_0 = np.uint64(0)
_1 = np.uint64(1)
_FIRST = np.uint64(PARTICIPANTS)
_STRIDE = np.uint64(PARTICIPANT_WORDS)


@kernel
def announce(mem: Handle, me: Word, cell: Word) -> None:
    """Say which cell is about to be claimed."""
    if me != _0:
        # spec: RingCrash!Announce -- release is enough: the claim is a seq_cst operation that follows.
        store(mem, me + P_IN_HAND, cell)


@kernel
def withdraw(mem: Handle, me: Word) -> None:
    """Say that no cell is claimed any more."""
    if me != _0:
        # spec: RingCrash!Withdraw -- release: whoever does not find the announcement finds the turn passed on.
        store(mem, me + P_IN_HAND, _0)


@kernel
def skips_hole(mem: Handle, ring: Word, cell: Word, turn: Word, position: Word, me: Word) -> Flag:
    """Pass over a position at which nobody will ever put, if that is what a get has found; return whether it was."""
    if turn != turn_of_hole(position):
        return False
    announce(mem, me, cell)
    # spec: RingCrash!SkipClaim -- seq_cst, like the claim of a value.
    if cas(mem, ring + DEQ, position, position + _1):
        # spec: RingCrash!SkipRelease -- release: as after a get.
        store(mem, cell + TURN, turn_to_put_again(position, peek(mem, ring + MASK)))
    return True


@kernel
def is_announced(mem: Handle, cell: Word) -> Flag:
    """Return whether a participant announces a cell."""
    # spec: none -- slots that were claimed for the first time since then announced nothing when the cell was claimed.
    slots, k = load_seq(mem, H_CLAIMED), _0
    # spec: RingCrash!MendScan -- seq_cst: after the counter was read that says that the cell is claimed.
    while k < slots and load_seq(mem, _FIRST + k * _STRIDE + P_IN_HAND) != cell:
        k += _1
    return k < slots


@kernel
def mend_put(mem: Handle, ring: Word, me: Word) -> Flag:
    """Make a hole of the next position to get from, if whoever claimed it to put there is dead."""
    mask = peek(mem, ring + MASK)
    # spec: RingCrash!MendReadPosition -- acquire: an old position has an old turn, and the CAS below fails.
    position = load(mem, ring + DEQ)
    cell = cell_of(peek(mem, ring + CELLS), position, mask)
    # spec: RingCrash!MendReadTurn -- acquire.
    if load(mem, cell + TURN) != position:
        return False
    # spec: RingCrash!MendReadCounter -- seq_cst: what was claimed was announced before.
    if end_of(load_seq(mem, ring + ENQ), position) - position - _1 > mask or is_announced(mem, cell):
        return False
    hole = turn_of_hole(position)
    # spec: RingCrash!MendHole -- fails if the claimer was done meanwhile, and has withdrawn its announcement.
    if not cas(mem, cell + TURN, position, hole):
        return False
    skips_hole(mem, ring, cell, hole, position, me)  # so that the cells behind it are looked at, too
    withdraw(mem, me)
    return True


@kernel
def mend_get(mem: Handle, ring: Word) -> Flag:
    """Pass on the cell of the next position to put at, if whoever claimed it to get from is dead."""
    mask = peek(mem, ring + MASK)
    # spec: RingCrash!MendReadPosition -- acquire, as above; where a ring was shut down, nobody waits for this cell.
    position = load(mem, ring + ENQ)
    cell = cell_of(peek(mem, ring + CELLS), position, mask)
    taken = position - mask - _1
    # spec: RingCrash!MendReadTurn -- acquire.
    turn = load(mem, cell + TURN)
    if turn != turn_to_get(taken) and turn != turn_of_hole(taken):
        return False
    # spec: RingCrash!MendReadCounter -- seq_cst: what was claimed was announced before.
    if load_seq(mem, ring + DEQ) - taken - _1 > mask or is_announced(mem, cell):
        return False
    # spec: RingCrash!MendRelease -- fails if the claimer was done meanwhile, and has withdrawn its announcement.
    return cas(mem, cell + TURN, turn, position)


@kernel
def mend(mem: Handle, ring: Word, me: Word) -> Word:
    """Pass on the cells that dead claimers hold, if others wait for them; return how many."""
    mended = _0
    while mend_put(mem, ring, me) or mend_get(mem, ring):
        mended += _1
    return mended
