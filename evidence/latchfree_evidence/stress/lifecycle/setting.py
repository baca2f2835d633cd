"""What a program finds: an arena with structures, one that was sent, and a ring if somebody keeps the arena open."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any, Final

from latchfree import Arena, ConcurrentTrie, Ctrie, RingBuffer
from latchfree_evidence.stress.lifecycle.ledger import NOBODY, STRUCTURES, Ledger
from latchfree_evidence.stress.lifecycle.program import Program
from latchfree_evidence.stress.lifecycle.state import CODECS, RING_FILE, created, place
from latchfree_evidence.stress.lifecycle.work import Writer

RING: Final = (64, 0.05)
"""Capacity of the ring, and seconds until a cell counts as stuck."""


def furnish(arena: Arena) -> dict[str, Any]:
    """Make the structures of a program in an arena; each has entries that nobody changes."""
    made: dict[str, Any] = {what: Ctrie.create(arena, what, **CODECS[what]) for what in STRUCTURES if what in CODECS}
    made["topics"] = ConcurrentTrie.create(arena, "topics", "mqtt")
    return made


def offer_ring(folder: Path, arena: Arena) -> RingBuffer:
    """Make a ring for all processes, and leave it where they find it; it lives as long as its maker keeps it."""
    capacity, patience = RING
    ring = RingBuffer(capacity, arena=arena, stall_timeout=patience)
    (folder / RING_FILE).write_bytes(pickle.dumps(ring))
    return ring


def prepare(folder: Path, program: Program) -> None:
    """Make the arena of a program, and what is in it."""
    with created(place(folder, program["arena"])) as arena:
        structures = furnish(arena)
        Ctrie.unlink(arena, "own")
        writer = Writer(Ledger(folder / "ledger"), NOBODY, 0)
        for what in STRUCTURES[:3]:
            writer.work(structures[what], what, "put", 12)
        (folder / "mail.pickle").write_bytes(pickle.dumps(("ints", structures["ints"])))
