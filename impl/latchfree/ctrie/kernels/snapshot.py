"""Snapshots and clear: three uses of RDCSS on the root.

Example: the root is of generation 5. A snapshot registers 5 and gives the trie a root of generation 6 with the same
main. From then on no update commits below the root of 5 (see gcas), so that tree is frozen.

Invariant: a generation belongs to one root. A writable snapshot goes on from the frozen root under yet another
generation. LP of snapshot and clear: the decision of the descriptor.

Pinned callers may read a frozen root as long as its generation is registered (see registry).
"""

from latchfree.arena.kernels.allocator import URGENT, abandon, failed, undo
from latchfree.arena.kernels.epochs import retire
from latchfree.arena.kernels.freelists import give, round_up
from latchfree.atomics import cas, exchange, load, peek, poke, store
from latchfree.ctrie.kernels.gcas import COMMIT, READ_ONLY, STATUS, gcas_read, new_descriptor, rdcss_complete, read_root
from latchfree.ctrie.kernels.idle import take_idle, unpark
from latchfree.ctrie.kernels.insert import FULL
from latchfree.ctrie.kernels.nodes import (
    HASH_MASK,
    NIL,
    ONE,
    PENDING,
    ROOT,
    ROOT_WORD,
    ROOT_WORDS,
    gen_of,
    new_cnode,
    new_generation,
    new_inode,
    new_node,
)
from latchfree.ctrie.kernels.registry import FORK, FROZEN, GEN, NEXT, NO_ROOM, TABLE_WORDS, drop, register
from latchfree.ctrie.kernels.retirement import remember, retire_pair, retire_subtree
from latchfree.ctrie.kernels.shape import DROP_LOCK, IDLE, IS_FORK, P_DOOMED, REGISTERED, SNAPSHOTS
from latchfree.ctrie.kernels.trees import begin, catch_up, free_tree_node, push_tree
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word


@kernel
def _new_root(mem: Handle, me: Word, hash_mask: Word, gen: Word, is_fork: Word) -> Word:
    trie = new_node(mem, me, ROOT, ROOT_WORDS, gen)
    poke(mem, trie + HASH_MASK, hash_mask)
    poke(mem, trie + SNAPSHOTS, NIL)
    poke(mem, trie + REGISTERED, NIL)
    poke(mem, trie + DROP_LOCK, NIL)
    poke(mem, trie + IS_FORK, is_fork)
    poke(mem, trie + IDLE, NIL)
    return trie


@kernel
def new_trie(mem: Handle, me: Word, hash_mask: Word) -> Word:
    """Return a new, empty trie, or FULL."""
    if not begin(mem, me, URGENT):
        return FULL
    gen = new_generation(mem)
    if gen == NIL:
        return FULL
    trie = _new_root(mem, me, hash_mask, gen, NIL)
    i = new_inode(mem, me, new_cnode(mem, me, NIL, NIL, gen), gen)
    if failed(mem, me):
        return FULL
    # spec: none -- a new trie, which nobody else knows yet.
    store(mem, trie + ROOT_WORD, i)
    return trie


@kernel
def try_replace(mem: Handle, trie: Word, me: Word, r: Word, empty: Flag) -> Word:
    """Try once to install a root of a new generation over root `r`, with its main or an empty one.

    Returns
    -------
    Word
        The generation; NIL if another thread was faster; FULL also if there are no generations left.
    """
    expected = gcas_read(mem, trie, r)
    if not begin(mem, me, URGENT):
        return FULL
    gen = new_generation(mem)
    if gen == NIL:
        return FULL
    main = new_cnode(mem, me, NIL, NIL, gen) if empty else expected
    new = new_inode(mem, me, main, gen)
    d = new_descriptor(mem, me, r, expected, new, gen)
    if failed(mem, me):
        return FULL
    # spec: Ctrie!RdcssInstall -- seq_cst: publishes the descriptor, and orders before the main read that decides.
    if not cas(mem, trie + ROOT_WORD, r, d | PENDING):
        undo(mem, me)
        return NIL
    rdcss_complete(mem, trie, d)
    # spec: none -- the status is decided by now, and final.
    if load(mem, d + STATUS) == COMMIT:
        # Helpers may still look at the descriptor; the root word does not hold it any more.
        retire(mem, me, d)
        return gen
    abandon(mem, me)
    return NIL


@kernel
def freeze(mem: Handle, trie: Word, me: Word) -> Word:
    """Take a read-only snapshot; return its slot in the registry, to be dropped in the end, or FULL.

    The slot's field `FROZEN` is the root I-node of a tree that no longer changes.
    """
    slot = NIL
    while True:
        r = read_root(mem, trie)
        gen = gen_of(mem, r)
        if slot == NIL or peek(mem, slot + GEN) != gen:
            if slot != NIL:
                drop(mem, trie, me, slot)
            slot = register(mem, trie, me, r, gen)
            if slot == NO_ROOM:
                return FULL
        death = try_replace(mem, trie, me, r, False)
        if death == FULL:
            drop(mem, trie, me, slot)
            return FULL
        if death != NIL:
            # The root of `death` came right after that of `gen`: no other snapshot is in between.
            remember(mem, me, death, slot, gen)
            retire_pair(mem, trie, me, death, r, NIL)
            return slot


@kernel
def take(mem: Handle, trie: Word, me: Word) -> Word:
    """Do as `freeze`, or take the idle snapshot if nothing was written since; to be given back by `idle.give`."""
    slot = take_idle(mem, trie, me)
    return freeze(mem, trie, me) if slot == NIL else slot


@kernel
def clear(mem: Handle, trie: Word, me: Word) -> Word:
    """Empty the trie in one step; return the generation of the new root, or FULL.

    First free the nodes that earlier calls have retired, so that a thread that does nothing else keeps up; and drop the
    idle snapshot, so that the tree can be retired in one step.
    """
    catch_up(mem, me)
    unpark(mem, trie, me)
    while True:
        r = read_root(mem, trie)
        death = try_replace(mem, trie, me, r, True)
        if death == FULL:
            return FULL
        if death != NIL:
            retire_subtree(mem, trie, me, r, death)
            return death


@kernel
def fork_frozen(mem: Handle, me: Word, slot: Word, hash_mask: Word) -> Word:
    """Return a new trie that starts with the contents of the snapshot in `slot`, or FULL.

    The trie reads nodes that the snapshot keeps, so the snapshot must outlive the trie.
    """
    if not begin(mem, me, URGENT):
        return FULL
    gen = new_generation(mem)
    if gen == NIL:
        return FULL
    trie = _new_root(mem, me, hash_mask, gen, ONE)
    # The frozen root may hold an aborted main; gcas_read settles it before it is copied.
    i = new_inode(mem, me, gcas_read(mem, READ_ONLY, peek(mem, slot + FROZEN)), gen)
    if failed(mem, me):
        return FULL
    # spec: none -- a new trie, which nobody else knows yet.
    store(mem, trie + ROOT_WORD, i)
    # spec: none -- writable snapshots are not modelled; only who owns the slot writes this field.
    store(mem, slot + FORK, trie)
    return trie


@kernel
def destroy(mem: Handle, trie: Word, me: Word, slot: Word) -> None:
    """Free a trie that nobody uses any more and that has no registered snapshots, all at once and without any memory.

    `slot` is that of the snapshot it goes on from, NIL if there is none; it is dropped afterwards.
    """
    # spec: none -- processes that die are not modelled.
    # First: if the process is killed from here on, nodes leak, and nobody frees a node twice.
    if slot != NIL and exchange(mem, slot + FORK, NIL) != trie:
        return
    poke(mem, me + P_DOOMED, NIL)
    push_tree(mem, me, P_DOOMED, read_root(mem, trie))
    while peek(mem, me + P_DOOMED) != NIL:
        free_tree_node(mem, me, P_DOOMED, gen_of(mem, trie))
    # spec: none -- a trie that nobody uses any more.
    table = load(mem, trie + SNAPSHOTS)
    while table != NIL:
        # spec: none -- as above.
        below = load(mem, table + NEXT)
        give(mem, me, table, round_up(TABLE_WORDS))
        table = below
    give(mem, me, trie, round_up(ROOT_WORDS))
