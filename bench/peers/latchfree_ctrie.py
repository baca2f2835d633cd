"""``latchfree.Ctrie`` from int to int.

The arena has room for everything the run writes, though most of it is used again and again; its pages are touched
before the timing unless it is to be cold, because the first touch of a page is paid once and costs more than the writes
that fill it.
"""

from __future__ import annotations

import numpy as np

import latchfree
from latchfree import Arena, ArenaFull, Ctrie
from latchfree.arena.kernels.epochs import pin, unpin
from latchfree.ctrie.kernels.idle import give
from latchfree.ctrie.kernels.insert import ALWAYS, FULL, insert
from latchfree.ctrie.kernels.snapshot import take
from latchfree.jit import kernel
from latchfree.kinds import Array, Flag, Handle, Word
from peers.base import Ints, Plan, Subject
from peers.loops import count, mapping_look, mapping_loops, mapping_mix

TITLE = "latchfree"

#: More than a write, or a first put after a snapshot, takes.
_WRITE_BYTES = 340
_RENEWING_BYTES = 8 << 10
_SPARE_BYTES = 64 << 20
_PAGE_WORDS = 512
#: Memory that is given back is used again: no run has come to this much, and a machine has to hold what is touched.
_TOUCHED_WORDS = (2 << 30) // 8


def version() -> str:
    return latchfree.__version__


@kernel
def _take_and_give(mem: Handle, trie: Word, me: Word) -> Flag:
    """Do what `Ctrie.readonly_snapshot` does, and what the end of its result does: each is pinned for itself."""
    pin(mem, me)
    slot = take(mem, trie, me)
    unpin(mem, me)
    if slot == FULL:
        return False
    pin(mem, me)
    give(mem, trie, me, slot)
    unpin(mem, me)
    return True


@kernel
def _snapshots(mem: Handle, trie: Word, me: Word, times: Word) -> Flag:
    for _ in range(times):  # noqa: SIM110 -- compiled code has no all()
        if not _take_and_give(mem, trie, me):
            return False
    return True


@kernel
def _snapshots_and_inserts(mem: Handle, trie: Word, me: Word, keys: Array, values: Array) -> Flag:
    for k in range(len(keys)):
        if not _take_and_give(mem, trie, me):
            return False
        pin(mem, me)
        full = insert(mem, trie, me, keys[k], values[k], ALWAYS, values[k]) == FULL
        unpin(mem, me)
        if full:
            return False
    return True


def new_arena(plan: Plan) -> Arena:
    """An arena large enough for the plan."""
    arena = Arena.anonymous(plan.writes * _WRITE_BYTES + plan.snapshots * _RENEWING_BYTES + _SPARE_BYTES)
    if not plan.cold:
        arena.words[arena.used // 8 + _PAGE_WORDS : _TOUCHED_WORDS : _PAGE_WORDS] = 0
    return arena


def on(arena: Arena, plan: Plan) -> Subject:
    """A fresh map in an arena."""
    trie: Ctrie[int, int] = Ctrie(keys=int, values=int, arena=arena)
    return _bulk(trie) if plan.call == "bulk" else _single(trie)


def subject(plan: Plan) -> Subject:
    return on(new_arena(plan), plan)


def _single(trie: Ctrie[int, int]) -> Subject:
    put, get, remove = mapping_loops(trie)

    def readonly(times: int) -> None:
        for _ in range(times):
            trie.readonly_snapshot()

    def writable(times: int) -> None:
        for _ in range(times):
            trie.snapshot()

    def snapshots_and_puts(keys: list[int], values: list[int]) -> None:
        for key, value in zip(keys, values, strict=True):
            trie.readonly_snapshot()
            trie[key] = value

    return Subject(
        put,
        get,
        remove,
        lambda: count(trie.items()),
        readonly,
        snapshots_and_puts,
        extra={"writable snapshot": writable},
        mix=mapping_mix(trie),
        look=mapping_look(trie),
    )


def _bulk(trie: Ctrie[int, int]) -> Subject:
    store = trie._store
    place = store.base, np.uint64(store.trie)

    def snapshots(times: int) -> None:
        with store.arena.lend() as me:
            done = _snapshots(*place, np.uint64(me), times)
        if not done:
            raise ArenaFull("no room for the snapshots: raise _SPARE_BYTES")

    def snapshots_and_puts(keys: Ints, values: Ints) -> None:
        with store.arena.lend() as me:
            done = _snapshots_and_inserts(*place, np.uint64(me), keys, values)
        if not done:
            raise ArenaFull("no room for puts after snapshots: raise _RENEWING_BYTES")

    return Subject(
        trie.put_many,
        trie.get_many,
        trie.remove_many,
        lambda: count(trie.items()),
        snapshots,
        snapshots_and_puts,
        convert=np.ascontiguousarray,
        look=mapping_look(trie),
    )
