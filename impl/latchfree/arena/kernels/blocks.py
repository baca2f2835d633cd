"""Blocks: arrays of retired nodes, the links of limbo queues and of deadlists.

Example: the node of 5 words at word 9000 is retired. The newest block of the limbo gets the entry ``5 << 40 | 9000``.

A block is a node itself: header, link, count, epoch tag, entries. `latchfree.arena.kernels.epochs` says when a block is
due, and `free_entries` frees what its entries stand for.

An entry is the offset of a node and above it, as in the node's header, its size: so the node can be freed without being
read, when it has long left the cache. An entry tagged `DEFERRED` is something else, which the structure frees that has
retired it: a thing of no size, or a node that holds what is outside of the arena, with its size.
"""

import numpy as np

from latchfree.arena.kernels.freelists import carve, free, give, put_back, round_up, size_class, take
from latchfree.arena.kernels.node import BIRTH_MASK, BLOCK, SIZE_MASK, SIZE_SHIFT, header, size_of
from latchfree.arena.layout import P_DEFERRED, P_HOLDERS, P_LIVE, P_SPARE_COUNT, P_SPARES
from latchfree.atomics import barrier, out_of_line, peek, poke
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word

LINK = np.uint64(1)
COUNT = np.uint64(2)
EPOCH = np.uint64(3)
ENTRIES = np.uint64(4)

#: On an entry: its structure frees it.
DEFERRED = np.uint64(1 << 63)

BLOCK_WORDS = np.uint64(68)
#: Blocks a participant keeps at hand, enough for everything one commit can retire.
SPARES = np.uint64(6)
#: Blocks it has before it adds anything. Those above `SPARES` serve, where memory has run out, as nodes for what makes
#: room again: a block is as large as the largest C-node.
STOCK = np.uint64(14)

_0 = np.uint64(0)
_1 = np.uint64(1)
_SIZE = SIZE_MASK << SIZE_SHIFT


@kernel
def format_block(mem: Handle, block: Word, words: Word) -> None:
    """Make an empty block of `words` words."""
    poke(mem, block, header(BLOCK, words, _0))
    poke(mem, block + LINK, _0)
    poke(mem, block + COUNT, _0)


@kernel
def keep_spare(mem: Handle, me: Word, block: Word) -> None:
    """Put an empty block of the usual size on the list of spare ones."""
    format_block(mem, block, BLOCK_WORDS)
    poke(mem, block + LINK, peek(mem, me + P_SPARES))
    barrier(mem)
    poke(mem, me + P_SPARES, block)
    poke(mem, me + P_SPARE_COUNT, peek(mem, me + P_SPARE_COUNT) + _1)


@kernel
def stock_spares(mem: Handle, me: Word, wanted: Word, urgent: Word) -> Flag:
    """Have at least `wanted` spare blocks. False: the arena has no room for them."""
    out_of_line()
    while peek(mem, me + P_SPARE_COUNT) < wanted:
        block = take(mem, me, BLOCK_WORDS, urgent)
        if block == _0:
            return False
        keep_spare(mem, me, block)
    return True


@kernel
def take_spare(mem: Handle, me: Word) -> Word:
    """Take a spare block; the caller has made sure that there is one."""
    # Count first: a successor of a killed participant must never find fewer spares than the count says.
    poke(mem, me + P_SPARE_COUNT, peek(mem, me + P_SPARE_COUNT) - _1)
    barrier(mem)
    block = peek(mem, me + P_SPARES)
    poke(mem, me + P_SPARES, peek(mem, block + LINK))
    barrier(mem)
    poke(mem, block + LINK, _0)
    return block


@kernel
def recycle(mem: Handle, me: Word, block: Word) -> None:
    """Make an empty block a spare one, or free the block if it is of another size, or there are enough."""
    if size_of(mem, block) == BLOCK_WORDS and peek(mem, me + P_SPARE_COUNT) < STOCK:
        keep_spare(mem, me, block)
    else:
        free(mem, me, block)


@kernel
def new_block(mem: Handle, me: Word, entries: Word) -> Word:
    """Return an empty block for about that many entries: a spare one, which there has to be, if memory is short."""
    words = round_up(ENTRIES + entries)
    block = take(mem, me, words, _1)
    if block == _0:
        block, words = take_spare(mem, me), BLOCK_WORDS
    format_block(mem, block, words)
    return block


@kernel
def give_spares(mem: Handle, me: Word) -> None:
    """Free all spare blocks of a participant that is not in use."""
    while peek(mem, me + P_SPARE_COUNT) != _0:
        give(mem, me, take_spare(mem, me), BLOCK_WORDS)


@kernel
def take_urgently(mem: Handle, me: Word, size: Word) -> Word:
    """Take a node for an operation that makes room in the end; NIL when even the stock of blocks is used up."""
    node = take(mem, me, size, _1)
    return node if node != _0 else take_of_stock(mem, me, size)


@kernel
def take_of_stock(mem: Handle, me: Word, size: Word) -> Word:
    """Make a node of a spare block; NIL when there are none to spare, or they are too small."""
    out_of_line()
    if size > BLOCK_WORDS or peek(mem, me + P_SPARE_COUNT) <= SPARES:
        return _0
    node = take_spare(mem, me)
    if size < BLOCK_WORDS:
        poke(mem, me + P_LIVE, peek(mem, me + P_LIVE) - (BLOCK_WORDS - size))
        carve(mem, me, node + size, node + BLOCK_WORDS)
    return node


@kernel
def entry_for(mem: Handle, node: Word) -> Word:
    """Return the entry that stands for a node."""
    head = peek(mem, node)
    return node | (head & _SIZE) | (head & (head << _1) & DEFERRED)  # both upper bits: a holder


@kernel
def empty_entry_for(mem: Handle, node: Word) -> Word:
    """Return the entry for a node that holds nothing, of whatever kind."""
    return node | (peek(mem, node) & _SIZE)


@kernel
def node_of(entry: Word) -> Word:
    """Return the node, or the deferred thing, that an entry stands for."""
    return entry & BIRTH_MASK


@kernel
def words_of(entry: Word) -> Word:
    """Return the words of the node that an entry stands for, 0 for a deferred thing that is no node."""
    return (entry >> SIZE_SHIFT) & SIZE_MASK


@kernel
def is_full(mem: Handle, block: Word) -> Flag:
    """Return whether a block has no room for another entry."""
    return ENTRIES + peek(mem, block + COUNT) == size_of(mem, block)


@kernel
def append(mem: Handle, block: Word, entry: Word) -> None:
    """Add an entry to a block that is not full."""
    count = peek(mem, block + COUNT)
    poke(mem, block + ENTRIES + count, entry)
    barrier(mem)
    poke(mem, block + COUNT, count + _1)


@kernel
def _push_deferred(mem: Handle, me: Word, thing: Word) -> None:
    """Put a thing whose time has come on the list of what structures free."""
    poke(mem, thing, peek(mem, me + P_DEFERRED))
    barrier(mem)
    poke(mem, me + P_DEFERRED, thing)


@kernel
def push_holder(mem: Handle, me: Word, node: Word) -> None:
    """Put a node that nobody reads any more on the list of those that hold something; its second word is lost."""
    poke(mem, node + _1, peek(mem, me + P_HOLDERS))
    barrier(mem)
    poke(mem, me + P_HOLDERS, node)


@kernel
def free_entries(mem: Handle, me: Word, block: Word, most: Word) -> Word:
    """Free what up to `most` entries of a block stand for, the last ones first; return how many."""
    count = peek(mem, block + COUNT)
    end = count - min(count, most)
    freed = _0
    total = _0
    while count > end:
        count -= _1
        freed += _1
        entry = peek(mem, block + ENTRIES + count)
        # Count first: killed here, the node is lost; the other way round its successor would free it again.
        poke(mem, block + COUNT, count)
        barrier(mem)
        node, words = node_of(entry), words_of(entry)
        if entry & DEFERRED == _0:
            size = round_up(words)
            put_back(mem, me, node, size_class(size))
            total += size
        elif words == _0:
            _push_deferred(mem, me, node)
        else:
            push_holder(mem, me, node)
    poke(mem, me + P_LIVE, peek(mem, me + P_LIVE) - total)
    return freed
