"""A scalable Bloom filter: layers of growing size and falling error, of which the last one takes what is new.

Example: layers for 1,000, 2,000 and 4,000 items. The thousandth new item fills the first layer, and somebody says that
the second one is in use. A search looks at all layers in use, so what is in the first is still found.

Invariant: an item whose add has returned is in a layer in use, and layers stay in use. A layer has at most as many
items more than it is for as adds were under way when it filled. Of a call for many items these are at most a 256th of
the layer: so many new ones are counted together, or threads would do little but pass the count to and fro.

Only items that are not there yet are counted, so the same items over and over do not fill the filter.

Source: P. Almeida, C. Baquero, N. Preguica, D. Hutchison, "Scalable Bloom Filters" (2007).
"""

import numpy as np

from latchfree.atomics import cas, fetch_add, high_product, load, peek, prefetch
from latchfree.jit import entry, kernel
from latchfree.kinds import Array, Flag, Handle, Word
from latchfree.sketches.kernels import bloom
from latchfree.sketches.kernels.record import FIRST_CELL, GONE, enter, leave, note_added

_0 = np.uint64(0)
_1 = np.uint64(1)

# The cells: a word that says which layer is the last in use, then for each layer these words, then the bits of all.
LAST = FIRST_CELL
FIRST_LAYER = FIRST_CELL + np.uint64(8)
LAYER_WORDS = np.uint64(8)
MOST_LAYERS = np.uint64(24)
BITS_AT = np.uint64(0)  # from FIRST_CELL on
BLOCKS = np.uint64(1)
WORDS = np.uint64(2)
BITS = np.uint64(3)
ITEMS = np.uint64(4)  # that the layer is for
COUNT = np.uint64(5)  # new items added to it
LAYERS = np.uint64(6)  # of the filter, in each of them

#: Which part of a layer's items is counted at once, as a shift.
_PORTION = np.uint64(8)
#: How far ahead of the items in hand their blocks are asked for: another processor may have written to them.
_AHEAD = 4


@kernel
def layer_at(record: Word, k: Word) -> Word:
    """Return the offset of the words of a layer."""
    return record + FIRST_LAYER + k * LAYER_WORDS


@kernel
def in_layer(mem: Handle, record: Word, layer: Word, h: Word) -> Flag:
    """Return whether all bits of a hash are set in a layer."""
    cells = record + FIRST_CELL + peek(mem, layer + BITS_AT)
    return bloom.contains_at(
        mem, cells, peek(mem, layer + BLOCKS), peek(mem, layer + WORDS), peek(mem, layer + BITS), h
    )


@kernel
def contains(mem: Handle, record: Word, h: Word) -> Flag:
    """Return whether a layer in use has all bits of a hash; the newest, which has the most items, first."""
    # spec: ScalableBloom!ReadLast -- seq_cst with the compare-and-swap of `grow`: an add that has returned used one of
    # these layers.
    k = load(mem, record + LAST) + _1
    while k != _0:
        k -= _1
        if in_layer(mem, record, layer_at(record, k), h):
            return True
    return False


@kernel
def grow(mem: Handle, record: Word, last: Word) -> None:
    """Say that the layer after the last one is in use, unless somebody else has."""
    if last + _1 < peek(mem, layer_at(record, last) + LAYERS):
        # spec: ScalableBloom!Grow -- seq_cst: several may find the layer full, and one layer follows (mutant X7).
        cas(mem, record + LAST, last, last + _1)


@kernel
def ask_for(mem: Handle, record: Word, last: Word, h: Word) -> None:
    """Ask for the block of a hash in a layer, to be written soon."""
    layer = layer_at(record, last)
    cells = record + FIRST_CELL + peek(mem, layer + BITS_AT)
    prefetch(mem, cells + high_product(h, peek(mem, layer + BLOCKS)) * peek(mem, layer + WORDS))


@kernel
def set_bits(mem: Handle, record: Word, last: Word, h: Word) -> None:
    """Set the bits of a hash in a layer."""
    layer = layer_at(record, last)
    cells = record + FIRST_CELL + peek(mem, layer + BITS_AT)
    bloom.add_at(mem, cells, peek(mem, layer + BLOCKS), peek(mem, layer + WORDS), peek(mem, layer + BITS), h)


@kernel
def count_new(mem: Handle, record: Word, last: Word, count: Word) -> None:
    """Count items that are new in a layer, whose bits are set."""
    layer = layer_at(record, last)
    # spec: ScalableBloom!Count -- seq_cst: a load and a store would lose counts, and overfill the layer (mutant X6). Of
    # several items: as if each were counted by itself, one right after the other.
    if fetch_add(mem, layer + COUNT, count) + count >= peek(mem, layer + ITEMS):
        grow(mem, record, last)


@kernel
def add(mem: Handle, record: Word, h: Word) -> None:
    """Add a hash to the last layer in use, if it is in none."""
    if contains(mem, record, h):
        return
    # spec: ScalableBloom!ReadLast -- acquire, once more: the layer may have filled since.
    last = load(mem, record + LAST)
    set_bits(mem, record, last, h)
    count_new(mem, record, last, _1)


@kernel
def portion_of(mem: Handle, record: Word, last: Word, most: Word) -> Word:
    """Return how many new items of a layer are counted at once: no more than it has room for, if it has room."""
    layer = layer_at(record, last)
    # spec: none -- acquire: a hint.
    items, held = peek(mem, layer + ITEMS), load(mem, layer + COUNT)
    return max(min(most, items - held), _1) if held < items else most


@kernel
def add_all(mem: Handle, record: Word, hashes: Array, shift: Word) -> None:
    """Add hashes; count the new items of a layer together, up to `2**-shift` of those that it is for."""
    layer, uncounted, room = _0, _0, _0
    for k in range(len(hashes)):
        if k + _AHEAD < len(hashes):
            ask_for(mem, record, layer, hashes[k + _AHEAD])
        if contains(mem, record, hashes[k]):
            continue
        # spec: ScalableBloom!ReadLast -- acquire, as in `add`.
        last = load(mem, record + LAST)
        if last != layer and uncounted != _0:
            count_new(mem, record, layer, uncounted)
            uncounted = _0
        if uncounted == _0:
            layer = last
            room = portion_of(mem, record, layer, max(peek(mem, layer_at(record, layer) + ITEMS) >> shift, _1))
        set_bits(mem, record, layer, hashes[k])
        uncounted += _1
        if uncounted == room:
            count_new(mem, record, layer, uncounted)
            uncounted = _0
    if uncounted != _0:
        count_new(mem, record, layer, uncounted)


@entry
def add_one(mem: Handle, me: Word, record: Word, number: Word, h: Word) -> Word:
    """Add an item by its hash; 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    add(mem, record, h)
    note_added(mem, record, _1)
    leave(mem, me)
    return _1


@entry
def contains_one(mem: Handle, me: Word, record: Word, number: Word, h: Word) -> Word:
    """Return whether an item may be there; or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    found = contains(mem, record, h)
    leave(mem, me)
    return _1 if found else _0


@entry
def last_one(mem: Handle, me: Word, record: Word, number: Word) -> Word:
    """Return the number of the last layer in use; or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    # spec: none -- acquire: one look, at an instant of its own.
    found = load(mem, record + LAST)
    leave(mem, me)
    return found


@kernel
def add_many(mem: Handle, me: Word, record: Word, number: Word, hashes: Array) -> Word:
    """Add items by their hashes; 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    add_all(mem, record, hashes, _PORTION)
    note_added(mem, record, np.uint64(len(hashes)))
    leave(mem, me)
    return _1


@kernel
def contains_many(mem: Handle, me: Word, record: Word, number: Word, hashes: Array, found: Array) -> Word:
    """Write 1 for each item that may be there, else 0; return 1, or GONE."""
    if not enter(mem, me, record, number):
        return GONE
    for k in range(len(hashes)):
        found[k] = 1 if contains(mem, record, hashes[k]) else 0
    leave(mem, me)
    return _1
