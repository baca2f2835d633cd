"""The Ctrie as a target: its kernels behind one call each, pinned from first to last access.

Keys are 0 to 7 (see `latchfree_evidence.targets.placement`) and values 0 to 254, so that the contents of a snapshot
fit into one word, a byte a key. Before the threads start, every participant has a chunk of memory and spare blocks of
its own. So allocation touches no shared word, unless a scenario is so long that the chunk runs out.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Sequence
from typing import Any, Final

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numba.np.numpy_support import carray

from latchfree.arena import Arena
from latchfree.arena.kernels.allocator import ORDINARY
from latchfree.arena.kernels.epochs import pin, unpin
from latchfree.arena.kernels.participants import claim
from latchfree.arena.layout import P_SINK, PARTICIPANT_WORDS, PARTICIPANTS, SINK_WORDS
from latchfree.atomics import peek
from latchfree.ctrie.kernels.insert import ALWAYS, FULL, IF_ABSENT, IF_EQUAL, IF_PRESENT, insert
from latchfree.ctrie.kernels.lookup import lookup
from latchfree.ctrie.kernels.nodes import NIL, ONE
from latchfree.ctrie.kernels.registry import FROZEN, drop
from latchfree.ctrie.kernels.remove import remove
from latchfree.ctrie.kernels.scan import CURSOR_WORDS, advance, count, start
from latchfree.ctrie.kernels.snapshot import clear, freeze, new_trie
from latchfree.ctrie.kernels.snode import VALUE
from latchfree.ctrie.kernels.trees import begin
from latchfree.errors import ArenaFull
from latchfree.jit import kernel
from latchfree.kinds import Array, Handle, Word
from latchfree_evidence.targets.placement import LAYOUTS, MOST_KEYS, Layout, key_with_hash
from latchfree_explore.machine.access import base_of
from latchfree_explore.scenario import Invocation, Scenario
from latchfree_explore.target import Memory, Operation, Target

CAPACITY: Final = 64 << 20
_FIRST = np.uint64(PARTICIPANTS)
_STRIDE = np.uint64(PARTICIPANT_WORDS)
_8 = np.uint64(8)
_BYTE = np.uint64(255)

ABSENT: Final = -1
OUT_OF_MEMORY: Final = -2
MOST_VALUE: Final = 254
#: The trie holds a key's number in the byte above its value.
_VALUE_BITS: Final = 8


@kernel
def participant_at(thread: Word) -> Word:
    """Return the offset of a thread's participant."""
    return _FIRST + np.uint64(thread) * _STRIDE


@kernel
def value_word(mem: Handle, node: Word) -> Word:
    """Return the value of an S-node, ABSENT for none, OUT_OF_MEMORY for FULL."""
    if node == FULL:
        return OUT_OF_MEMORY
    return np.int64(peek(mem, node + VALUE)) if node != NIL else ABSENT


@kernel
def _insert(mem: Handle, trie: Word, thread: Word, key: Word, value: Word, mode: Word, expected: Word) -> Word:
    me = participant_at(thread)
    pin(mem, me)
    held = value_word(mem, insert(mem, trie, me, key, value, mode, expected))
    unpin(mem, me)
    return held


@kernel
def _remove(mem: Handle, trie: Word, thread: Word, key: Word, mode: Word, expected: Word) -> Word:
    me = participant_at(thread)
    pin(mem, me)
    held = value_word(mem, remove(mem, trie, me, key, mode, expected))
    unpin(mem, me)
    return held


@kernel
def get(mem: Handle, trie: Word, thread: Word, key: Word) -> Word:
    """Return the value of a key, or ABSENT."""
    me = participant_at(thread)
    pin(mem, me)
    held = value_word(mem, lookup(mem, trie, me, key))
    unpin(mem, me)
    return held


@kernel
def put(mem: Handle, trie: Word, thread: Word, key: Word, value: Word) -> Word:
    """Put a value and return the old one, or ABSENT."""
    return _insert(mem, trie, thread, key, value, ALWAYS, np.int64(0))


@kernel
def put_if_absent(mem: Handle, trie: Word, thread: Word, key: Word, value: Word) -> Word:
    """Put a value unless the key is there; return the old one, or ABSENT."""
    return _insert(mem, trie, thread, key, value, IF_ABSENT, np.int64(0))


@kernel
def replace(mem: Handle, trie: Word, thread: Word, key: Word, value: Word) -> Word:
    """Put a value if the key is there; return the old one, or ABSENT."""
    return _insert(mem, trie, thread, key, value, IF_PRESENT, np.int64(0))


@kernel
def replace_if(mem: Handle, trie: Word, thread: Word, key: Word, expected: Word, value: Word) -> Word:
    """Put a value if the key has the expected one; return the old one, or ABSENT."""
    return _insert(mem, trie, thread, key, value, IF_EQUAL, expected)


@kernel
def remove_key(mem: Handle, trie: Word, thread: Word, key: Word) -> Word:
    """Remove a key and return its value, or ABSENT."""
    return _remove(mem, trie, thread, key, ALWAYS, np.int64(0))


@kernel
def remove_if(mem: Handle, trie: Word, thread: Word, key: Word, expected: Word) -> Word:
    """Remove a key if it has the expected value; return that, or ABSENT."""
    return _remove(mem, trie, thread, key, IF_EQUAL, expected)


@kernel
def clear_all(mem: Handle, trie: Word, thread: Word) -> Word:
    """Remove all keys."""
    me = participant_at(thread)
    pin(mem, me)
    done = clear(mem, trie, me)
    unpin(mem, me)
    return OUT_OF_MEMORY if done == FULL else 0


def _emit_pointer(typingctx: Any, address: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], ir.IntType(64).as_pointer())

    pointer: Any = types.CPointer
    return pointer(types.uint64)(types.uint64), codegen


#: An address as a pointer that `carray` takes.
as_pointer: Any = intrinsic(_emit_pointer)


@kernel
def _scratch(mem: Handle, me: Word) -> Array:
    """Return private words of a participant that no thread reads: the sink of failed attempts."""
    return carray(as_pointer(base_of(mem) + _8 * (me + P_SINK)), SINK_WORDS)


@kernel
def contents_below(mem: Handle, me: Word, root: Word) -> Word:
    """Return what a frozen tree holds: for each key a byte that is the value plus one."""
    scratch = _scratch(mem, me)
    cursor, nodes = scratch[:CURSOR_WORDS], scratch[CURSOR_WORDS : CURSOR_WORDS + MOST_KEYS + 1]
    start(mem, root, cursor)
    packed = NIL
    for k in range(advance(mem, cursor, nodes)):
        held = peek(mem, nodes[k] + VALUE)
        packed += ((held & _BYTE) + ONE) << (_8 * (held >> _8))
    return packed


@kernel
def snapshot(mem: Handle, trie: Word, thread: Word) -> Word:
    """Take a snapshot and return its contents: for each key a byte that holds the value plus one."""
    me = participant_at(thread)
    pin(mem, me)
    slot = freeze(mem, trie, me)
    unpin(mem, me)
    if slot == FULL:
        return OUT_OF_MEMORY
    pin(mem, me)
    packed = contents_below(mem, me, peek(mem, slot + FROZEN))
    drop(mem, trie, me, slot)
    unpin(mem, me)
    return np.int64(packed)


@kernel
def size(mem: Handle, trie: Word, thread: Word) -> Word:
    """Count the keys in a snapshot."""
    me = participant_at(thread)
    scratch = _scratch(mem, me)
    cursor, nodes = scratch[:CURSOR_WORDS], scratch[CURSOR_WORDS : CURSOR_WORDS + MOST_KEYS + 1]
    pin(mem, me)
    slot = freeze(mem, trie, me)
    if slot == FULL:
        unpin(mem, me)
        return OUT_OF_MEMORY
    found = np.int64(count(mem, peek(mem, slot + FROZEN), cursor, nodes))
    drop(mem, trie, me, slot)
    unpin(mem, me)
    return found


def value_or_none(word: int) -> Hashable:
    """Return the value that an operation's word stands for, None if the key was absent."""
    if word == OUT_OF_MEMORY:
        raise ArenaFull("a scenario has used up the memory that the explorer gives it; make it shorter")
    return None if word == ABSENT else word & MOST_VALUE + 1


def _found(word: int) -> Hashable:
    return value_or_none(word) is not None


def _done(word: int) -> Hashable:
    return None if value_or_none(word) == 0 else word


def _pairs(word: int) -> Hashable:
    values = (word & (1 << 64) - 1).to_bytes(8, "little")
    return frozenset((key, value - 1) for key, value in enumerate(values) if value)


def _layout(keys: str) -> Layout:
    return LAYOUTS[keys] if keys else next(iter(LAYOUTS.values()))


class CtrieTarget(Target):
    """A Ctrie of integers, in an arena of its own."""

    def prepare(self, threads: int, keys: str) -> Memory:
        """Make an empty trie, and give every participant a chunk of memory with spare blocks."""
        return self.prepare_in(Arena.anonymous(CAPACITY), threads, keys)

    def prepare_in(self, arena: Arena, threads: int, keys: str) -> Memory:
        """Do so in a fresh arena."""
        base, state = np.uint64(arena.base), np.uint64(arena.identity << 16)
        for thread in range(threads):
            slot = np.uint64(claim(base, state))
            if slot != _FIRST + np.uint64(thread) * _STRIDE:
                raise RuntimeError("participants of a fresh arena are not where they are expected")
        trie = new_trie(base, _FIRST, np.uint64(_layout(keys).mask))
        for thread in range(threads):
            begin(base, _FIRST + np.uint64(thread) * _STRIDE, ORDINARY)
        return Memory(arena.words, int(trie), arena)

    def words(self, each: Invocation, keys: str) -> tuple[int, ...]:
        """Return the arguments with the key that the layout asks for, and the key's number in the value."""
        if not each.arguments:
            return ()
        key, *values = each.arguments
        return key_with_hash(_layout(keys).hashes[key]), *(key << _VALUE_BITS | value for value in values)

    def validate(self, scenario: Scenario) -> None:
        """Raise ValueError unless keys and values fit."""
        super().validate(scenario)
        for each in scenario.operations:
            for place, number in enumerate(each.arguments):
                what, most = ("key", MOST_KEYS - 1) if place == 0 else ("value", MOST_VALUE)
                if not 0 <= number <= most:
                    raise ValueError(f"ctrie: a {what} is from 0 to {most} here: {each}")

    def generate(self, rng: random.Random) -> Scenario:
        """Few operations at once on a trie that some others have shaped; the contents are read at the end."""
        keys = rng.sample(range(MOST_KEYS), rng.randint(1, 4)) if rng.random() < 0.3 else range(rng.randint(1, 4))
        fresh = iter(range(1, MOST_VALUE))

        def some(least: int, most: int) -> list[Invocation]:
            return [self.invoke(rng, fresh) for _ in range(rng.randint(least, most))]

        threads = [some(1, 2) for _ in range(rng.choice((2, 2, 3)))]
        before = some(0, 5)
        written = [each.arguments[1] for each in sum(threads, before) if each.f in _WRITERS] or [0]

        def settled(operations: list[Invocation]) -> tuple[Invocation, ...]:
            return tuple(_settled(each, rng, keys, written) for each in operations)

        return Scenario(
            tuple(map(settled, threads)), settled(before), (Invocation("snapshot"),), rng.choice(self.layouts)
        )

    def invoke(self, rng: random.Random, fresh: Any) -> Invocation:
        """Return a random operation, more often an update than another."""
        name = rng.choices(list(_CHANCES), list(_CHANCES.values()))[0]
        return Invocation(name, tuple(next(fresh) for _ in range(self.operation(name).arity)))


_WRITERS: Final = ("put", "put_if_absent", "replace")
_CHANCES: Final = {
    "put": 25, "remove": 20, "get": 15, "put_if_absent": 5, "replace": 3, "replace_if": 5, "remove_if": 5,
    "contains": 2, "snapshot": 10, "size": 3, "clear": 7,
}  # fmt: skip


def _settled(each: Invocation, rng: random.Random, keys: Sequence[int], written: list[int]) -> Invocation:
    if not each.arguments:
        return each
    values = list(each.arguments[1:])
    if each.f.endswith("_if"):
        values[0] = rng.choice(written)
    return Invocation(each.f, (rng.choice(keys), *values))


CTRIE: Final = CtrieTarget(
    "ctrie",
    "map",
    {
        "get": Operation(get, value_or_none),
        "put": Operation(put, value_or_none),
        "remove": Operation(remove_key, value_or_none),
        "put_if_absent": Operation(put_if_absent, value_or_none),
        "replace": Operation(replace, value_or_none),
        "replace_if": Operation(replace_if, _found),
        "remove_if": Operation(remove_if, _found),
        "contains": Operation(get, _found),
        "snapshot": Operation(snapshot, _pairs),
        "size": Operation(size),
        "clear": Operation(clear_all, _done),
    },
    layouts=tuple(LAYOUTS),
)
