"""New C-nodes from old ones, against lists of slots."""

import numpy as np
import pytest
from ctrie_walk import TAG, C, T, header
from hypothesis import given, settings
from hypothesis import strategies as st

from latchfree import Arena
from latchfree.arena.kernels.allocator import ORDINARY, begin
from latchfree.ctrie.kernels import mains, nodes
from latchfree.ctrie.kernels.gcas import READ_ONLY
from latchfree.ctrie.kernels.snode import new_snode

U = np.uint64
BITS = st.sets(st.integers(0, 63), max_size=64)
LEVEL = U(6)


class Bench:
    """C-nodes by hand: slots from bit to word."""

    def __init__(self, arena):
        self.arena = arena
        self.words = arena.words
        self.base = U(arena.base)
        self.me = U(arena.interpreter_participant())

    def room(self):
        assert begin(self.base, self.me, ORDINARY)

    def snode(self, k, gen=1):
        return int(new_snode(self.base, self.me, k, U(k), k, U(gen)))

    def inode(self, main, gen=1):
        return int(nodes.new_inode(self.base, self.me, U(main), U(gen)))

    def tomb(self, snode, gen=1):
        return self.inode(int(nodes.new_tnode(self.base, self.me, U(snode), U(gen))), gen)

    def cnode(self, slots, gen=1):
        bitmap = sum(1 << bit for bit in slots)
        c = int(nodes.new_cnode(self.base, self.me, U(bitmap), U(len(slots)), U(gen)))
        self.words[c + 3 : c + 3 + len(slots)] = [slots[bit] for bit in sorted(slots)]
        return c

    def slots(self, c):
        kind, size, _ = header(self.words, c)
        assert kind == C
        bitmap = int(self.words[c + 2])
        bits = [bit for bit in range(64) if bitmap >> bit & 1]
        assert size == 3 + len(bits)
        return dict(zip(bits, self.words[c + 3 : c + size].tolist(), strict=True))

    def call(self, function, *arguments):
        return int(function(self.base, self.me, *(U(a) for a in arguments)))


@pytest.fixture
def bench(arena):
    bench = Bench(arena)
    bench.room()
    return bench


@pytest.mark.parametrize("count", range(68))
def test_copying_changes_no_word_before_or_behind(count):
    words = np.arange(200, dtype=np.uint64)
    mains.copy(U(words.ctypes.data), U(100), U(20), U(count))
    assert words.tolist() == [*range(100), *range(20, 20 + count), *range(100 + count, 200)]


@given(bits=BITS, bit=st.integers(0, 63))
@settings(max_examples=60)
def test_insert_update_remove_change_one_slot(bits, bit):
    bench = Bench(Arena.anonymous(4 << 20))
    bench.room()
    slots = {b: 1000 + b for b in bits}
    c = bench.cnode(slots)
    if bit in bits:
        updated = bench.call(mains.updated, c, 1 << bit, 7, 2)
        assert bench.slots(updated) == slots | {bit: 7}
        removed = bench.call(mains.removed_contracted, c, 1 << bit, 0, 2)
        assert bench.slots(removed) == {b: s for b, s in slots.items() if b != bit}
    else:
        inserted = bench.call(mains.inserted, c, 1 << bit, 7, 2)
        assert bench.slots(inserted) == slots | {bit: 7}
        assert header(bench.words, inserted)[2] == 2
    assert bench.slots(c) == slots, "the old node must not change"


def test_removing_down_to_a_lone_snode_entombs_it_below_the_root_only(bench):
    a, b = bench.snode(1), bench.snode(2)
    c = bench.cnode({3: a, 9: b})
    for gone, left in ((3, b), (9, a)):
        tomb = bench.call(mains.removed_contracted, c, 1 << gone, 6, 1)
        assert header(bench.words, tomb)[0] == T
        assert bench.words[tomb + 2] == left
        assert list(bench.slots(bench.call(mains.removed_contracted, c, 1 << gone, 0, 1)).values()) == [left]


def test_removing_down_to_a_lone_child_keeps_it(bench):
    child = bench.inode(bench.cnode({1: bench.snode(1), 2: bench.snode(2)})) | TAG
    c = bench.cnode({3: bench.snode(3), 9: child})
    assert bench.slots(bench.call(mains.removed_contracted, c, 1 << 3, 6, 1)) == {9: child}


def test_a_snode_in_place_of_the_only_child_is_entombed(bench):
    snode = bench.snode(1)
    c = bench.cnode({5: bench.tomb(snode) | TAG})
    tomb = bench.call(mains.updated_contracted, c, 1 << 5, snode, 6, 1)
    assert header(bench.words, tomb)[0] == T
    assert bench.slots(bench.call(mains.updated_contracted, c, 1 << 5, snode, 0, 1)) == {5: snode}
    two = bench.cnode({5: bench.tomb(snode) | TAG, 6: bench.snode(2)})
    assert bench.slots(bench.call(mains.updated_contracted, two, 1 << 5, snode, 6, 1))[5] == snode


def test_renewing_copies_one_child_only(bench):
    main = bench.cnode({1: bench.snode(1)})
    old, current, leaf = bench.inode(main, 1) | TAG, bench.inode(main, 5) | TAG, bench.snode(9)
    other = bench.inode(main, 1) | TAG
    c = bench.cnode({0: old, 1: current, 2: leaf, 3: other})
    renewed = int(mains.renewed(bench.base, READ_ONLY, bench.me, U(c), U(1), U(5)))
    slots = bench.slots(renewed)
    assert slots[1] == current, "a child of the target generation may hold a newer main than a copy would"
    assert slots[2] == leaf
    assert slots[3] == other, "who goes there renews it"
    assert slots[0] not in (old, current, other)
    assert header(bench.words, slots[0] & ~TAG) == (1, 2, 5)
    assert bench.words[(slots[0] & ~TAG) + 1] == main


def test_compressing_resurrects_every_tomb(bench):
    a, b, c = (bench.snode(k) for k in (1, 2, 3))
    child = bench.inode(bench.cnode({1: a, 2: b})) | TAG
    node = bench.cnode({0: bench.tomb(a) | TAG, 1: child, 2: c, 3: bench.tomb(b) | TAG})

    def compressed(c, level):
        return int(mains.compressed(bench.base, READ_ONLY, bench.me, U(c), U(level), U(1)))

    assert bench.slots(compressed(node, 6)) == {0: a, 1: child, 2: c, 3: b}
    assert compressed(bench.cnode({1: child, 2: c}), 6) == 0, "nothing to do"
    lone = bench.cnode({4: bench.tomb(a) | TAG})
    assert header(bench.words, compressed(lone, 6))[0] == T
    assert bench.slots(compressed(lone, 0)) == {4: a}
