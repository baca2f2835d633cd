"""Epochs: they tell when nobody can hold an unlinked node any more.

Example: thread A pins itself in epoch 5 and reads the link to a node. Thread B unlinks the node and retires it in epoch
5. The epoch may go on to 6, but not to 7 before A has unpinned; and only in epoch 7 is the node freed.

Invariant: a participant that pinned itself in epoch e and has not unpinned keeps the epoch at e + 1 or below.
A node is retired after it was unlinked, in the epoch E read then. A thread that can still hold the node was pinned
before, in an epoch of at most E; so once the epoch is E + 2 no thread can, and the node is free.

Each participant keeps its retired nodes in a queue of blocks, oldest first (the *limbo*), and frees a few of them
at the start of every attempt: memory comes back as fast as it is asked for, and no call pays for a long backlog.

What a node links to is unknown here. A structure retires nodes one by one, or *defers* a whole, such as a tree. The
arena keeps the offset of the whole in limbo and hands it back on a list when its time has come. The structure then
frees the whole, as many nodes at a time as it likes. In the same way a structure gets back, on another list, the nodes
that hold what is outside of the arena.
"""

import numpy as np

from latchfree.arena.kernels.blocks import (
    COUNT,
    DEFERRED,
    EPOCH,
    LINK,
    append,
    empty_entry_for,
    entry_for,
    free_entries,
    is_full,
    recycle,
    take_spare,
)
from latchfree.arena.layout import (
    H_CLAIMED,
    H_EPOCH,
    P_NEWEST,
    P_OLDEST,
    P_PIN,
    P_RETIRED,
    PARTICIPANT_WORDS,
    PARTICIPANTS,
)
from latchfree.atomics import barrier, cas, exchange, in_line, load, load_seq, out_of_line, peek, poke, store
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word

_0 = np.uint64(0)
_1 = np.uint64(1)
_GRACE = np.uint64(2)
_FIRST = np.uint64(PARTICIPANTS)
_STRIDE = np.uint64(PARTICIPANT_WORDS)

#: Nodes a participant retires between two attempts to advance the epoch.
_PATIENCE = np.uint64(64)

#: Nodes an attempt frees before it begins, more than any but the rarest commit retires.
A_FEW = np.uint64(64)


@kernel
def pin(mem: Handle, me: Word) -> None:
    """Keep every node that is reachable from here on allocated until `unpin`."""
    # spec: Reclamation!PinLoad -- seq_cst; an old value only makes the pin stricter. With an acquire load RC11 (and no
    # processor) lets this thread pin an epoch that a thread which retires afterwards has not seen yet.
    epoch = load_seq(mem, H_EPOCH)
    # spec: Reclamation!PinPublish -- seq_cst (an exchange, not a store): the pin must be visible to whoever advances
    # the epoch before this thread reads its first node. In the store buffer it would protect nothing (mutant R5).
    exchange(mem, me + P_PIN, (epoch << _1) | _1)


@kernel
def unpin(mem: Handle, me: Word) -> None:
    """End what `pin` began: nodes read since may be freed from here on."""
    # spec: Reclamation!Unpin -- release: every read of this operation happens before whoever sees the slot unpinned.
    store(mem, me + P_PIN, _0)


@kernel
def try_advance(mem: Handle) -> Flag:
    """Advance the epoch, unless somebody is still pinned in an earlier one."""
    # spec: Reclamation!AdvanceLoad -- seq_cst, like every access of this function: it must not see a pin as absent that
    # was published before a node was unlinked which the new epoch would free.
    epoch = load_seq(mem, H_EPOCH)
    for k in range(load_seq(mem, H_CLAIMED)):
        # spec: Reclamation!AdvanceScan
        word = load_seq(mem, _FIRST + np.uint64(k) * _STRIDE + P_PIN)
        if word != _0 and word >> _1 != epoch:
            return False
    # spec: Reclamation!AdvanceCas -- failing means that somebody else moved it, which is as good.
    return cas(mem, H_EPOCH, epoch, epoch + _1)


@kernel
def enqueue(mem: Handle, me: Word, block: Word, epoch: Word) -> None:
    """Make a block of nodes unlinked before `epoch` was read the newest of the limbo."""
    poke(mem, block + EPOCH, epoch)
    poke(mem, block + LINK, _0)
    retired = peek(mem, me + P_RETIRED) + peek(mem, block + COUNT)
    if retired >= _PATIENCE:
        try_advance(mem)
        retired = _0
    poke(mem, me + P_RETIRED, retired)
    barrier(mem)
    if peek(mem, me + P_OLDEST) == _0:
        poke(mem, me + P_NEWEST, block)
        barrier(mem)
        poke(mem, me + P_OLDEST, block)
    else:
        poke(mem, peek(mem, me + P_NEWEST) + LINK, block)
        barrier(mem)
        poke(mem, me + P_NEWEST, block)


@kernel
def next_block(mem: Handle, me: Word, epoch: Word) -> Word:
    """Make an empty block the newest of the limbo."""
    out_of_line()
    if peek(mem, me + P_OLDEST) != _0 and peek(mem, peek(mem, me + P_NEWEST) + EPOCH) == epoch:
        # The newest one is full, and as many nodes are worth a try; a later epoch only makes them wait longer.
        try_advance(mem)
        epoch = load_seq(mem, H_EPOCH)
    block = take_spare(mem, me)
    enqueue(mem, me, block, epoch)
    return block


@kernel
def _add(mem: Handle, me: Word, entry: Word) -> None:
    """Append the entry of something that was unlinked before to the newest block of the limbo."""
    # spec: Reclamation!RetireReadEpoch -- seq_cst: must not be older than the epoch at the time of the unlinking CAS.
    epoch = load_seq(mem, H_EPOCH)
    block = peek(mem, me + P_NEWEST)
    if peek(mem, me + P_OLDEST) == _0 or peek(mem, block + EPOCH) != epoch or is_full(mem, block):
        block = next_block(mem, me, epoch)
    append(mem, block, entry)


@kernel
def retire(mem: Handle, me: Word, node: Word) -> None:
    """Free a node, which nothing links to any more, as soon as nobody can hold it.

    Needs a spare block at hand (`stock_spares`), which `begin` sees to.
    """
    in_line()
    _add(mem, me, entry_for(mem, node))


@kernel
def retire_empty(mem: Handle, me: Word, node: Word) -> None:
    """Retire a node that was installed and taken back: whatever its kind, it holds nothing."""
    _add(mem, me, empty_entry_for(mem, node))


@kernel
def defer(mem: Handle, me: Word, thing: Word) -> None:
    """Let the structure free a thing of its own as soon as nobody can hold the thing, or what it leads to.

    The thing is two words or more at an offset. In due time it is put on the list `P_DEFERRED` of a participant, linked
    through its first word; the arena neither reads it nor frees it.
    """
    _add(mem, me, thing | DEFERRED)


@kernel
def _drop_block(mem: Handle, me: Word, block: Word) -> None:
    """Take the oldest block, now empty, out of the limbo."""
    below = peek(mem, block + LINK)
    if below != _0 and peek(mem, me + P_NEWEST) == block:
        # Somebody was killed in `enqueue`.
        poke(mem, me + P_NEWEST, below)
        barrier(mem)
    poke(mem, me + P_OLDEST, below)
    barrier(mem)
    recycle(mem, me, block)


@kernel
def _is_due(mem: Handle, block: Word) -> Flag:
    """Return whether there is an oldest block and its time has come."""
    # Acquire is enough: an old epoch only makes it wait longer.
    return block != _0 and peek(mem, block + EPOCH) + _GRACE <= load(mem, H_EPOCH)


@kernel
def drain(mem: Handle, me: Word, most: Word) -> Flag:
    """Free up to about `most` nodes whose time has come. True: there may be more."""
    out_of_line()
    freed = _0
    while freed < most:
        block = peek(mem, me + P_OLDEST)
        if not _is_due(mem, block):
            return False
        freed += free_entries(mem, me, block, most - freed) + _1
        if peek(mem, block + COUNT) == _0:
            _drop_block(mem, me, block)
    return True


@kernel
def drain_a_few(mem: Handle, me: Word) -> None:
    """Free a few nodes, before an attempt begins; next to nothing is done when there is nothing to free."""
    if _is_due(mem, peek(mem, me + P_OLDEST)):
        drain(mem, me, A_FEW)
