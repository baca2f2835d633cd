"""The Ctrie as runs are recorded: with a writable snapshot, on which all threads may work.

Example: a thread takes the writable snapshot (``fork``) and puts a key into it (``fork_put``), while another thread
removes the key from the trie. There is one writable snapshot at most. An operation on it before it is there is skipped:
it makes no access of the trie, and is no operation of the trace.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final

import numpy as np

from latchfree.arena.kernels.epochs import pin, unpin
from latchfree.arena.layout import P_SINK, SINK_WORDS
from latchfree.atomics import load, peek, store
from latchfree.ctrie.kernels.insert import FULL
from latchfree.ctrie.kernels.nodes import HASH_MASK, NIL
from latchfree.ctrie.kernels.snapshot import fork_frozen, freeze
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree_evidence.refinement.traces.batch import ON_FORK, SKIPPED
from latchfree_evidence.targets import ctrie
from latchfree_evidence.targets.ctrie import CTRIE, OUT_OF_MEMORY, CtrieTarget, participant_at
from latchfree_explore.target import Operation

NO_FORK: Final = -3

#: A private word of the first participant, which nobody else uses, holds the root record of the writable snapshot.
_PLACE: Final = participant_at(0) + P_SINK + np.uint64(SINK_WORDS - 1)


@kernel
def fork(mem: Handle, trie: Word, thread: Word) -> Word:
    """Take the writable snapshot."""
    me = participant_at(thread)
    pin(mem, me)
    slot = freeze(mem, trie, me)
    made = FULL if slot == FULL else fork_frozen(mem, me, slot, peek(mem, trie + HASH_MASK))
    unpin(mem, me)
    if made == FULL:
        return OUT_OF_MEMORY
    # spec: none -- the harness: the other threads find the writable snapshot here.
    store(mem, _PLACE, made)
    return 0


@kernel
def _there(mem: Handle) -> Word:
    # spec: none -- the harness, as above.
    return load(mem, _PLACE)


@kernel
def fork_get(mem: Handle, trie: Word, thread: Word, key: Word) -> Word:
    """Look a key up in the writable snapshot."""
    there = _there(mem)
    return ctrie.get(mem, there, thread, key) if there != NIL else NO_FORK


@kernel
def fork_put(mem: Handle, trie: Word, thread: Word, key: Word, value: Word) -> Word:
    """Put a value into the writable snapshot."""
    there = _there(mem)
    return ctrie.put(mem, there, thread, key, value) if there != NIL else NO_FORK


@kernel
def fork_remove(mem: Handle, trie: Word, thread: Word, key: Word) -> Word:
    """Remove a key from the writable snapshot."""
    there = _there(mem)
    return ctrie.remove_key(mem, there, thread, key) if there != NIL else NO_FORK


@kernel
def fork_replace_if(mem: Handle, trie: Word, thread: Word, key: Word, expected: Word, value: Word) -> Word:
    """Put a value into the writable snapshot if the key has the expected one."""
    there = _there(mem)
    return ctrie.replace_if(mem, there, thread, key, expected, value) if there != NIL else NO_FORK


@kernel
def fork_snapshot(mem: Handle, trie: Word, thread: Word) -> Word:
    """Take a snapshot of the writable snapshot, and read it."""
    there = _there(mem)
    return ctrie.snapshot(mem, there, thread) if there != NIL else NO_FORK


@kernel
def fork_clear(mem: Handle, trie: Word, thread: Word) -> Word:
    """Empty the writable snapshot."""
    there = _there(mem)
    return ctrie.clear_all(mem, there, thread) if there != NIL else NO_FORK


class _OnFork:
    """What an operation on the writable snapshot returned, as that on the trie says it."""

    def __init__(self, name: str) -> None:
        self._result = CTRIE.operation(name).result

    def __call__(self, word: int) -> Hashable:
        return SKIPPED if word == NO_FORK else self._result(word)


_FORK_KERNELS: Final[tuple[Any, ...]] = (fork_get, fork_put, fork_remove, fork_replace_if, fork_snapshot, fork_clear)
_NAMES: Final = tuple(each.py_func.__name__.removeprefix(ON_FORK) for each in _FORK_KERNELS)

TRACED: Final = CtrieTarget(
    "ctrie",
    "map",
    {
        **{name: CTRIE.operation(name) for name in CTRIE.operations},
        "fork": Operation(fork, CTRIE.operation("clear").result),
        **{ON_FORK + name: Operation(each, _OnFork(name)) for name, each in zip(_NAMES, _FORK_KERNELS, strict=True)},
    },
    layouts=CTRIE.layouts,
)
