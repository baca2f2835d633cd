"""RDCSS on the root: a reader of the root word finishes a descriptor found there, as its status says."""

import numpy as np
import pytest
from ctrie_walk import TAG, check, root_of

from latchfree.arena.kernels.allocator import URGENT, begin
from latchfree.arena.kernels.epochs import pin
from latchfree.ctrie.kernels import gcas, nodes
from latchfree.ctrie.kernels.gcas import ABORT, COMMIT, UNDECIDED, abort_root, read_root

U = np.uint64


class Bench:
    """A trie in whose root word somebody left a descriptor that would empty it; pinned all the time."""

    def __init__(self, trie, status=UNDECIDED, stale=False):
        trie[1] = 10
        self.trie = trie
        self.words = trie.arena.words
        self.base = U(trie.arena.base)
        self.at = U(trie._store.trie)
        me = U(trie.arena.interpreter_participant())
        pin(self.base, me)
        assert begin(self.base, me, URGENT)
        self.old = root_of(trie)
        expected = self.words[self.old + 1]
        if stale:
            trie[1] = 20
            self.old = root_of(trie)
        gen = nodes.new_generation(self.base)
        empty = nodes.new_cnode(self.base, me, U(0), U(0), gen)
        self.new = int(nodes.new_inode(self.base, me, empty, gen))
        self.descriptor = int(gcas.new_descriptor(self.base, me, U(self.old), expected, U(self.new), gen))
        self.words[self.descriptor + int(gcas.STATUS)] = status
        self.words[int(self.at) + 1] = self.descriptor | TAG

    @property
    def status(self):
        return self.words[self.descriptor + int(gcas.STATUS)]


@pytest.mark.parametrize(
    ("reader", "status", "committed"),
    [
        (read_root, UNDECIDED, True),  # the expected main is there: it happens
        (read_root, COMMIT, True),
        (read_root, ABORT, False),
        (abort_root, UNDECIDED, False),  # a GCAS in progress does not wait: it aborts
        (abort_root, COMMIT, True),
        (abort_root, ABORT, False),
    ],
)
def test_a_reader_finishes_what_it_finds(trie, reader, status, committed):
    bench = Bench(trie, status)
    expected = bench.new if committed else bench.old
    assert reader(bench.base, bench.at) == expected
    assert root_of(trie) == expected
    assert bench.status == (COMMIT if committed else ABORT)
    assert dict(trie.items()) == ({} if committed else {1: 10})
    check(trie)


def test_an_undecided_replacement_aborts_when_the_main_has_changed(trie):
    bench = Bench(trie, stale=True)
    assert read_root(bench.base, bench.at) == bench.old
    assert bench.status == ABORT
    assert trie[1] == 20


def test_a_decided_status_outlives_a_changed_main(trie):
    bench = Bench(trie, COMMIT, stale=True)
    assert read_root(bench.base, bench.at) == bench.new
    assert bench.status == COMMIT
    assert 1 not in trie


@pytest.mark.parametrize("status", [UNDECIDED, COMMIT, ABORT])
def test_every_operation_gets_past_a_descriptor(trie, status):
    survives = status == ABORT
    operations = [
        (lambda: trie.get(1), 10 if survives else None),
        (lambda: trie.put(1, 30), 10 if survives else None),
        (lambda: trie.remove(1), survives),
        (lambda: dict(trie.readonly_snapshot()), {1: 10} if survives else {}),
        (lambda: dict(trie.snapshot()), {1: 10} if survives else {}),
        (trie.clear, None),
    ]
    for operation, expected in operations:
        trie.clear()
        Bench(trie, status)
        assert operation() == expected
        check(trie)


def test_swing_of_a_late_helper_does_nothing(trie):
    bench = Bench(trie, COMMIT)
    read_root(bench.base, bench.at)
    trie[5] = 50
    now = root_of(trie)
    gcas.swing(bench.base, bench.at, U(bench.descriptor))
    assert root_of(trie) == now
    assert dict(trie.items()) == {5: 50}


def test_a_pending_update_aborts_the_replacement_that_waits_for_it(trie):
    bench = Bench(trie)
    main = int(bench.words[bench.old + 1])
    me = U(trie.arena.interpreter_participant())
    assert begin(bench.base, me, URGENT)
    new = int(nodes.new_cnode(bench.base, me, U(0), U(0), U(1)))
    bench.words[new + 1] = main
    bench.words[bench.old + 1] = new
    # Deciding the update reads the root, which aborts the replacement; then the update may commit.
    assert read_root(bench.base, bench.at) == bench.old
    assert bench.status == ABORT
    assert bench.words[new + 1] == 0
    assert len(trie) == 0
