"""Entry points: compiled calls on a whole trie, for Python code that keeps the interpreter lock.

A call that reads nodes is pinned while it works.
"""

from latchfree.arena.kernels.epochs import pin, unpin
from latchfree.atomics import peek
from latchfree.ctrie.kernels import idle, registry, snapshot
from latchfree.ctrie.kernels.gcas import gcas_read, read_root
from latchfree.ctrie.kernels.nodes import BITMAP, NIL
from latchfree.jit import entry
from latchfree.kinds import Flag, Handle, Word


@entry
def create(mem: Handle, hash_mask: Word, me: Word) -> Word:
    """Return a new trie, see `snapshot.new_trie`."""
    return snapshot.new_trie(mem, me, hash_mask)


@entry
def destroy(mem: Handle, trie: Word, me: Word, slot: Word) -> None:
    """Free a trie, see `snapshot.destroy`."""
    pin(mem, me)
    snapshot.destroy(mem, trie, me, slot)
    unpin(mem, me)


@entry
def drop(mem: Handle, trie: Word, me: Word, slot: Word) -> None:
    """Give a snapshot back, see `registry.drop`."""
    pin(mem, me)
    registry.drop(mem, trie, me, slot)
    unpin(mem, me)


@entry
def unpark(mem: Handle, trie: Word, me: Word) -> None:
    """Drop the idle snapshot, see `idle.unpark`."""
    pin(mem, me)
    idle.unpark(mem, trie, me)
    unpin(mem, me)


@entry
def sweep(mem: Handle, trie: Word, me: Word) -> None:
    """Free the generations that nobody holds, see `registry.sweep`."""
    pin(mem, me)
    registry.sweep(mem, trie, me)
    unpin(mem, me)


@entry
def fork(mem: Handle, slot: Word, me: Word, hash_mask: Word) -> Word:
    """Return a new trie that goes on from a snapshot, see `snapshot.fork_frozen`."""
    pin(mem, me)
    trie = snapshot.fork_frozen(mem, me, slot, hash_mask)
    unpin(mem, me)
    return trie


@entry
def adopt(mem: Handle, slot: Word, owner: Word, me: Word) -> Flag:
    """Take a snapshot over, see `registry.adopt`."""
    return registry.adopt(mem, slot, owner, me)


@entry
def discard(mem: Handle, slot: Word) -> None:
    """Forget a snapshot, see `registry.discard`."""
    registry.discard(mem, slot)


@entry
def is_empty(mem: Handle, trie: Word, me: Word) -> Flag:
    """Return whether a trie holds no key."""
    pin(mem, me)
    # LP: the read of the root's main; below the root no C-node is ever empty.
    empty = peek(mem, gcas_read(mem, trie, read_root(mem, trie)) + BITMAP) == NIL
    unpin(mem, me)
    return empty
