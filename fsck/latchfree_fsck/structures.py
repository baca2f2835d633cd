"""What there is to know of the kinds of structures: how the tree of each is checked."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from latchfree.arena.directory import Entry
from latchfree.structures import TOPIC_TRIE
from latchfree.topics.concurrent.packed_dialect import rules_of
from latchfree.topics.dialects import DIALECTS
from latchfree_fsck import topic_tree, tree
from latchfree_fsck.claims import Tree
from latchfree_fsck.whole import entries_kind


def kind_of(entry: Entry) -> int:
    """How the entries of a structure are laid out."""
    return entries_kind(entry.keys == "int", entry.values == "int")


def walk(base: int, entry: Entry, owned: NDArray[np.uint8], *, settle: bool = False) -> Tree:
    """Check the tree of a structure; see `latchfree_fsck.tree.walk`."""
    if entry.kind != TOPIC_TRIE:
        return tree.walk(
            base, entry.root, hash_mask=entry.hash_mask, entries=kind_of(entry), owned=owned, settle=settle
        )
    if entry.keys not in DIALECTS:
        return Tree.unknown(f"its dialect {entry.keys!r} is none of {', '.join(DIALECTS)}")
    rules = rules_of(DIALECTS[entry.keys])
    return topic_tree.walk(base, entry.root, hash_mask=entry.hash_mask, rules=rules, owned=owned, settle=settle)
