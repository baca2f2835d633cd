"""Walks the words of a trie and checks what must hold of them when no operation is running."""

from latchfree.ctrie.kernels import nodes
from latchfree.words import mix

TAG = 1 << 63
WORD = (1 << 64) - 1

INODE, C, T, L, S = (int(k) for k in (nodes.I_NODE, nodes.C_NODE, nodes.T_NODE, nodes.L_NODE, nodes.S_NODE))


def header(words, node):
    """Kind, size in words and generation of a node."""
    word = int(words[node])
    return word >> 60, (word >> 40) & ((1 << 20) - 1), word & ((1 << 40) - 1)


def root_of(trie):
    """Root I-node of a trie at rest."""
    root = int(trie.arena.words[trie._store.trie + int(nodes.ROOT_WORD)])
    assert not root & TAG, "a descriptor was left in the root word"
    return root


def key_at(store, snode):
    """The key in an S-node."""
    return store.keys.decode(store._key_at(snode))


def check(trie, tombs=False):
    """Check the invariants of a trie at rest and return its shape.

    Below the root no C-node is empty or holds a lone S-node; there are no tombs either, unless `tombs` allows those
    a cleaner may leave to the next operation (it gives up when a snapshot intervenes or memory is short).

    The shape is the key at an S-node, a dictionary from slot number to shape at a C-node, and the set of keys at
    an L-node. Without tombs it depends on the keys alone, not on what happened before.
    """
    root = root_of(trie)
    return _Walk(trie._store, tombs).inode(root, 0, 0, header(trie.arena.words, root)[2])


class _Walk:
    def __init__(self, store, tombs):
        self.store = store
        self.words = store.arena.words
        self.tombs = tombs

    def hash_at(self, snode):
        stored = self.words[snode + 1]
        return int(mix(stored) if self.store.keys.word else stored) & self.store.hash_mask

    def inode(self, i, level, prefix, parent_gen):
        kind, size, gen = header(self.words, i)
        assert (kind, size) == (INODE, 2)
        assert gen <= parent_gen, "a child belongs to a later generation than its parent"
        main = int(self.words[i + 1])
        kind, size, birth = header(self.words, main)
        assert birth <= gen, "a main is younger than its I-node"
        assert self.words[main + 1] == 0, "an update was left undecided or aborted"
        if kind == C:
            return self.cnode(main, size, level, prefix, gen)
        if kind == T:
            assert self.tombs, "a tomb was left behind"
            assert level > 0, "the root is a tomb"
            return self.snode(int(self.words[main + 2]), level, prefix)
        assert kind == L
        return self.lnode(main, size, level, prefix)

    def cnode(self, c, size, level, prefix, gen):
        bitmap = int(self.words[c + 2])
        flags = [bit for bit in range(64) if bitmap >> bit & 1]
        assert size == 3 + len(flags), "the bitmap does not match the number of slots"
        slots = [int(self.words[c + 3 + k]) for k in range(len(flags))]
        if level > 0:
            assert slots, "an empty C-node below the root"
            assert len(slots) > 1 or slots[0] & TAG, "a lone S-node below the root"
        shape = {}
        for bit, slot in zip(flags, slots, strict=True):
            below = prefix | (bit << level)
            if slot & TAG:
                shape[bit] = self.inode(slot & ~TAG, level + 6, below, gen)
            else:
                shape[bit] = self.snode(slot, level + 6, below)
        return shape

    def lnode(self, node, size, level, prefix):
        assert level > 60, "an L-node above the last level"
        count = int(self.words[node + 2])
        assert count >= 2, "an L-node of fewer than two entries"
        assert size == 3 + count
        keys = [self.snode(int(self.words[node + 3 + k]), level, prefix) for k in range(count)]
        assert all(a != b for k, a in enumerate(keys) for b in keys[:k]), "a key twice in an L-node"
        return set(keys)

    def snode(self, s, level, prefix):
        assert header(self.words, s)[0] == S
        assert self.hash_at(s) & ((1 << level) - 1) == prefix, "an S-node where its hash does not lead"
        return key_at(self.store, s)
