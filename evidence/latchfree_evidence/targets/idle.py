"""Snapshots that are idle between two calls, as a target: a map whose snapshots are taken and given back so.

Example: ``init: snapshot | snapshot | put(0, 1); snapshot | after: stale``. A snapshot taken after a put shows the put,
even if somebody parks an older one in between; and when all have ended, none is idle that is older than a put. One that
stays shows in no result: it keeps memory, and later puts pay for it.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

import numpy as np

from latchfree.arena.kernels.epochs import pin, unpin
from latchfree.atomics import load_seq, peek
from latchfree.ctrie.kernels.idle import frozen_main, give, is_current
from latchfree.ctrie.kernels.insert import FULL
from latchfree.ctrie.kernels.nodes import NIL
from latchfree.ctrie.kernels.registry import FROZEN
from latchfree.ctrie.kernels.shape import IDLE
from latchfree.ctrie.kernels.snapshot import take
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree_evidence.targets import ctrie
from latchfree_evidence.targets.ctrie import OUT_OF_MEMORY, CtrieTarget, contents_below, participant_at
from latchfree_evidence.targets.placement import LAYOUTS
from latchfree_explore.target import Operation
from latchfree_model.models import Call
from latchfree_model.models.map import Contents, MapModel


class IdleModel(MapModel):
    """A map with one more operation, asked when nobody is at work: ``stale() -> 0``."""

    name = "idle"
    operations = MappingProxyType({"get": 1, "put": 2, "remove": 1, "snapshot": 0, "clear": 0, "stale": 0})

    def apply(self, state: Contents, call: Call) -> tuple[object, Contents]:
        """Return that no old snapshot is idle, or what a map does."""
        return (0, state) if call.f == "stale" else super().apply(state, call)

    def reason(self, state: Contents, call: Call) -> str:
        """Return what must be, or what the map held."""
        if call.f == "stale":
            return "a snapshot that is older than an update must not stay idle"
        return super().reason(state, call)

    def partition(self, call: Call) -> object:
        """Return None: every history has a snapshot, which touches all keys."""
        return None


@kernel
def snapshot(mem: Handle, trie: Word, thread: Word) -> Word:
    """Take a snapshot, or the idle one, return its contents as `targets.ctrie.snapshot` does, and give it back."""
    me = participant_at(thread)
    pin(mem, me)
    slot = take(mem, trie, me)
    unpin(mem, me)
    if slot == FULL:
        return OUT_OF_MEMORY
    pin(mem, me)
    packed = contents_below(mem, me, peek(mem, slot + FROZEN))
    give(mem, trie, me, slot)
    unpin(mem, me)
    return np.int64(packed)


@kernel
def stale(mem: Handle, trie: Word, thread: Word) -> Word:
    """Return 1 if a snapshot is idle that is not current."""
    me = participant_at(thread)
    pin(mem, me)
    slot = load_seq(mem, trie + IDLE)
    old = slot != NIL and not is_current(mem, trie, frozen_main(mem, slot))
    unpin(mem, me)
    return 1 if old else 0


IDLING: Final = CtrieTarget(
    "idle",
    IdleModel(),
    {
        **{name: ctrie.CTRIE.operations[name] for name in ("get", "put", "remove", "clear")},
        "snapshot": Operation(snapshot, ctrie.CTRIE.operations["snapshot"].result),
        "stale": Operation(stale),
    },
    layouts=tuple(LAYOUTS),
)
