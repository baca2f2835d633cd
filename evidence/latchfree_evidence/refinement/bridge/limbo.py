"""Read from an arena which nodes are retired, and where each of them waits.

Example: thread 0 has retired the node at word 9000, which no snapshot sees: it waits in the limbo of thread 0. The node
at word 9100 was seen by the snapshot of generation 7: it waits on the deadlist of 7.

The reading is done in Python while no thread runs, and takes no access of the code. A block that a thread fills and has
not handed over yet is on no list, so its nodes are not retired yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from latchfree.arena import layout
from latchfree.arena.kernels import blocks
from latchfree.arena.kernels.node import BIRTH_MASK
from latchfree.ctrie.kernels import registry, shape

_LINK, _COUNT, _ENTRIES = int(blocks.LINK), int(blocks.COUNT), int(blocks.ENTRIES)
_OFFSET: Final = int(BIRTH_MASK)
_EMPTY: Final = int(registry.EMPTY)


class Place(NamedTuple):
    """Where a retired node waits: in the limbo of a thread, or on the deadlist of the snapshot of a generation."""

    thread: int
    snapshot: int

    def __str__(self) -> str:
        return f"the deadlist of snapshot {self.snapshot}" if self.snapshot else f"the limbo of thread {self.thread}"


def participant(thread: int) -> int:
    """Return the offset of a thread's participant."""
    return layout.PARTICIPANTS + thread * layout.PARTICIPANT_WORDS


def retired(words: Sequence[int], trie: int, threads: int) -> Iterator[tuple[int, Place]]:
    """Yield every retired node, as often as it is listed, with its place."""
    for thread in range(threads):
        block = words[participant(thread) + int(layout.P_OLDEST)]
        while block:
            yield from _listed(words, block, Place(thread, 0))
            block = words[block + _LINK]
    for slot, snapshot in _slots(words, trie):
        block = words[slot + int(registry.HEAD)]
        while not block & _EMPTY:
            yield from _listed(words, block, Place(-1, snapshot))
            block = words[block + _LINK]


def snapshots(words: Sequence[int], trie: int) -> list[int]:
    """Return the generations of the registered snapshots, the newest first."""
    return sorted((snapshot for _, snapshot in _slots(words, trie) if snapshot), reverse=True)


def _slots(words: Sequence[int], trie: int) -> Iterator[tuple[int, int]]:
    """Yield each slot of the registry with the generation in it."""
    table = words[trie + int(shape.SNAPSHOTS)]
    while table:
        for k in range(int(registry.TABLE_SLOTS)):
            slot = table + int(registry.FIRST_SLOT) + k
            yield slot, words[slot + int(registry.GEN)]
        table = words[table + int(registry.NEXT)]


def _listed(words: Sequence[int], block: int, place: Place) -> Iterator[tuple[int, Place]]:
    for k in range(words[block + _COUNT]):
        yield words[block + _ENTRIES + k] & _OFFSET, place
