"""The inverse Bloom filter: a table of slots, each with the hash of the last item that fell there.

Example: "tea" is put into slot 7 by an exchange, which returns what was there. The hash of "tea": seen before. Anything
else: not seen, as far as the table goes.

Invariant: a slot holds the hash of an item that was added and belongs there, or what no item's hash in that slot is.

Adding is one atomic access, so it is linearizable, and the sequential object is the table itself.
"""

import numpy as np

from latchfree.atomics import exchange, high_product, load, peek, poke
from latchfree.jit import entry, kernel
from latchfree.kinds import Array, Flag, Handle, Word
from latchfree.sketches.kernels.record import FIRST_CELL, GONE, SHAPE, enter, leave, note_added

_0 = np.uint64(0)
_1 = np.uint64(1)

#: The shape: the number of slots, at least two.
SLOTS = SHAPE

#: What the first slot holds that has seen nothing: the highest hash, which belongs to the last slot. All others hold 0,
#: which belongs to the first.
UNSEEN = np.uint64((1 << 64) - 1)


@kernel
def empty(mem: Handle, record: Word) -> None:
    """Make a table of zeros, which nobody else knows yet, an empty one."""
    poke(mem, record + FIRST_CELL, UNSEEN)


@kernel
def slot_of(mem: Handle, record: Word, h: Word) -> Word:
    """Return the offset of the slot of a hash: the upper bits choose it."""
    return record + FIRST_CELL + high_product(h, peek(mem, record + SLOTS))


@kernel
def add(mem: Handle, record: Word, h: Word) -> Flag:
    """Put a hash into its slot; return whether it was there."""
    # LP: of an add.
    # spec: InverseBloom!Exchange -- seq_cst: one step. Reading and then writing lets one item be new twice.
    return exchange(mem, slot_of(mem, record, h), h) == h


@entry
def add_one(mem: Handle, me: Word, record: Word, number: Word, h: Word) -> Word:
    """Add an item by its hash; return whether it was seen, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    seen = add(mem, record, h)
    note_added(mem, record, _1)
    leave(mem, me)
    return _1 if seen else _0


@entry
def contains_one(mem: Handle, me: Word, record: Word, number: Word, h: Word) -> Word:
    """Return whether an item is in its slot; or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    # spec: none -- acquire: one look, at an instant of its own.
    found = load(mem, slot_of(mem, record, h)) == h
    leave(mem, me)
    return _1 if found else _0


@kernel
def add_many(mem: Handle, me: Word, record: Word, number: Word, hashes: Array, seen: Array) -> Word:
    """Add items by their hashes, and write 1 for each that was seen, else 0; return 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    for k in range(len(hashes)):
        seen[k] = 1 if add(mem, record, hashes[k]) else 0
    note_added(mem, record, np.uint64(len(hashes)))
    leave(mem, me)
    return _1


@kernel
def contains_many(mem: Handle, me: Word, record: Word, number: Word, hashes: Array, found: Array) -> Word:
    """Write 1 for each item that is in its slot, else 0; return 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    for k in range(len(hashes)):
        # spec: none -- acquire, as in `contains_one`.
        found[k] = 1 if load(mem, slot_of(mem, record, hashes[k])) == hashes[k] else 0
    leave(mem, me)
    return _1
