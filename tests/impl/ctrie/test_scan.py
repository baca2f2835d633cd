"""Traversal in batches of any size, and the size of cursors."""

import numpy as np
import pytest
from ctrie_pools import MASKS

from latchfree import Ctrie
from latchfree.ctrie import scan


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("size", [0, 1, 2, 7, 40])
def test_batches_of_any_size_meet_every_entry_once(arena, mask, size):
    trie = Ctrie({k: k for k in range(size)}, keys=int, values=int, arena=arena, hash_mask=MASKS[mask])
    root = np.uint64(trie.readonly_snapshot()._root)
    base = np.uint64(arena.base)
    for batch in (1, 2, 3, size + 1, 1000):
        cursor, out = np.zeros(scan.CURSOR_WORDS, np.uint64), np.zeros(batch, np.uint64)
        scan.start(base, root, cursor)
        seen = []
        while True:
            found = int(scan.advance(base, cursor, out))
            seen += [trie._store.key_at(int(node)) for node in out[:found]]
            if found < batch:
                break
        assert sorted(seen) == list(range(size))
        assert scan.advance(base, cursor, out) == 0
        assert scan.count(base, root, cursor, out) == size


def test_the_deepest_path_fits_in_a_cursor(arena):
    trie = Ctrie({k: k for k in range(5)}, keys=int, values=int, arena=arena, hash_mask=0)
    cursor = np.zeros(scan.CURSOR_WORDS + 8, np.uint64)
    cursor[scan.CURSOR_WORDS :] = 77
    out = np.zeros(1, np.uint64)
    scan.start(np.uint64(arena.base), np.uint64(trie.readonly_snapshot()._root), cursor)
    deepest = 0
    while scan.advance(np.uint64(arena.base), cursor, out):
        deepest = max(deepest, int(cursor[0]))
    assert deepest == 12, "eleven C-nodes and an L-node"
    assert (cursor[scan.CURSOR_WORDS :] == 77).all()


def test_iteration_follows_the_order_of_the_hash(arena):
    trie = Ctrie({k: k for k in range(200)}, keys=int, values=int, arena=arena)
    assert list(trie) == list(trie) == list(trie.snapshot())
    assert list(trie.keys()) == list(trie.values()) == [k for k, _ in trie.items()]
