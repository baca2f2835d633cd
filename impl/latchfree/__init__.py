"""latchfree: a lock-free hash trie with O(1) snapshots, compiled by numba.

Names are loaded at first use, so that importing the package does not load the compiler.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from latchfree.arena import Arena
    from latchfree.ctrie.mapping import Ctrie
    from latchfree.ctrie.view import Snapshot
    from latchfree.errors import (
        ArenaClosed,
        ArenaFull,
        ArenaInvalid,
        LatchfreeError,
        ParticipantsExhausted,
        StructureExists,
        StructureMissing,
    )

__version__ = "0.1.0"

__all__ = [
    "Arena",
    "ArenaClosed",
    "ArenaFull",
    "ArenaInvalid",
    "Ctrie",
    "LatchfreeError",
    "ParticipantsExhausted",
    "Snapshot",
    "StructureExists",
    "StructureMissing",
]

_HOME = {
    "Arena": "latchfree.arena",
    "ArenaClosed": "latchfree.errors",
    "ArenaFull": "latchfree.errors",
    "ArenaInvalid": "latchfree.errors",
    "Ctrie": "latchfree.ctrie.mapping",
    "LatchfreeError": "latchfree.errors",
    "ParticipantsExhausted": "latchfree.errors",
    "Snapshot": "latchfree.ctrie.view",
    "StructureExists": "latchfree.errors",
    "StructureMissing": "latchfree.errors",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'latchfree' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
