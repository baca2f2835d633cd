"""Registered snapshots of a trie: the generations that somebody may still read, and the deadlist of each.

Example: snapshots 3 and 7 are registered, and an update of generation 9 replaces a node born in generation 2. Both
snapshots see the node, so it waits on the deadlist of 7, the newest. When 7 is dropped, the node moves to the deadlist
of 3; when 3 is dropped, it is retired.

Invariant: a snapshot is registered before the root that it freezes is replaced, and as long as it is read. So a thread
that replaces a node in generation d sees every snapshot below d that there will ever be.

A trie's snapshots live in slots, a table of them at a time. The head of a slot's deadlist is its newest block, or
EMPTY and the generation, or CLOSED. Lists only grow or are taken whole.

A slot may be given to another snapshot between the read of a head and the CAS. Whose head it is, the generation tells,
which is read after the head (mutant R13). And a slot remembers the generation it had last, and is never given to an
older one: a thread that has read the root long ago registers a generation that is past, until it finds out that it is
late. So the lists of a slot only become newer. If a head is the same again at the CAS, then it is that of a list at
least as new as the snapshot that was found, which no node misses that this one sees (without: mutant R20). An EMPTY
head has the generation in it (mutant R16). The address of a block that goes into limbo comes back only after grace, and
who pushes has been pinned since before it read the head, or is the one who drops (without grace: mutant R15).

One thread at a time drops snapshots. A thread that finds the lock taken leaves a mark and goes; the holder looks for
marks after unlocking. So a thread that is stopped while dropping delays the return of memory and nothing else.
"""

import numpy as np

from latchfree.arena.kernels.allocator import URGENT
from latchfree.arena.kernels.blocks import COUNT, ENTRIES, LINK, SPARES, node_of, stock_spares, take_urgently
from latchfree.arena.kernels.epochs import enqueue, retire
from latchfree.arena.kernels.freelists import round_up
from latchfree.arena.kernels.node import gen_of, header
from latchfree.arena.kernels.participants import FREE as NOBODY
from latchfree.arena.layout import H_EPOCH, H_GENERATION, IDENTITY_SHIFT, P_INCARNATION, P_STATE
from latchfree.atomics import cas, exchange, fetch_add, load, load_seq, peek, poke, store
from latchfree.ctrie.kernels.shape import DROP_LOCK, REGISTERED, SNAPSHOTS, TABLE
from latchfree.ctrie.kernels.trees import drain
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word

_0 = np.uint64(0)
_1 = np.uint64(1)
_MINUS_1 = np.uint64((1 << 64) - 1)
NO_ROOM = _MINUS_1

#: Words of a table: header, next table, and then one array of `TABLE_SLOTS` words a field.
NEXT = np.uint64(1)
FIRST_SLOT = np.uint64(2)
TABLE_SLOTS = np.uint64(10)
TABLE_WORDS = np.uint64(2 + 6 * 10)

# Fields of a slot, as distances from the word that holds its generation.
GEN = np.uint64(0)
HEAD = np.uint64(10)
OWNER = np.uint64(20)  # identity of the opening, 0 where the slot is free
STATE = np.uint64(30)  # DROPPED, or the generation that the slot had before, shifted by `_PAST`
FORK = np.uint64(40)  # the trie that continues from this snapshot, if it is a writable one
FROZEN = np.uint64(50)  # the root I-node it is read from

DROPPED = np.uint64(2)
_PAST = np.uint64(2)

EMPTY = np.uint64(1 << 63)
CLOSED = _MINUS_1

#: Nodes, and the blocks that list them, freed for each that is retired by a drop.
_GENEROUS = np.uint64(3)

_INCARNATION_SHIFT = np.uint64(32)
_OWNER_MASK = np.uint64((1 << 32) - 1)


@kernel
def _new_table(mem: Handle, me: Word) -> Word:
    """Return an empty table; NIL when there is no memory."""
    table = take_urgently(mem, me, round_up(TABLE_WORDS))
    if table != _0:
        poke(mem, table, header(TABLE, TABLE_WORDS, _0))
        for k in range(_1, TABLE_WORDS):
            poke(mem, table + np.uint64(k), _0)
        for k in range(TABLE_SLOTS):
            poke(mem, table + FIRST_SLOT + np.uint64(k) + HEAD, CLOSED)
    return table


@kernel
def _may_take(mem: Handle, slot: Word, gen: Word) -> Flag:
    """Return whether a slot that is not in use had no newer generation than `gen` before."""
    # spec: Reclamation!Register -- acquire: pairs with the store of the generation, before that of no owner.
    return load(mem, slot + STATE) >> _PAST <= gen


@kernel
def claim_slot(mem: Handle, trie: Word, me: Word, gen: Word) -> Word:
    """Return a slot for a new snapshot of generation `gen`; NO_ROOM when there is no memory for another table."""
    link = trie + SNAPSHOTS
    while True:
        # spec: none -- the chain of tables only grows. Acquire: pairs with the CAS that linked the table.
        table = load(mem, link)
        if table == _0:
            fresh = _new_table(mem, me)
            if fresh == _0:
                return NO_ROOM
            # The last link of a chain that only grows; the loser puts the table at the end of the chain.
            # spec: none -- as above.
            while not cas(mem, link, _0, fresh):
                # spec: none -- as above.
                link = load(mem, link) + NEXT
            table = fresh
        for k in range(TABLE_SLOTS):
            slot = table + FIRST_SLOT + np.uint64(k)
            # spec: Reclamation!Register
            if load(mem, slot + OWNER) != _0 or not _may_take(mem, slot, gen):
                continue
            # spec: Reclamation!Register
            if cas(mem, slot + OWNER, _0, peek(mem, me + P_STATE) >> IDENTITY_SHIFT):
                if _may_take(mem, slot, gen):
                    return slot
                # spec: none -- somebody had it since the first look: given back as it was taken.
                store(mem, slot + OWNER, _0)
        link = table + NEXT


@kernel
def register(mem: Handle, trie: Word, me: Word, root: Word, gen: Word) -> Word:
    """Announce a snapshot of the root I-node `root`, of generation `gen`; return its slot, or NO_ROOM.

    Register before the root of that generation is replaced, and before the root's content is read for the snapshot: a
    thread that does not see the registration frees nodes that the snapshot would read (mutant R1).
    """
    slot = claim_slot(mem, trie, me, gen)
    if slot == NO_ROOM:
        return NO_ROOM
    poke(mem, slot + FORK, _0)
    poke(mem, slot + FROZEN, root)
    # spec: Reclamation!Register -- nobody looks at the list before the generation is there.
    store(mem, slot + HEAD, EMPTY | gen)
    # spec: Reclamation!RegisterCount -- before the generation: nobody who could see that one sees a count of zero.
    fetch_add(mem, trie + REGISTERED, _1)
    # spec: Reclamation!RegisterPublish -- seq_cst: visible before the descriptor that freezes the root is installed.
    exchange(mem, slot + GEN, gen)
    return slot


@kernel
def newest(mem: Handle, trie: Word, below: Word, other_than: Word) -> tuple[Word, Word]:
    """Return slot and generation of the newest registered snapshot older than generation `below`, or twice NIL.

    Both are of one instant. A second read of the generation could come after the snapshot is gone; then the caller
    would not know that an older snapshot is there (mutant R6).
    """
    best = _0
    best_gen = _0
    # spec: none -- the chain of tables only grows.
    table = load(mem, trie + SNAPSHOTS)
    while table != _0:
        for k in range(TABLE_SLOTS):
            slot = table + FIRST_SLOT + np.uint64(k)
            # spec: Reclamation!RetireScan, Reclamation!SweepPrev -- seq_cst: sees all that were registered before the
            # root moved past them.
            gen = load_seq(mem, slot + GEN)
            better = best_gen < gen and gen < below and slot != other_than
            # spec: Reclamation!RetireScanHead -- seq_cst: a list that is closed takes nothing any more.
            if better and load_seq(mem, slot + HEAD) != CLOSED:
                best, best_gen = slot, gen
        # spec: none -- as above.
        table = load(mem, table + NEXT)
    return best, best_gen


@kernel
def push_block(mem: Handle, slot: Word, gen: Word, block: Word) -> Flag:
    """Put a block on the deadlist of the snapshot of generation `gen` in a slot. False: that one is gone."""
    while True:
        # spec: Reclamation!RetireHead, Reclamation!SweepHead
        head = load_seq(mem, slot + HEAD)
        # spec: Reclamation!RetireCheck -- after the head: if the generation still is `gen`, then the head was its.
        if head == CLOSED or load_seq(mem, slot + GEN) != gen:
            return False
        poke(mem, block + LINK, head)
        # spec: Reclamation!RetirePush, Reclamation!SweepMove -- seq_cst (release suffices): publishes the block.
        if cas(mem, slot + HEAD, head, block):
            return True


@kernel
def _split_block(mem: Handle, me: Word, block: Word, seen_up_to: Word) -> None:
    """Retire the nodes of a private block that were born after generation `seen_up_to`."""
    count = peek(mem, block + COUNT)
    kept = _0
    for k in range(count):
        entry = peek(mem, block + ENTRIES + np.uint64(k))
        if gen_of(mem, node_of(entry)) > seen_up_to:
            retire(mem, me, node_of(entry))
        else:
            poke(mem, block + ENTRIES + kept, entry)
            kept += _1
    poke(mem, block + COUNT, kept)


@kernel
def still_seen(mem: Handle, block: Word, seen_up_to: Word) -> Word:
    """Return how many nodes of a block were born at generation `seen_up_to` or before."""
    seen = _0
    for k in range(peek(mem, block + COUNT)):
        if gen_of(mem, node_of(peek(mem, block + ENTRIES + np.uint64(k)))) <= seen_up_to:
            seen += _1
    return seen


@kernel
def _redistribute(mem: Handle, me: Word, head: Word, older: Word, seen_up_to: Word) -> None:
    """Move the blocks of a closed deadlist to the next older snapshot, or retire their nodes.

    As many nodes as are retired here are freed, so that a thread that only drops snapshots keeps up.
    """
    retired = _0
    block = head
    while block & EMPTY == _0:
        below = peek(mem, block + LINK)
        seen = still_seen(mem, block, seen_up_to)
        retired += peek(mem, block + COUNT) - seen
        if seen == _0:
            # The block becomes part of the limbo as it is: dropping needs no memory.
            # spec: Reclamation!RetireReadEpoch -- as in retire.
            enqueue(mem, me, block, load_seq(mem, H_EPOCH))
        else:
            if seen < peek(mem, block + COUNT) and stock_spares(mem, me, SPARES, URGENT):
                _split_block(mem, me, block, seen_up_to)
            push_block(mem, older, seen_up_to, block)
        block = below
    drain(mem, me, retired * _GENEROUS)


@kernel
def _process(mem: Handle, trie: Word, me: Word, slot: Word) -> None:
    """Take a dropped snapshot out of the registry; the caller holds the lock."""
    past = gen = peek(mem, slot + GEN)
    # spec: Reclamation!SweepClose -- seq_cst: a block pushed before is in the list, a later pusher searches again.
    head = exchange(mem, slot + HEAD, CLOSED)
    # Two snapshots may have one generation for a while, when one of them is about to fail.
    older, seen_up_to = newest(mem, trie, gen + _1, slot)
    # Killed after this, the count stays too high, which costs time only. Whoever finishes the job finds no generation
    # and does not count down again.
    # spec: Reclamation!SweepClear
    if exchange(mem, slot + GEN, _0) != _0:
        # spec: Reclamation!SweepUncount
        fetch_add(mem, trie + REGISTERED, _MINUS_1)
    else:
        # spec: none -- processes that die are not modelled. No snapshot has had a newer generation than this.
        past = load(mem, H_GENERATION)
    # spec: Reclamation!SweepFree -- before the slot can be claimed again.
    store(mem, slot + STATE, past << _PAST)
    # spec: Reclamation!SweepFree -- release: the slot's next owner must find it out of use.
    store(mem, slot + OWNER, _0)
    _redistribute(mem, me, head, older, seen_up_to)


@kernel
def _find_dropped(mem: Handle, trie: Word) -> Word:
    # spec: none -- the chain of tables only grows.
    table = load(mem, trie + SNAPSHOTS)
    while table != _0:
        for k in range(TABLE_SLOTS):
            slot = table + FIRST_SLOT + np.uint64(k)
            # spec: Reclamation!SweepScan, Reclamation!SweepRecheck
            if load_seq(mem, slot + STATE) == DROPPED:
                return slot
        # spec: none -- as above.
        table = load(mem, table + NEXT)
    return _0


@kernel
def lock(mem: Handle, trie: Word, me: Word) -> Flag:
    """Try to take the lock of dropping, also from a participant that has died."""
    mine = me | (peek(mem, me + P_INCARNATION) << _INCARNATION_SHIFT)
    # spec: Reclamation!SweepLock -- to see whose it is.
    held = load_seq(mem, trie + DROP_LOCK)
    if held != _0:
        owner = held & _OWNER_MASK
        # spec: none -- processes that die are not modelled.
        alive = load(mem, owner + P_INCARNATION) == held >> _INCARNATION_SHIFT
        # spec: none -- as above.
        if alive and load(mem, owner + P_STATE) != NOBODY:
            return False
    # spec: Reclamation!SweepLock
    return cas(mem, trie + DROP_LOCK, held, mine)


@kernel
def sweep(mem: Handle, trie: Word, me: Word) -> None:
    """Process all dropped snapshots, unless another thread does so."""
    while _find_dropped(mem, trie) != _0:
        if not lock(mem, trie, me):
            return
        while True:
            slot = _find_dropped(mem, trie)
            if slot == _0:
                break
            _process(mem, trie, me, slot)
        # spec: Reclamation!SweepUnlock -- seq_cst: before the next look for marks, so one of the two sees the other.
        exchange(mem, trie + DROP_LOCK, _0)


@kernel
def drop(mem: Handle, trie: Word, me: Word, slot: Word) -> None:
    """Give up a registered snapshot: the nodes that only this snapshot could see become free."""
    # spec: Reclamation!DropMark, Idle!UnparkMark -- seq_cst: visible before the lock is tried.
    exchange(mem, slot + STATE, DROPPED)
    if lock(mem, trie, me):
        # spec: Reclamation!SweepScan -- somebody else may have been faster; then the slot may even be in use again.
        if load_seq(mem, slot + STATE) == DROPPED:
            _process(mem, trie, me, slot)
        # spec: Reclamation!SweepUnlock -- as in sweep.
        exchange(mem, trie + DROP_LOCK, _0)
    sweep(mem, trie, me)


@kernel
def adopt(mem: Handle, slot: Word, owner: Word, identity: Word) -> Flag:
    """Make the slot of the dead process `owner` ours. False: somebody else was faster."""
    # spec: none -- processes that die are not modelled.
    return cas(mem, slot + OWNER, owner, identity)


@kernel
def discard(mem: Handle, slot: Word) -> None:
    """Free a slot of ours that has no generation yet.

    Its claimer may have counted it already. Then the count stays too high, which costs time only.
    """
    # spec: none -- processes that die are not modelled.
    store(mem, slot + HEAD, CLOSED)
    # spec: none -- as above.
    store(mem, slot + OWNER, _0)
