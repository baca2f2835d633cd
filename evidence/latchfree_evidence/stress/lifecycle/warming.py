"""Use everything once, so that the processes of programs, which are forked from here, compile and import nothing."""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path

from latchfree import Arena, ConcurrentTrie, RingBuffer
from latchfree_evidence.stress.lifecycle.ledger import BYSTANDER, Ledger
from latchfree_evidence.stress.lifecycle.setting import furnish
from latchfree_evidence.stress.lifecycle.work import Writer, contents
from latchfree_fsck import fsck, inspect


def warm() -> None:
    """Make an arena, use each structure in every way, and check the arena; nothing is left."""
    with tempfile.TemporaryDirectory(prefix="latchfree-lifecycle-") as text:
        folder = Path(text)
        path = folder / "main.arena"
        ledger = Ledger(folder / "ledger", create=True)
        with Arena.create(path=path, capacity=16 << 20) as arena:
            structures = furnish(arena)
            writer = Writer(ledger, BYSTANDER, 0)
            for what, structure in structures.items():
                for how in ("put", "mixed", "bulk", "scan", "many", "length"):
                    writer.work(structure, what, how, 3)
                with structure.snapshot() if what == "topics" else structure.readonly_snapshot() as taken:
                    contents(taken, what)
                for value in contents(structure, what).values():
                    if isinstance(structure, ConcurrentTrie):
                        structure.unsubscribe_all(value)
                if not isinstance(structure, ConcurrentTrie):
                    structure.clear()
                    structure.unlink(arena, what)
            ring = RingBuffer(8, arena=arena)
            ring.try_put(1), ring.try_get(), ring.put_many([1, 2]), ring.get_many(2)
            arena.merge()
            arena.adopt()
            arena.collect()
            inspect(path=path)
            again = pickle.loads(pickle.dumps(structures["topics"]))
            again.arena.close()
        fsck(path=path)
        fsck(path=path, repair=True)
