"""MinHash: of each of many hash functions the greatest hash of an item that was added.

Example: two sets share half of their items. Each function's greatest hash of the union is, with the probability of
Jaccard's index, that of a shared item: then both sketches hold it.

The greatest instead of the least: an empty cell is 0, and a cell that nobody has reached needs no mark of its own.

Invariant: a cell is the greatest hash by its function of an item that was added to it. Cells only grow.

Source: A. Broder, "On the resemblance and containment of documents" (1997).
"""

import numpy as np

from latchfree.atomics import fetch_max, load, peek
from latchfree.jit import entry, kernel
from latchfree.kinds import Array, Handle, Word
from latchfree.sketches.kernels.record import CELLS, FIRST_CELL, GONE, enter, leave, note_added
from latchfree.words import mix

_1 = np.uint64(1)
#: What the hashes of two functions are apart before they are mixed.
STEP = np.uint64(0x9E3779B97F4A7C15)


@kernel
def raise_cell(mem: Handle, at: Word, h: Word) -> None:
    """Raise a cell to a hash, unless it is as high."""
    # spec: none -- acquire: cells never fall, so one that is high enough stays so.
    if load(mem, at) < h:
        # spec: none -- seq_cst: one step. A load and a store could lower what another has raised.
        fetch_max(mem, at, h)


@kernel
def add(mem: Handle, record: Word, h: Word) -> None:
    """Raise each cell to the hash of its function."""
    for k in range(peek(mem, record + CELLS)):
        h += STEP
        # Never 0: an item that was added is not nothing.
        raise_cell(mem, record + FIRST_CELL + np.uint64(k), mix(h) | _1)


@entry
def add_one(mem: Handle, me: Word, record: Word, number: Word, h: Word) -> Word:
    """Add an item by its hash; 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    add(mem, record, h)
    note_added(mem, record, _1)
    leave(mem, me)
    return _1


@kernel
def add_many(mem: Handle, me: Word, record: Word, number: Word, hashes: Array) -> Word:
    """Add items by their hashes; 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    for k in range(len(hashes)):
        add(mem, record, hashes[k])
    note_added(mem, record, np.uint64(len(hashes)))
    leave(mem, me)
    return _1


@kernel
def merge(mem: Handle, me: Word, record: Word, number: Word, theirs: Array, count: Word) -> Word:
    """Raise all cells to those of another sketch of the same size; 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    for k in range(len(theirs)):
        raise_cell(mem, record + FIRST_CELL + np.uint64(k), theirs[k])
    note_added(mem, record, count)
    leave(mem, me)
    return _1
