"""GCAS, one decision at a time: what a reader does with a main left undecided or aborted."""

import numpy as np
import pytest
from ctrie_walk import TAG, header, root_of

from latchfree.arena.kernels.allocator import ORDINARY, begin
from latchfree.arena.kernels.epochs import pin
from latchfree.ctrie.kernels import gcas
from latchfree.ctrie.kernels.gcas import ABORTED, COMMITTED, LOST, READ_ONLY
from latchfree.ctrie.kernels.mains import updated
from latchfree.ctrie.kernels.snode import new_snode
from latchfree.words import mix

U = np.uint64


class Bench:
    """A trie of integers with one key, and the kernels applied to its words by hand, pinned all the time."""

    def __init__(self, trie):
        self.trie = trie
        self.words = trie.arena.words
        self.base = U(trie.arena.base)
        self.at = U(trie._store.trie)
        self.me = U(trie.arena.interpreter_participant())
        pin(self.base, self.me)
        trie[1] = 10
        self.root = root_of(trie)
        self.main = int(self.words[self.root + 1])

    def new_main(self, value, gen):
        """A copy of the root's main in which key 1 has another value."""
        h = mix(U(1))
        assert self.begin()
        snode = new_snode(self.base, self.me, 1, h, value, U(gen))
        flag = U(1) << (h & U(63))
        return int(updated(self.base, self.me, U(self.main), flag, snode, U(gen)))

    def begin(self):
        return bool(begin(self.base, self.me, ORDINARY))

    def leave_pending(self, value):
        """Do the first half of a GCAS on the root, as a thread that stopped after its CAS on main."""
        new = self.new_main(value, header(self.words, self.root)[2])
        self.words[new + 1] = self.main
        self.words[self.root + 1] = new
        return new

    def gcas(self, i, old, new):
        return int(gcas.gcas(self.base, self.at, U(i), U(old), U(new)))

    def read(self, i, trie=None):
        return int(gcas.gcas_read(self.base, self.at if trie is None else trie, U(i)))


@pytest.fixture
def bench(trie):
    return Bench(trie)


def test_commits_when_main_and_generation_are_current(bench):
    new = bench.new_main(20, header(bench.words, bench.root)[2])
    assert bench.gcas(bench.root, bench.main, new) == COMMITTED
    assert bench.words[bench.root + 1] == new
    assert bench.words[new + 1] == 0
    assert bench.trie[1] == 20


def test_loses_to_another_main_and_touches_nothing(bench):
    bench.trie[1] = 15
    new = bench.new_main(20, header(bench.words, bench.root)[2])
    there = int(bench.words[bench.root + 1])
    assert bench.gcas(bench.root, bench.main, new) == LOST
    assert bench.words[bench.root + 1] == there
    assert bench.trie[1] == 15


def test_aborts_and_rolls_back_once_a_snapshot_moved_the_generation(bench):
    snapshot = bench.trie.readonly_snapshot()
    new = bench.new_main(20, header(bench.words, bench.root)[2])
    assert root_of(bench.trie) != bench.root
    assert bench.gcas(bench.root, bench.main, new) == ABORTED
    assert bench.words[bench.root + 1] == bench.main, "the old root must hold its main again"
    assert bench.words[new + 1] == bench.main | TAG
    assert (bench.trie[1], snapshot[1]) == (10, 10)


def test_a_reader_commits_a_pending_update_of_the_current_generation(bench):
    new = bench.leave_pending(20)
    assert bench.trie[1] == 20
    assert bench.words[bench.root + 1] == new
    assert bench.words[new + 1] == 0


def test_a_writer_commits_a_pending_update_before_its_own(bench):
    bench.leave_pending(20)
    assert bench.trie.put(1, 30) == 20
    assert bench.trie[1] == 30


def test_a_reader_of_an_older_generation_rolls_a_pending_update_back(bench):
    snapshot = bench.trie.readonly_snapshot()
    new = bench.leave_pending(20)  # in the old root, which the live trie has left
    assert bench.trie[1] == 10
    assert snapshot[1] == 10
    assert bench.words[bench.root + 1] == bench.main
    assert bench.words[new + 1] == bench.main | TAG


def test_a_reader_of_a_frozen_tree_never_commits(bench):
    new = bench.leave_pending(20)  # the generation is current, but this reader does not know of a root
    assert bench.read(bench.root, READ_ONLY) == bench.main
    assert bench.words[new + 1] == bench.main | TAG
    assert bench.trie[1] == 10


def test_an_aborted_update_stays_aborted_though_the_generation_is_current(bench):
    new = bench.leave_pending(20)
    bench.words[new + 1] = bench.main | TAG
    assert bench.trie[1] == 10
    assert bench.words[bench.root + 1] == bench.main
    assert bench.words[new + 1] == bench.main | TAG


def test_a_snapshot_decides_a_pending_update_before_it_copies_the_main(bench):
    bench.leave_pending(20)
    snapshot = bench.trie.readonly_snapshot()
    assert snapshot[1] == 20
    bench.trie[1] = 30
    assert (snapshot[1], bench.trie[1]) == (20, 30)


def test_a_chain_of_an_aborted_update_under_a_pending_one_unwinds(bench):
    first = bench.leave_pending(20)
    bench.words[first + 1] = bench.main | TAG
    assert bench.read(bench.root) == bench.main
    second = bench.leave_pending(30)
    assert bench.read(bench.root) == second
    assert bench.trie[1] == 30
