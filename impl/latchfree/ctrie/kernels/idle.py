"""The idle snapshot of a trie: registered, held by nobody, and taken again while nothing was written.

Example: a loop takes a read-only snapshot and gives it back, a million times, and nobody writes. The first call
registers a snapshot of generation 5. Each give-back parks the snapshot in the word `IDLE` of the trie, and the next
call takes it out again: no generation, no root and no slot is made. The first put after that drops the snapshot.

Invariant: a slot in `IDLE` is registered, has no fork, and belongs to nobody. Who takes it out by CAS owns it alone. So
it does not matter if the slot was away in between, and is that of another snapshot by now: whoever has it looks at it
only afterwards.

A snapshot is current if the main of its root is also the main of the trie's root. This cannot lie. The main of the
frozen root is not freed while the snapshot is registered. A root gets its main from the root before it or a new one,
and a GCAS puts a new one in. So a root that has this main has had it since it was the root, and so had each root
between. Below it nothing has changed: the I-nodes there are older than the root, and an update first renews them, with
a new main in the root. LP of who takes such a snapshot: the read of the root. (Without the comparison: mutant R21.)

After a write nobody leaves a snapshot idle that was taken before it. Who parks one looks again afterwards, and the
writer looks at `IDLE` after the commit; so one of the two sees the other, and drops the snapshot (mutants R22, R23).
The writer does so when its nodes are retired: to drop a snapshot may need blocks that the retiring counts on.

Only tries of private arenas park snapshots, and no trie that goes on from a snapshot does.
"""

from latchfree.atomics import cas, load, load_seq, out_of_line, peek
from latchfree.ctrie.kernels.gcas import READ_ONLY, gcas_read, read_root
from latchfree.ctrie.kernels.nodes import NIL
from latchfree.ctrie.kernels.registry import FORK, FROZEN, drop
from latchfree.ctrie.kernels.shape import IDLE, IS_FORK
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word


@kernel
def is_current(mem: Handle, trie: Word, main: Word) -> Flag:
    """Return whether the root of a trie has this main, which is that of a registered snapshot."""
    # LP of `take_idle`, if so: the read of the root (Reclamation!ReadRoot, Idle!Compare).
    return gcas_read(mem, trie, read_root(mem, trie)) == main


@kernel
def frozen_main(mem: Handle, slot: Word) -> Word:
    """Return the main of a snapshot's root; the caller has the slot."""
    return gcas_read(mem, READ_ONLY, peek(mem, slot + FROZEN))


@kernel
def take_idle(mem: Handle, trie: Word, me: Word) -> Word:
    """Return the slot of a snapshot of what the trie holds now, if one is idle, else NIL; the caller is pinned."""
    # spec: Idle!TakeLoad -- any order would do: the CAS decides.
    slot = load_seq(mem, trie + IDLE)
    # spec: Idle!TakeCas -- acquire: the slot is as who has parked it left it.
    if slot == NIL or not cas(mem, trie + IDLE, slot, NIL):
        return NIL
    if is_current(mem, trie, frozen_main(mem, slot)):
        return slot
    drop(mem, trie, me, slot)
    return NIL


@kernel
def give(mem: Handle, trie: Word, me: Word, slot: Word) -> None:
    """Give a snapshot back: park it if it is current and no other one is idle, else drop it; the caller is pinned."""
    # spec: none -- writable snapshots are not modelled; only who owns the slot writes this field.
    if peek(mem, trie + IS_FORK) == NIL and load(mem, slot + FORK) == NIL:
        main = frozen_main(mem, slot)
        # spec: Idle!Park -- seq_cst: before the next look at the root, so that one of this thread and a writer sees
        # the other. Releases the slot to who takes it.
        if is_current(mem, trie, main) and cas(mem, trie + IDLE, NIL, slot):
            # From here on the slot may be another's. If the main is freed and used again meanwhile, the slot is gone.
            if is_current(mem, trie, main):
                return
            # spec: Idle!TakeBack -- as in `take_idle`.
            if not cas(mem, trie + IDLE, slot, NIL):
                return
    drop(mem, trie, me, slot)


@kernel
def unpark(mem: Handle, trie: Word, me: Word) -> None:
    """Drop the idle snapshot, if there is one; the caller is pinned."""
    # spec: Idle!UnparkLoad -- seq_cst: after the commit of a writer, so that it sees what was parked before.
    slot = load_seq(mem, trie + IDLE)
    if slot != NIL:
        _unpark(mem, trie, me, slot)


@kernel
def _unpark(mem: Handle, trie: Word, me: Word, slot: Word) -> None:
    """Do so where there is one: the rare case."""
    out_of_line()
    # spec: Idle!UnparkCas -- as in `take_idle`. If it fails, another one has taken it out, and will look at the root.
    if cas(mem, trie + IDLE, slot, NIL):
        drop(mem, trie, me, slot)
