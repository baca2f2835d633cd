"""Walking a topic trie that is at rest, word by word, to check its shape."""

import numpy as np

from latchfree.arena.kernels.node import BIRTH_MASK
from latchfree.ctrie.kernels.shape import BRANCH, PLAIN, TAG
from latchfree.words import mix

KINDS = {1: "I", 2: "C", 3: "T", 4: "L", 5: "S"}


def _kind(words, node):
    return KINDS[int(words[node]) >> 60]


def check_shape(trie):
    """Check that no node could be smaller, and that every subscription is where its string says; returns how many.

    Nothing may run, and nothing may have failed or been killed before: then tombs would be left behind.
    """
    words = trie.arena.words
    store = trie._store
    root = int(words[store.trie + 1])
    seen = [0]

    def visit(i, digits, level, prefix, top):
        main = int(words[i + 1])
        assert words[main + 1] == 0, "an undecided main"
        assert _kind(words, main) == "C", f"a {_kind(words, main)}-node at rest"
        bitmap = int(words[main + 2])
        slots = [int(words[main + 3 + k]) for k in range(bitmap.bit_count())]
        flags = [bit for bit in range(64) if bitmap >> bit & 1]
        if not top:
            assert slots, "an empty C-node"
            if len(slots) == 1:
                assert slots[0] & int(TAG), "a subscription alone in a C-node"
                assert not slots[0] & int(BRANCH) or level == 0, "a branch alone within a digit"
        for bit, slot in zip(flags, slots, strict=True):
            node = slot & int(PLAIN)
            here = prefix | bit << level
            if not slot & int(TAG):
                seen[0] += 1
                string = strings(trie, node)
                assert string[: len(digits)] == digits
                assert (string[len(digits)] ^ here) & ((1 << level + 6) - 1) == 0
            elif slot & int(BRANCH):
                digit = int(words[node + 2])
                assert (digit ^ here) & ((1 << level + 6) - 1) == 0
                visit(node, [*digits, digit], 0, 0, False)
            else:
                visit(node, digits, level + 6, here, False)
            assert int(words[node]) & int(BIRTH_MASK)

    visit(root, [], 0, 0, True)
    return seen[0]


def strings(trie, node):
    """The string of the subscription in an S-node."""
    from latchfree.topics.concurrent.kernels import digits as d

    store = trie._store
    text = store._key_at(node)
    starts, digits = np.zeros(len(text) + 3, np.uint64), np.zeros(len(text) + 3, np.uint64)
    data = np.frombuffer(text + b"\0", np.uint8)
    mask = np.uint64(trie.arena.words[store.trie + 2])
    count = int(
        d.parse(
            np.uint64(data.ctypes.data), np.uint64(len(text)), np.uint64(store.grammar.rules), np.uint64(0), mask, True,
            np.uint64(starts.ctypes.data), np.uint64(digits.ctypes.data),
        )
    )  # fmt: skip
    name = np.uint64(trie.arena.words[node + 1])
    return [*map(int, digits[:count]), int(d.END), int(mix(name))]
