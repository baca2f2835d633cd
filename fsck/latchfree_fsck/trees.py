"""Check the tree of a structure of any kind: the one place of fsck that knows which kinds there are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latchfree.arena.entry import Entry
from latchfree.structures import TOPIC_TRIE
from latchfree.topics.concurrent.packed_dialect import rules_of
from latchfree.topics.dialects import DIALECTS
from latchfree_fsck import ctrie_tree, topic_tree
from latchfree_fsck.claims import Tree
from latchfree_fsck.nodes import entries_kind


def layout_of(entry: Entry) -> int:
    """Return how the keys and values of a structure are laid out, see `latchfree_fsck.nodes.entries_kind`."""
    return entries_kind(entry.keys == "int", entry.values == "int")


def walk(base: int, entry: Entry, owned: NDArray[np.uint8], *, settle: bool = False) -> Tree:
    """Check the tree of a structure; see `latchfree_fsck.ctrie_tree.walk`."""
    if entry.kind != TOPIC_TRIE:
        return ctrie_tree.walk(
            base, entry.root, hash_mask=entry.hash_mask, entries=layout_of(entry), owned=owned, settle=settle
        )
    if entry.keys not in DIALECTS:
        return Tree.unknown(f"its dialect {entry.keys!r} is none of {', '.join(DIALECTS)}")
    rules = rules_of(DIALECTS[entry.keys])
    return topic_tree.walk(base, entry.root, hash_mask=entry.hash_mask, rules=rules, owned=owned, settle=settle)
