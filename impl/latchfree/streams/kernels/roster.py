"""The roster: which opening of a shared arena owns which ring, so that the memory of every ring comes back in the end.

Example: a process makes a ring and passes it to two others. It drops the ring: the number of the ring becomes 0, so the
next calls of the others are refused. A call that is under way is pinned; the memory is free two epochs later. If the
process is killed instead, another one adopts the slot of the ring in the roster, and does the same.

Invariant: words of a ring are touched by its owner, and by who is pinned and has read the ring's number since. A number
is random and never used again, so it is not found where a ring was that is gone.

The roster is a chain of tables that only grows. A slot belongs to the opening whose identity is in it: only that one
changes the rest of the slot, and gives the ring back; from a dead opening the slot is taken by compare-and-swap.
"""

import numpy as np

from latchfree.arena.kernels.epochs import pin, try_advance, unpin
from latchfree.arena.kernels.freelists import give, round_up, take
from latchfree.arena.layout import H_EPOCH, H_OWNED
from latchfree.atomics import barrier, cas, exchange, load, load_seq, peek, poke, store
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word
from latchfree.streams.kernels.counts import add
from latchfree.streams.kernels.layout import CELLS, GONE, HEADER, MASK, MENDED, NEWS, NUMBER, ROOM
from latchfree.streams.kernels.mending import mend, withdraw
from latchfree.streams.kernels.parking import tell
from latchfree.streams.kernels.payload import free_left
from latchfree.streams.kernels.positions import CELL_SHIFT

_0 = np.uint64(0)
_1 = np.uint64(1)
_GRACE = np.uint64(2)

# The words of a table: the table made before it, then slots of two words.
NEXT = np.uint64(0)
FIRST_SLOT = np.uint64(2)
SLOTS = np.uint64(63)
SLOT_WORDS = np.uint64(2)
TABLE_WORDS = np.uint64(128)

# The words of a slot.
OWNER = np.uint64(0)  # identity of the opening that owns the ring; 0: free
RING = np.uint64(1)  # offset of the ring; 0: none yet, or none any more

#: Words of a ring without its cells: those of `layout.RING_WORDS`, wherever in them the next 128 bytes begin.
HEADER_WORDS = np.uint64(128)


@kernel
def _slot(table: Word, k: Word) -> Word:
    return table + FIRST_SLOT + np.uint64(k) * SLOT_WORDS


@kernel
def take_slot(mem: Handle, me: Word, identity: Word) -> Word:
    """Take a slot for an opening; NIL if the arena has no room for another table."""
    # spec: none -- the chain of tables only grows. Acquire: pairs with the CAS that linked the table.
    table = load(mem, H_OWNED)
    while table != _0:
        for k in range(SLOTS):
            # spec: none -- acquires what the last owner has released.
            if load(mem, _slot(table, k) + OWNER) == _0 and cas(mem, _slot(table, k) + OWNER, _0, identity):
                return _slot(table, k)
        table = peek(mem, table + NEXT)
    table = take(mem, me, TABLE_WORDS, _0)
    if table == _0:
        return _0
    for k in range(TABLE_WORDS):
        poke(mem, table + np.uint64(k), _0)
    poke(mem, _slot(table, _0) + OWNER, identity)
    while True:
        # spec: none -- as above.
        poke(mem, table + NEXT, load(mem, H_OWNED))
        # spec: none -- seq_cst (release suffices): publishes the words of the table.
        if cas(mem, H_OWNED, peek(mem, table + NEXT), table):
            return _slot(table, _0)


@kernel
def free_ring(mem: Handle, me: Word, ring: Word) -> None:
    """Free the words of a ring that nobody can be using, and the blocks that are still in it."""
    free_left(mem, me, ring)
    give(mem, me, peek(mem, ring + CELLS), round_up((peek(mem, ring + MASK) + _1) << CELL_SHIFT))
    give(mem, me, peek(mem, ring + HEADER), HEADER_WORDS)


@kernel
def end_ring(mem: Handle, ring: Word) -> None:
    """Refuse calls from now on, and note the epoch until which others may be in a call."""
    # spec: none -- seq_cst: whoever still finds the number has pinned before, in an epoch that is read here at latest.
    exchange(mem, ring + NUMBER, _0)
    # spec: none -- read after the exchange, as `Reclamation!RetireReadEpoch` is after the unlinking.
    store(mem, ring + GONE, load_seq(mem, H_EPOCH))


@kernel
def settle(mem: Handle, me: Word, slot: Word) -> None:
    """Free the ring of an own slot if it was given back and nobody can be in a call, and then the slot."""
    ring = peek(mem, slot + RING)
    if ring != _0:
        if peek(mem, ring + NUMBER) != _0:
            return
        if peek(mem, ring + GONE) == _0:  # its owner was killed in `end_ring`
            end_ring(mem, ring)
        # spec: none -- acquire is enough: an old epoch only makes it wait longer.
        if peek(mem, ring + GONE) + _GRACE > load(mem, H_EPOCH):
            return
        # Killed from here on, the ring is lost; the other way round its successor would free it again.
        poke(mem, slot + RING, _0)
        barrier(mem)
        free_ring(mem, me, ring)
    # spec: none -- release: publishes the slot to whoever takes it next.
    store(mem, slot + OWNER, _0)


@kernel
def drop(mem: Handle, me: Word, slot: Word) -> None:
    """Give the ring of an own slot back; at once, if nobody is pinned."""
    end_ring(mem, peek(mem, slot + RING))
    for _ in range(_GRACE):
        try_advance(mem)
    settle(mem, me, slot)


@kernel
def sweep(mem: Handle, me: Word, identity: Word) -> None:
    """Free all rings that an opening has given back and that nobody can be using any more."""
    try_advance(mem)
    # spec: none -- the chain of tables only grows, as in `take_slot`.
    table = load(mem, H_OWNED)
    while table != _0:
        for k in range(SLOTS):
            # spec: none -- acquire: the slot may have been adopted.
            if load(mem, _slot(table, k) + OWNER) == identity:
                settle(mem, me, _slot(table, k))
        table = peek(mem, table + NEXT)


@kernel
def adopt(mem: Handle, slot: Word, dead: Word, identity: Word) -> None:
    """Take over the slot of a dead opening, and refuse calls of its ring from now on."""
    # spec: none -- seq_cst: one opening gets it, and acquires what the dead one has written.
    if cas(mem, slot + OWNER, dead, identity):
        ring = peek(mem, slot + RING)
        if ring != _0 and peek(mem, ring + NUMBER) != _0:
            end_ring(mem, ring)


@kernel
def enter(mem: Handle, me: Word, ring: Word, number: Word) -> Flag:
    """Return whether a ring is there; then it stays until `leave`. `me` is 0 in a private arena, which needs no pin."""
    if me != _0:
        pin(mem, me)
    # spec: none -- seq_cst: after the pin, see `end_ring`.
    if load_seq(mem, ring + NUMBER) == number:
        return True
    leave(mem, me)
    return False


@kernel
def leave(mem: Handle, me: Word) -> None:
    """End what `enter` began: no cell is claimed any more."""
    withdraw(mem, me)
    if me != _0:
        unpin(mem, me)


@kernel
def mend_slot(mem: Handle, me: Word, slot: Word) -> Word:
    """Mend the ring in a slot, see `mending`; return the ring if others may go on now, else 0."""
    pin(mem, me)
    # spec: none -- acquire; read again below.
    ring = load(mem, slot + RING)
    mended = _0
    if ring != _0:
        # spec: none -- seq_cst: after the pin, see `end_ring`.
        number = load_seq(mem, ring + NUMBER)
        # spec: none -- if the ring is still in its slot, `settle` had not freed it when its number was read; if it had
        # a number then, it stays until the pin ends.
        if number != _0 and load_seq(mem, slot + RING) == ring:
            mended = mend(mem, ring, me)
            if mended != _0:
                add(mem, ring + MENDED, mended)
                tell(mem, ring + NEWS)
                tell(mem, ring + ROOM)
    unpin(mem, me)
    return ring if mended != _0 else _0
