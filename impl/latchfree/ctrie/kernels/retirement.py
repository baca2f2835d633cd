"""Retirement: the nodes that an update has replaced go to limbo, or onto a deadlist while a snapshot sees them.

Example: an update of generation 9 replaces a C-node born in generation 4. No snapshot from 4 to 8 is registered, so the
C-node goes to the limbo of the thread and is free two epochs later. With snapshot 7 registered, it goes onto the
deadlist of 7.

Invariant: a node of birth b and death d is seen by the snapshots s with b <= s < d. Only the thread whose GCAS has
committed retires the old nodes that the new main lacks, with d the generation of the I-node. So each node is retired
once (mutant R2 lets helpers retire too). New snapshots have generations of at least d, so the snapshots that see a dead
node only become fewer, and the search for them needs no lock.

A trie made from a snapshot of another trie retires only nodes born in it; the rest belongs to the other trie.
"""

import numpy as np

from latchfree.arena.kernels.allocator import URGENT
from latchfree.arena.kernels.blocks import (
    COUNT,
    ENTRIES,
    LINK,
    SPARES,
    append,
    entry_for,
    is_full,
    new_block,
    node_of,
    stock_spares,
    take_spare,
)
from latchfree.arena.kernels.epochs import enqueue, retire
from latchfree.arena.kernels.node import gen_of, kind_of
from latchfree.arena.layout import H_EPOCH, P_SPARE_COUNT
from latchfree.atomics import barrier, in_line, load_seq, out_of_line, peek, poke
from latchfree.ctrie.kernels.gcas import READ_ONLY, gcas_read
from latchfree.ctrie.kernels.idle import unpark
from latchfree.ctrie.kernels.nodes import I_NODE, NIL, ONE
from latchfree.ctrie.kernels.registry import GEN, newest, push_block, still_seen
from latchfree.ctrie.kernels.scan import next_slot
from latchfree.ctrie.kernels.shape import IS_FORK, P_RETIRING, P_WALK, PLAIN, REGISTERED
from latchfree.ctrie.kernels.trees import retire_tree
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word

# The nodes being retired together, private to a participant.
_TRIE = P_RETIRING
_DEATH = P_RETIRING + np.uint64(1)
_SLOT = P_RETIRING + np.uint64(2)  # the newest snapshot below the death, NIL for none
_SEEN = P_RETIRING + np.uint64(3)  # its generation
_BLOCK = P_RETIRING + np.uint64(4)  # the block of nodes that wait for it
_ROOM = P_RETIRING + np.uint64(5)
# What the last search found: the newest snapshot below the generation _KNOWN (of one trie: generations are unique).
_KNOWN = P_RETIRING + np.uint64(6)
_KNOWN_SLOT = P_RETIRING + np.uint64(7)
_KNOWN_SEEN = P_RETIRING + np.uint64(8)

# The chains of blocks of a walk, each in the order of its nodes: those that a snapshot sees, and `_UNSEEN` further on
# the others. `_AT` is the first entry of the oldest that the walk has not reached.
_OLDEST = np.uint64(0)
_NEWEST = np.uint64(1)
_AT = np.uint64(2)
_UNSEEN = np.uint64(3)

_PAIR = np.uint64(2)


@kernel
def remember(mem: Handle, me: Word, death: Word, slot: Word, gen: Word) -> None:
    """Note that of the snapshots older than `death` the newest is of generation `gen`, in `slot`: both NIL for none.

    This may have been so at any time after the root came to `death`. Since then that snapshot may have been dropped,
    which `push_block` finds out, but no newer one can be there: a root of a generation in between is not the root any
    more. `gen` is what the search has read: the slot may have another generation by now, or none (mutant R6). For
    another death this says nothing, since snapshots may be in between (mutant R7).
    """
    # A thread killed in between leaves nothing that its successor could mistake.
    poke(mem, me + _KNOWN, NIL)
    barrier(mem)
    poke(mem, me + _KNOWN_SLOT, slot)
    poke(mem, me + _KNOWN_SEEN, gen)
    barrier(mem)
    poke(mem, me + _KNOWN, death)


@kernel
def _is_there(mem: Handle, slot: Word, gen: Word) -> Flag:
    """Return whether a snapshot that was found earlier is still there, so that no block goes further than it has to."""
    # spec: Reclamation!RetireKnown -- any order would do: a search would find the same, and push_block decides.
    return slot == NIL or load_seq(mem, slot + GEN) == gen


@kernel
def _find_newest(mem: Handle, me: Word) -> None:
    """Look for the newest snapshot that may see the nodes being retired."""
    slot, gen = newest(mem, peek(mem, me + _TRIE), peek(mem, me + _DEATH), NIL)
    poke(mem, me + _SLOT, slot)
    poke(mem, me + _SEEN, gen)
    remember(mem, me, peek(mem, me + _DEATH), slot, gen)


@kernel
def begin_retiring(mem: Handle, trie: Word, me: Word, death: Word, room: Word) -> None:
    """Start to retire about `room` nodes replaced in generation `death`."""
    poke(mem, me + _TRIE, trie)
    poke(mem, me + _DEATH, death)
    poke(mem, me + _BLOCK, NIL)
    poke(mem, me + _ROOM, room)
    # spec: Reclamation!RetireCount -- seq_cst: after the commit, so that it counts all that see the old nodes.
    if load_seq(mem, trie + REGISTERED) == NIL:
        poke(mem, me + _SLOT, NIL)
        poke(mem, me + _SEEN, NIL)
    elif peek(mem, me + _KNOWN) == death and _is_there(mem, peek(mem, me + _KNOWN_SLOT), peek(mem, me + _KNOWN_SEEN)):
        poke(mem, me + _SLOT, peek(mem, me + _KNOWN_SLOT))
        poke(mem, me + _SEEN, peek(mem, me + _KNOWN_SEEN))
    else:
        _find_newest(mem, me)


@kernel
def retire_node(mem: Handle, me: Word, node: Word) -> None:
    """Retire one node."""
    birth = gen_of(mem, node)
    if birth < gen_of(mem, peek(mem, me + _TRIE)):
        return
    if birth > peek(mem, me + _SEEN):
        retire(mem, me, node)
        return
    block = peek(mem, me + _BLOCK)
    if block == NIL:
        block = new_block(mem, me, peek(mem, me + _ROOM))
        poke(mem, me + _BLOCK, block)
    append(mem, block, entry_for(mem, node))
    if is_full(mem, block):
        _hand_on(mem, me)


@kernel
def finish_retiring(mem: Handle, me: Word) -> None:
    """Hand on the last block of nodes, and drop the idle snapshot, which is not current any more.

    One that is idle now was registered before the commit, so the search has found a snapshot. To drop one may need the
    spare blocks that retiring counts on; so it is dropped last.
    """
    _hand_on(mem, me)
    if peek(mem, me + _SLOT) != NIL:
        unpark(mem, peek(mem, me + _TRIE), me)


@kernel
def _hand_on(mem: Handle, me: Word) -> None:
    """Hand the block of nodes to the newest snapshot that sees them, or to limbo."""
    block = peek(mem, me + _BLOCK)
    poke(mem, me + _BLOCK, NIL)
    while block != NIL:
        slot = peek(mem, me + _SLOT)
        seen = peek(mem, me + _SEEN)
        if slot != NIL and push_block(mem, slot, seen, block):
            return
        # That snapshot was dropped meanwhile: look for the next older one. It takes the whole block, even if it sees
        # only part of it, for splitting needs memory; the rest is retired when it is dropped itself.
        _find_newest(mem, me)
        if still_seen(mem, block, peek(mem, me + _SEEN)) == NIL:
            # spec: Reclamation!RetireReadEpoch -- as in retire.
            enqueue(mem, me, block, load_seq(mem, H_EPOCH))
            return


@kernel
def _retire_seen_pair(mem: Handle, trie: Word, me: Word, death: Word, a: Word, b: Word) -> None:
    """Retire a pair where there are snapshots, or nodes that another trie has made."""
    out_of_line()
    begin_retiring(mem, trie, me, death, _PAIR)
    retire_node(mem, me, a)
    if b != NIL:
        retire_node(mem, me, b)
    finish_retiring(mem, me)


@kernel
def retire_pair(mem: Handle, trie: Word, me: Word, death: Word, a: Word, b: Word) -> None:
    """Retire a node, and another one unless it is NIL: all that most updates replace."""
    in_line()
    # spec: Reclamation!RetireCount -- as in begin_retiring.
    if load_seq(mem, trie + REGISTERED) != NIL or peek(mem, trie + IS_FORK) != NIL:
        _retire_seen_pair(mem, trie, me, death, a, b)
        return
    retire(mem, me, a)
    if b != NIL:
        retire(mem, me, b)


@kernel
def _list_node(mem: Handle, me: Word, node: Word) -> Flag:
    """Put a node at the end of its chain of a walk. False: there is no memory for another block."""
    chain = me + P_WALK + (_UNSEEN if gen_of(mem, node) > peek(mem, me + _SEEN) else NIL)
    block = peek(mem, chain + _NEWEST)
    if block == NIL or is_full(mem, block):
        if not stock_spares(mem, me, SPARES, URGENT) and peek(mem, me + P_SPARE_COUNT) < _PAIR:
            return False
        fresh = take_spare(mem, me)
        poke(mem, chain + _OLDEST if block == NIL else block + LINK, fresh)
        poke(mem, chain + _NEWEST, fresh)
        block = fresh
    append(mem, block, entry_for(mem, node))
    return True


@kernel
def _list_below(mem: Handle, me: Word, i: Word) -> Flag:
    """List the main of an I-node and what the main links to, unless another trie owns them. False: as `_list_node`."""
    oldest = gen_of(mem, peek(mem, me + _TRIE))
    m = gcas_read(mem, READ_ONLY, i)
    if gen_of(mem, m) < oldest:
        return True
    if not _list_node(mem, me, m):
        return False
    k = NIL
    slot = next_slot(mem, m, k)
    while slot != NIL:
        if gen_of(mem, slot & PLAIN) >= oldest and not _list_node(mem, me, slot & PLAIN):
            return False
        k += ONE
        slot = next_slot(mem, m, k)
    return True


@kernel
def _hand_over(mem: Handle, me: Word, chain: Word, block: Word) -> None:
    """Retire the nodes of a block of a walk, and take the block off its chain."""
    poke(mem, chain + _OLDEST, peek(mem, block + LINK))
    if chain == me + P_WALK:
        poke(mem, me + _BLOCK, block)
        _hand_on(mem, me)
    else:
        # spec: Reclamation!RetireReadEpoch -- as in retire.
        enqueue(mem, me, block, load_seq(mem, H_EPOCH))


@kernel
def _work_off(mem: Handle, me: Word, chain: Word) -> tuple[Flag, Flag]:
    """List what is below the nodes of a chain; return whether there was memory, and whether there was anything."""
    worked = False
    at = peek(mem, chain + _AT)
    while peek(mem, chain + _OLDEST) != NIL:
        block = peek(mem, chain + _OLDEST)
        if at < peek(mem, block + COUNT):
            worked = True
            node = node_of(peek(mem, block + ENTRIES + at))
            at += ONE
            if kind_of(mem, node) == I_NODE and not _list_below(mem, me, node):
                return False, worked
        elif peek(mem, block + LINK) != NIL:
            _hand_over(mem, me, chain, block)
            at = NIL
        else:
            break  # the block may still grow
    poke(mem, chain + _AT, at)
    return True, worked


@kernel
def retire_subtree(mem: Handle, trie: Word, me: Word, root: Word, death: Word) -> None:
    """Retire the whole tree below an I-node that was cut off in generation `death` and cannot change any more.

    If no snapshot sees a node of the tree and all nodes are ours, one step is enough, whatever the size of the tree.
    Otherwise each node is looked at now: later, nodes of another trie may be gone. The blocks that list the nodes for a
    snapshot, or for the limbo, are also the queue of the walk (as in Cheney's collector): the nodes below an I-node are
    listed when its entry is reached. So the walk needs no memory of its own, however deep the tree is. If memory for
    blocks runs out, even the reserve, the nodes that are not listed are lost until `latchfree arena fsck`.
    """
    # spec: Reclamation!RetireCount -- as in begin_retiring.
    if load_seq(mem, trie + REGISTERED) == NIL and peek(mem, trie + IS_FORK) == NIL:
        retire_tree(mem, me, root)
        return
    begin_retiring(mem, trie, me, death, NIL)
    seen, unseen = me + P_WALK, me + P_WALK + _UNSEEN
    for k in range(_UNSEEN + _UNSEEN):
        poke(mem, seen + np.uint64(k), NIL)
    more = gen_of(mem, root) >= gen_of(mem, trie) and _list_node(mem, me, root)
    while more:
        one, worked = _work_off(mem, me, seen)
        other, too = _work_off(mem, me, unseen)
        more = one and other and (worked or too)
    for chain in (seen, unseen):
        while peek(mem, chain + _OLDEST) != NIL:
            _hand_over(mem, me, chain, peek(mem, chain + _OLDEST))
    unpark(mem, trie, me)
