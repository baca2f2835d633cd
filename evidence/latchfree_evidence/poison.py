"""A memory handle that knows which nodes are free: a use after free ends the operation with a verdict.

Example: a mutant frees a node that thread 2 still reads. Compiled for a poisoned handle, the read raises
`UseAfterFree`, and the run says which thread has read which word of which node, and which thread had freed it.

Each word of the arena has a *mark*: zero, or the free node that it belongs to and the thread that freed the node. Every
access looks at the mark of its word; a read looks again after it has read, so that no node is freed in between.
Offsets outside of the arena are refused in the same way, so nothing follows a wild link. Besides, the words of a free
node beyond its links are overwritten with *poison*, an offset that lies outside of any arena and names the node.

`latchfree_evidence.mutants.poisoned` sets and clears the marks, and lets free lists work on bare memory. Threads give
up the processor as on a jittered handle.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

from latchfree import atomics
from latchfree.atomics import cas, exchange, load, peek, poke, store
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree_evidence.jitter import STATE_WORDS, shake, yield_processor

_0 = np.uint64(0)
_1 = np.uint64(1)
_2 = np.uint64(2)
_3 = np.uint64(3)
_8 = np.uint64(8)

#: An arena has fewer than 2**39 words, so bit 39 alone leads out of any.
POISON = np.uint64((0xF5EE << 48) | (1 << 39))
_OFFSET: Final = (1 << 39) - 1

# Words of a thread's state, after those of `latchfree_evidence.jitter.Jittered`.
_MARKS = np.uint64(STATE_WORDS)
_WORDS = np.uint64(STATE_WORDS + 1)
_THREAD = np.uint64(STATE_WORDS + 2)
_VERDICT = np.uint64(STATE_WORDS + 3)
POISONED_WORDS = STATE_WORDS + 4

_ACCESSES: Final = ("reads", "writes", "frees")
_READS, _WRITES, _FREES = np.uint64(0), np.uint64(1), np.uint64(2)


class UseAfterFree(Exception):
    """An operation has used a node that was free, or an offset outside of the arena."""


class Poisoned(NamedTuple):
    """A base address, and the address of the thread's state."""

    base: Any
    state: Any


class Marks:
    """The marks of an arena, and what was found out.

    Parameters
    ----------
    words : int
        Of the arena.
    """

    def __init__(self, words: int) -> None:
        self._marks: NDArray[np.uint64] = np.zeros(words, np.uint64)
        self._verdict: NDArray[np.uint64] = np.zeros(4, np.uint64)

    def prepare(self, state: NDArray[np.uint64], thread: int) -> None:
        """Write a thread's state, of `POISONED_WORDS` words."""
        addresses = self._marks.ctypes.data, len(self._marks), thread, self._verdict.ctypes.data
        state[int(_MARKS) : int(_VERDICT) + 1] = addresses

    def explain(self) -> str:
        """Return what was found first, in words."""
        reader, at, mark, access = self._verdict.tolist()
        what = f"use after free: thread {reader - 1} {_ACCESSES[access]}"
        if mark:
            node = mark >> 8
            return f"{what} word {at - node} of the node at word {node}, which thread {(mark & 255) - 1} has freed"
        what += f" at word {at:#x}, outside of the arena"
        return f"{what}: that is poison of the node at word {at & _OFFSET}" if at >> 39 & 1 else what


@kernel
def _accuse(state: Word, at: Word, mark: Word, access: Word) -> None:
    """Record what an access has met, unless something was found before."""
    verdict = peek(state, _VERDICT)
    if cas(verdict, _0, _0, peek(state, _THREAD) + _1):
        store(verdict, _1, at)
        store(verdict, _2, mark)
        store(verdict, _3, access)


@kernel
def _look(state: Word, at: Word, access: Word) -> None:
    """Raise UseAfterFree if a word is free or outside of the arena, or once somebody has met such a word."""
    mark = _0
    if at < peek(state, _WORDS):
        # Acquire: pairs with the exchange in `mark_freed`; a thread that may hold the node must see no mark.
        mark = load(peek(state, _MARKS), at)
        if mark == _0 and load(peek(state, _VERDICT), _0) == _0:
            return
    _accuse(state, at, mark, access)
    raise UseAfterFree


def is_poisoned(mem: Any) -> bool:
    """Return whether a numba type is that of a poisoned handle."""
    return isinstance(mem, types.BaseNamedTuple) and getattr(mem, "instance_class", None) is Poisoned


def plain(mem: Handle) -> Handle:
    """Return the handle that free lists work on: of a poisoned handle the bare memory."""
    raise NotImplementedError  # compiled: see the overload below


@overload(plain)
def _plain(mem):  # type: ignore[no-untyped-def]
    if is_poisoned(mem):
        return lambda mem: mem.base
    return lambda mem: mem


def mark_freed(mem: Handle, node: Word, words: Word) -> None:
    """Mark a node as free and poison its words; raise UseAfterFree if it is free already."""
    raise NotImplementedError  # compiled: see the overload below


@overload(mark_freed)
def _mark_freed(mem, node, words):  # type: ignore[no-untyped-def]
    if not is_poisoned(mem):
        return lambda mem, node, words: None

    def freed(mem, node, words):  # type: ignore[no-untyped-def]
        state = mem.state
        mark = (node << _8) | (peek(state, _THREAD) + _1)
        for k in range(words):
            at = node + np.uint64(k)
            _look(state, at, _FREES)
            # seq_cst: of two threads that free a node one sees the mark of the other.
            before = exchange(peek(state, _MARKS), at, mark)
            if before != _0:
                _accuse(state, at, before, _FREES)
                raise UseAfterFree
            if k > 1:  # the first two words are links of free lists
                poke(mem.base, at, POISON | node)

    return freed


def mark_taken(mem: Handle, node: Word, words: Word) -> None:
    """Take the mark off a node that was taken."""
    raise NotImplementedError  # compiled: see the overload below


@overload(mark_taken)
def _mark_taken(mem, node, words):  # type: ignore[no-untyped-def]
    if not is_poisoned(mem):
        return lambda mem, node, words: None

    def taken(mem, node, words):  # type: ignore[no-untyped-def]
        for k in range(words):
            store(peek(mem.state, _MARKS), node + np.uint64(k), _0)

    return taken


# accesses ------------------------------------------------------------------------------------------------------------


def _read(operation: Any, *, shaken: bool) -> None:
    def choose(mem, at):  # type: ignore[no-untyped-def]
        if not is_poisoned(mem):
            return None

        def checked(mem, at):  # type: ignore[no-untyped-def]
            if shaken:
                shake(mem.state)
            word = np.uint64(at)
            _look(mem.state, word, _READS)
            found = operation(mem.base, word)
            _look(mem.state, word, _READS)
            return found

        return checked

    overload(operation)(choose)


def _write(operation: Any, *, shaken: bool) -> None:
    def choose(mem, at, value):  # type: ignore[no-untyped-def]
        if not is_poisoned(mem):
            return None

        def checked(mem, at, value):  # type: ignore[no-untyped-def]
            if shaken:
                shake(mem.state)
            word = np.uint64(at)
            _look(mem.state, word, _WRITES)
            return operation(mem.base, word, value)

        return checked

    overload(operation)(choose)


_read(atomics.load, shaken=True)
_read(atomics.load_seq, shaken=True)
_read(atomics.load_unsure, shaken=True)
_read(atomics.peek, shaken=False)
_write(atomics.poke, shaken=False)
for _operation in ("store", "exchange", "fetch_add", "fetch_or", "fetch_and", "fetch_max", "fetch_min"):
    _write(getattr(atomics, _operation), shaken=True)


@overload(atomics.cas)
def _cas(mem, at, old, new):  # type: ignore[no-untyped-def]
    if not is_poisoned(mem):
        return None

    def checked(mem, at, old, new):  # type: ignore[no-untyped-def]
        shake(mem.state)
        word = np.uint64(at)
        _look(mem.state, word, _WRITES)
        return cas(mem.base, word, old, new)

    return checked


@overload(atomics.fence)
def _fence(mem):  # type: ignore[no-untyped-def]
    return (lambda mem: atomics.fence(mem.base)) if is_poisoned(mem) else None


@overload(atomics.barrier)
def _barrier(mem):  # type: ignore[no-untyped-def]
    return (lambda mem: atomics.barrier(mem.base)) if is_poisoned(mem) else None


@overload(atomics.prefetch)
def _prefetch(mem, at):  # type: ignore[no-untyped-def]
    return (lambda mem, at: None) if is_poisoned(mem) else None


@overload(atomics.prefetch_read)
def _prefetch_read(mem, at):  # type: ignore[no-untyped-def]
    return (lambda mem, at: None) if is_poisoned(mem) else None


@overload(atomics.pause)
def _pause(mem):  # type: ignore[no-untyped-def]
    return (lambda mem: yield_processor()) if is_poisoned(mem) else None
