"""Shapes of tries: masks that say which bits of a hash place a key, or a word of a pattern.

Example: with the mask 0, all keys have one place, so they end in one L-node. With few keys and the whole hash, every
key would be alone in the root's C-node, and most of the algorithm would never run.

The masks of a Ctrie make keys share slots for some levels (I-nodes, contraction over several levels) or for all levels
(L-nodes). A topic trie has a level for each word of a pattern and then one for the subscription's number; its masks put
the words of a level into one C-node, into a chain of C-nodes, or into one place.
"""

from typing import Final

_CTRIE: Final = {
    # one bit at levels 0 and 1, two at level 2: paths fork and contract at three depths, some keys collide wholly
    "tree": (1 << 0) | (1 << 6) | (3 << 12),
    # every key collides with every other: one path of eleven levels down to one L-node
    "list": 0,
    # the root alone, with full collisions below: single I-nodes that come and go
    "fan": 7,
    # many children of the root, each of a few keys: tombs beside tombs
    "pairs": 7 | (3 << 6),
    # the hash as it is
    "flat": (1 << 64) - 1,
}
_TOPIC_TRIE: Final = {
    # the hash as it is
    "apart": (1 << 63) - 1,
    # all words are taken for one: wildcards apart, every pattern is on one path
    "together": 0,
    # words differ at the last levels of a digit only: chains of I-nodes that come and go
    "deep": 3 << 60,
}

SHAPES: Final[dict[str, dict[str, int]]] = {"ctrie": _CTRIE, "topic-trie": _TOPIC_TRIE}
"""Target -> name -> hash mask."""

MEMORIES: Final[dict[str, str]] = {
    "bare": "plain machine accesses",
    "jittered": "threads give up the processor between atomic accesses",
    "poisoned": "as jittered, and the use of a freed node is a verdict",
}
"""Name -> what happens at an access."""

IN_TURN: Final = ("bare", "jittered")
"""The memories of a run that asks for none."""
