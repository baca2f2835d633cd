"""Snapshots and clear: isolation in both directions, generations, sharing."""

import gc
import weakref

import numpy as np
import pytest
from ctrie_pools import MASKS
from ctrie_walk import check, header, root_of

from latchfree import Arena, Ctrie
from latchfree.arena import layout


@pytest.fixture(params=MASKS)
def trie(request, arena):
    return Ctrie({k: k for k in range(40)}, keys=int, values=int, arena=arena, hash_mask=MASKS[request.param])


def test_a_readonly_snapshot_never_changes(trie):
    models, snapshots = [], []
    model = {k: k for k in range(40)}
    for turn in range(20):
        snapshots.append(trie.readonly_snapshot())
        models.append(dict(model))
        trie[turn] = model[turn] = -turn
        trie[100 + turn] = model[100 + turn] = turn
        del trie[39 - turn], model[39 - turn]
        trie.get(turn)
    trie.clear()
    for snapshot, then in zip(snapshots, models, strict=True):
        assert dict(snapshot.items()) == then
        assert len(snapshot) == len(then)
        assert [snapshot.get(k) for k in range(140)] == [then.get(k) for k in range(140)]
        assert list(snapshot) == list(snapshot)


def test_snapshots_of_snapshots_go_their_own_ways(trie):
    family = [(trie, {k: k for k in range(40)})]
    for turn in range(8):
        parent, model = family[turn // 2]
        family.append((parent.snapshot(), dict(model)))
        for n, (member, expected) in enumerate(family):
            key = (7 * turn + n) % 50
            member[key] = expected[key] = 100 * turn + n
            member.remove(turn)
            expected.pop(turn, None)
    for member, expected in family:
        assert dict(member.items()) == expected
        check(member)


def test_a_snapshot_copies_nothing(arena):
    trie = Ctrie(keys=int, values=int, arena=arena)
    trie.put_many(np.arange(10_000), np.arange(10_000))
    me = arena.interpreter_participant() + int(layout.P_BUMP)
    trie.readonly_snapshot()
    before = int(arena.words[me])
    trie.readonly_snapshot()
    first = int(arena.words[me])
    trie.clear()
    trie.readonly_snapshot()
    assert 0 < first - before <= 16, "the words a snapshot takes do not depend on the size"


def test_each_root_has_a_generation_of_its_own(trie):
    def generation(member):
        return header(member.arena.words, root_of(member))[2]

    seen = [generation(trie)]
    for operation in (trie.readonly_snapshot, trie.clear, trie.snapshot, lambda: len(trie)):
        result = operation()
        seen.append(generation(trie))
        if isinstance(result, Ctrie):
            seen.append(generation(result))
    assert len(set(seen)) == len(seen)
    assert seen[0] == min(seen)


def test_reading_renews_only_the_path_it_takes(arena):
    trie = Ctrie({k: k for k in range(300)}, keys=int, values=int, arena=arena)
    trie.readonly_snapshot()
    words = arena.words
    root = root_of(trie)
    main = int(words[root + 1])
    trie[0]
    assert int(words[root + 1]) != main, "the root's C-node was renewed"
    renewed = int(words[root + 1])
    assert all(trie[k] == k for k in range(300))
    assert int(words[root + 1]) == renewed, "one renewal serves all the children"
    check(trie)


def test_clear_leaves_what_snapshots_hold(trie):
    frozen, copy = trie.readonly_snapshot(), trie.snapshot()
    trie.clear()
    assert len(trie) == 0
    assert len(frozen) == len(copy) == 40
    copy.clear()
    assert len(frozen) == 40
    trie[1] = 1
    assert dict(trie.items()) == {1: 1}


def test_a_snapshot_keeps_its_arena_alive():
    arena = Arena.anonymous(2 << 20)
    gone = weakref.ref(arena)
    trie = Ctrie({1: 2}, keys=int, values=int, arena=arena)
    snapshot = trie.readonly_snapshot()
    items = iter(snapshot.items())
    del arena, trie, snapshot
    gc.collect()
    assert gone() is not None
    assert list(items) == [(1, 2)]
    del items
    gc.collect()
    assert gone() is None


def test_strings_survive_in_snapshots(arena):
    trie = Ctrie({"a": "1"}, keys=str, values=str, arena=arena)
    snapshot = trie.readonly_snapshot()
    trie["a"] = "2" * 1000
    assert snapshot["a"] == "1"
    assert dict(snapshot) == {"a": "1"}
