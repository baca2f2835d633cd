"""Traversal in batches of any size, and the size of cursors."""

import numpy as np
import pytest
from ctrie_pools import MASKS
from ctrie_walk import key_at

from latchfree import Ctrie
from latchfree.arena.kernels.epochs import pin, unpin
from latchfree.ctrie.kernels import scan


class Walk:
    """The kernels on a snapshot, pinned as their callers are."""

    def __init__(self, trie):
        self.snapshot = trie.readonly_snapshot()
        self.base = np.uint64(trie.arena.base)
        self.me = np.uint64(trie.arena.interpreter_participant())
        self.root = np.uint64(self.snapshot._held().root)

    def __enter__(self):
        pin(self.base, self.me)
        return self

    def __exit__(self, *exception):
        unpin(self.base, self.me)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("size", [0, 1, 2, 7, 40])
def test_batches_of_any_size_meet_every_entry_once(arena, mask, size):
    trie = Ctrie({k: k for k in range(size)}, keys=int, values=int, arena=arena, hash_mask=MASKS[mask])
    with Walk(trie) as walk:
        for batch in (1, 2, 3, size + 1, 1000):
            cursor, out = np.zeros(scan.CURSOR_WORDS, np.uint64), np.zeros(batch, np.uint64)
            scan.start(walk.base, walk.root, cursor)
            seen = []
            while True:
                found = int(scan.advance(walk.base, cursor, out))
                seen += [key_at(trie._store, int(node)) for node in out[:found]]
                if found < batch:
                    break
            assert sorted(seen) == list(range(size))
            assert scan.advance(walk.base, cursor, out) == 0
            assert scan.count(walk.base, walk.root, cursor, out) == size


def test_the_deepest_path_fits_in_a_cursor(arena):
    trie = Ctrie({k: k for k in range(5)}, keys=int, values=int, arena=arena, hash_mask=0)
    cursor = np.zeros(scan.CURSOR_WORDS + 8, np.uint64)
    cursor[scan.CURSOR_WORDS :] = 77
    out = np.zeros(1, np.uint64)
    deepest = 0
    with Walk(trie) as walk:
        scan.start(walk.base, walk.root, cursor)
        while scan.advance(walk.base, cursor, out):
            deepest = max(deepest, int(cursor[0]))
    assert deepest == 12, "eleven C-nodes and an L-node"
    assert (cursor[scan.CURSOR_WORDS :] == 77).all()


def test_a_cursor_outlives_the_pin_but_not_the_snapshot(arena):
    trie = Ctrie({k: k for k in range(300)}, keys=int, values=int, arena=arena)
    cursor, out = np.zeros(scan.CURSOR_WORDS, np.uint64), np.zeros(10, np.uint64)
    with Walk(trie) as walk:
        scan.start(walk.base, walk.root, cursor)
    seen = []
    found = len(out)
    while found == len(out):
        with walk:
            found = int(scan.advance(walk.base, cursor, out))
        # Between two batches everything it walks is removed, retired and as far as possible freed.
        trie.clear()
        trie.update({k: -k for k in range(50)})
        for _ in range(4):
            arena.collect()
        seen += [key_at(trie._store, int(node)) for node in out[:found]]
    assert sorted(seen) == list(range(300))


def test_iteration_follows_the_order_of_the_hash(arena):
    trie = Ctrie({k: k for k in range(200)}, keys=int, values=int, arena=arena)
    assert list(trie) == list(trie) == list(trie.snapshot())
    assert list(trie.keys()) == list(trie.values()) == [k for k, _ in trie.items()]
