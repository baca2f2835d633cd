"""Attempts: the nodes that an operation allocates between two tries of its compare-and-swap.

Example: an insert copies a C-node, which takes one node, and fails its CAS, as another thread was faster. It undoes the
attempt: nobody has seen the copy, so the copy is free at once. The insert begins the next attempt.

An operation works in *attempts*. `begin` starts one, `allocate` gives it nodes, `failed` tells whether memory ran out:
then nodes were written into a sink that nobody reads, and the attempt must not be published. An attempt ends in one of
three ways:

- the CAS succeeded: the nodes live;
- `undo`: the CAS failed or was not tried; nobody has seen the nodes, so they are free at once;
- `abandon`: the node was installed and taken back; others may hold it, so the nodes of the attempt go through the
  epochs (freeing them at once is mutant R4).
"""

import numpy as np

from latchfree.arena.kernels.blocks import SPARES, STOCK, stock_spares, take_of_stock
from latchfree.arena.kernels.epochs import drain_a_few, retire_empty
from latchfree.arena.kernels.freelists import free, round_up, take
from latchfree.arena.layout import P_FAILED, P_JOURNAL, P_JOURNALLED, P_SINK, P_SPARE_COUNT, P_URGENT, SINK_WORDS
from latchfree.atomics import in_line, out_of_line, peek, poke
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word

_0 = np.uint64(0)
_1 = np.uint64(1)
_SINK_WORDS = np.uint64(SINK_WORDS)

#: Who may use the arena's reserve. An operation that frees more than it takes is urgent.
ORDINARY = np.uint64(0)
URGENT = np.uint64(1)


@kernel
def begin(mem: Handle, me: Word, urgent: Word) -> Flag:
    """Start an attempt. False: the arena is full, nothing changed."""
    in_line()
    poke(mem, me + P_JOURNALLED, _0)
    poke(mem, me + P_FAILED, _0)
    poke(mem, me + P_URGENT, urgent)
    drain_a_few(mem, me)
    return (
        peek(mem, me + P_SPARE_COUNT) >= STOCK
        or stock_spares(mem, me, STOCK, urgent)
        or (urgent != _0 and peek(mem, me + P_SPARE_COUNT) >= SPARES)
    )


@kernel
def allocate(mem: Handle, me: Word, words: Word) -> Word:
    """Return the offset of a node of at least `words` words, its content arbitrary.

    When memory has run out, return the sink, or NIL for a node larger than the sink; see `failed`.
    """
    size = round_up(words)
    node = take(mem, me, size, peek(mem, me + P_URGENT))
    return _journalled(mem, me, node) if node != _0 else _without_memory(mem, me, size)


@kernel
def _journalled(mem: Handle, me: Word, node: Word) -> Word:
    """Note a node as one of the attempt, and return it."""
    count = peek(mem, me + P_JOURNALLED)
    poke(mem, me + P_JOURNAL + count, node)
    poke(mem, me + P_JOURNALLED, count + _1)
    return node


@kernel
def _without_memory(mem: Handle, me: Word, size: Word) -> Word:
    """Do as `allocate` where no memory is free."""
    out_of_line()
    node = take_of_stock(mem, me, size) if peek(mem, me + P_URGENT) != _0 else _0
    if node != _0:
        return _journalled(mem, me, node)
    poke(mem, me + P_FAILED, _1)
    return me + P_SINK if size <= _SINK_WORDS else _0


@kernel
def failed(mem: Handle, me: Word) -> Flag:
    """Return whether the attempt has run out of memory; then all its nodes have been freed."""
    if peek(mem, me + P_FAILED) == _0:
        return False
    undo(mem, me)
    return True


@kernel
def undo(mem: Handle, me: Word) -> None:
    """Free every node of the current attempt. None may have been published."""
    out_of_line()
    count = peek(mem, me + P_JOURNALLED)
    for k in range(count):
        node = peek(mem, me + P_JOURNAL + np.uint64(k))
        free(mem, me, node)
    poke(mem, me + P_JOURNALLED, _0)


@kernel
def abandon(mem: Handle, me: Word) -> None:
    """Retire every node of the current attempt, which others may have seen."""
    out_of_line()
    count = peek(mem, me + P_JOURNALLED)
    for k in range(count):
        retire_empty(mem, me, peek(mem, me + P_JOURNAL + np.uint64(k)))
    poke(mem, me + P_JOURNALLED, _0)
