"""Snapshots that are dropped, as a target: when all have ended, no mark may be left that nobody has seen.

Example: ``snapshot | snapshot | after: unswept``. One thread at a time sweeps dropped snapshots; another leaves a mark
and goes. A mark that is overlooked loses no data: it keeps the memory of a snapshot for ever, which no result shows.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

import numpy as np

from latchfree.atomics import load
from latchfree.ctrie.kernels.registry import DROPPED, FIRST_SLOT, NEXT, STATE, TABLE_SLOTS
from latchfree.ctrie.kernels.shape import SNAPSHOTS
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree_evidence.targets import ctrie
from latchfree_evidence.targets.ctrie import CtrieTarget
from latchfree_evidence.targets.placement import LAYOUTS
from latchfree_explore.target import Operation
from latchfree_model.models import Call, SequentialModel

_0 = np.uint64(0)


class SweptModel(SequentialModel[int]):
    """``unswept() -> 0``, asked when nobody is at work; ``snapshot`` and ``put`` answer what they like."""

    name = "swept"
    operations = MappingProxyType({"snapshot": 0, "put": 2, "unswept": 0})
    silent = frozenset({"snapshot", "put"})

    def init(self) -> int:
        """Return the only state."""
        return 0

    def apply(self, state: int, call: Call) -> tuple[object, int]:
        """Return that no mark is left."""
        return 0, state

    def reason(self, state: int, call: Call) -> str:
        """Return what must be."""
        return "a dropped snapshot must have been swept"


@kernel
def unswept(mem: Handle, trie: Word, thread: Word) -> Word:
    """Count the snapshots that are marked as dropped, and that nobody has swept."""
    found = 0
    table = load(mem, trie + SNAPSHOTS)
    while table != _0:
        for k in range(TABLE_SLOTS):
            if load(mem, table + FIRST_SLOT + np.uint64(k) + STATE) == DROPPED:
                found += 1
        table = load(mem, table + NEXT)
    return found


DROPPING: Final = CtrieTarget(
    "dropping",
    SweptModel(),
    {
        "snapshot": ctrie.CTRIE.operations["snapshot"],
        "put": ctrie.CTRIE.operations["put"],
        "unswept": Operation(unswept),
    },
    layouts=tuple(LAYOUTS),
)
