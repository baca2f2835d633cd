"""Check the tree of a structure of any kind: the one place of fsck that knows which kinds there are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latchfree.arena.entry import Entry
from latchfree.arena.layout import FIRST_NODE
from latchfree.sketches.common.shapes import RECORDS
from latchfree.structures import RING_BUFFER, TOPIC_TRIE
from latchfree.topics.concurrent.packed_dialect import rules_of
from latchfree.topics.dialects import DIALECTS
from latchfree_fsck import ctrie_tree, ring_record, sketch_record, topic_tree
from latchfree_fsck.claims import Tree
from latchfree_fsck.nodes import entries_kind
from latchfree_fsck.reach import Reach


def layout_of(entry: Entry) -> int:
    """Return how the keys and values of a structure are laid out, see `latchfree_fsck.nodes.entries_kind`."""
    return entries_kind(entry.keys == "int", entry.values == "int")


def reach(found: Reach, base: int, entry: Entry) -> None:
    """Note what a structure reaches, whose tree or record was found whole.

    Raises
    ------
    ArenaInvalid
        If what only snapshots keep is damaged.
    """
    if entry.kind in RECORDS:
        start, size, _ = sketch_record.place_of(base, entry, FIRST_NODE + len(found.seen))
        found.add_stretch(start, size)
    elif entry.kind == RING_BUFFER:
        for start, size in ring_record.stretches(base, entry, FIRST_NODE + len(found.seen))[0]:
            found.add_stretch(start, size)
    else:
        found.add(entry.root, layout_of(entry))


def walk(base: int, entry: Entry, owned: NDArray[np.uint8], *, settle: bool = False) -> Tree:
    """Check the tree of a structure, or the record of a sketch; see `latchfree_fsck.ctrie_tree.walk`."""
    if entry.kind in RECORDS:
        return sketch_record.walk(base, entry, owned, settle=settle)
    if entry.kind == RING_BUFFER:
        return ring_record.walk(base, entry, owned)
    if entry.kind != TOPIC_TRIE:
        return ctrie_tree.walk(
            base, entry.root, hash_mask=entry.hash_mask, entries=layout_of(entry), owned=owned, settle=settle
        )
    if entry.keys not in DIALECTS:
        return Tree.unknown(f"its dialect {entry.keys!r} is none of {', '.join(DIALECTS)}")
    rules = rules_of(DIALECTS[entry.keys])
    return topic_tree.walk(base, entry.root, hash_mask=entry.hash_mask, rules=rules, owned=owned, settle=settle)
