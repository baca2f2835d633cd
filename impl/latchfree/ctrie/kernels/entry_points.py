"""Entry points: compiled calls on a whole trie, for Python code that keeps the interpreter lock.

A call that reads nodes is pinned while it works.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from numba import types

from latchfree.arena.kernels.epochs import pin, unpin
from latchfree.atomics import peek
from latchfree.ctrie.kernels import registry, snapshot
from latchfree.ctrie.kernels.gcas import gcas_read, read_root
from latchfree.ctrie.kernels.nodes import BITMAP, NIL
from latchfree.jit import entry, entry_point
from latchfree.kinds import Flag, Handle, Word


@entry
def _create(mem: Handle, hash_mask: Word, me: Word) -> Word:
    return snapshot.new_trie(mem, me, hash_mask)


@entry
def _destroy(mem: Handle, trie: Word, me: Word, slot: Word) -> None:
    pin(mem, me)
    snapshot.destroy(mem, trie, me, slot)
    unpin(mem, me)


@entry
def _drop(mem: Handle, trie: Word, me: Word, slot: Word) -> None:
    pin(mem, me)
    registry.drop(mem, trie, me, slot)
    unpin(mem, me)


@entry
def _sweep(mem: Handle, trie: Word, me: Word) -> None:
    pin(mem, me)
    registry.sweep(mem, trie, me)
    unpin(mem, me)


@entry
def _fork(mem: Handle, slot: Word, me: Word, hash_mask: Word) -> Word:
    pin(mem, me)
    trie = snapshot.fork_frozen(mem, me, slot, hash_mask)
    unpin(mem, me)
    return trie


@entry
def _adopt(mem: Handle, slot: Word, owner: Word, me: Word) -> Flag:
    return registry.adopt(mem, slot, owner, me)


@entry
def _discard(mem: Handle, slot: Word) -> None:
    registry.discard(mem, slot)


@entry
def _is_empty(mem: Handle, trie: Word, me: Word) -> Flag:
    pin(mem, me)
    # LP: the read of the root's main; below the root no C-node is ever empty.
    empty = peek(mem, gcas_read(mem, trie, read_root(mem, trie)) + BITMAP) == NIL
    unpin(mem, me)
    return empty


_FUNCTIONS: dict[str, tuple[Any, int]] = {
    "create": (_create, 3),
    "destroy": (_destroy, 4),
    "drop": (_drop, 4),
    "sweep": (_sweep, 3),
    "fork": (_fork, 4),
    "is_empty": (_is_empty, 3),
    "adopt": (_adopt, 4),
    "discard": (_discard, 2),
}


@cache
def call(name: str) -> Callable[..., Any]:
    """Return the entry point of that name, compiled when first asked for.

    =========  ==============================  ==========================================
    name       arguments                       kernel
    =========  ==============================  ==========================================
    create     base, hash mask, participant    `snapshot.new_trie`
    destroy    base, trie, participant, slot   `snapshot.destroy`
    fork       base, slot, participant, mask   `snapshot.fork_frozen`
    is_empty   base, trie, participant         whether the trie holds no key
    drop       base, trie, participant, slot   `registry.drop`
    sweep      base, trie, participant         `registry.sweep`
    adopt      base, slot, owner, identity     `registry.adopt`
    discard    base, slot                      `registry.discard`
    =========  ==============================  ==========================================

    Parameters
    ----------
    name : str
        One of those in the table.
    """
    function, arguments = _FUNCTIONS[name]
    return entry_point(function, *[types.uint64] * arguments)
