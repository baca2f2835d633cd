"""Snapshots and clear: isolation in both directions, generations, sharing."""

import gc
import pickle
import weakref

import numpy as np
import pytest
from ctrie_exact import exact, registered, settle
from ctrie_pools import MASKS
from ctrie_walk import check, header, root_of

from latchfree import Arena, Ctrie


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
    words = []
    for size in (10, 10_000):
        trie = Ctrie(keys=int, values=int, arena=arena)
        trie.put_many(np.arange(size), np.arange(size))
        trie.readonly_snapshot()
        settle(arena)
        before = arena.census().nodes
        snapshot = trie.readonly_snapshot()
        words.append(arena.census().nodes - before)
        del snapshot
    assert words[0] == words[1] <= 16, "the words a snapshot takes do not depend on the size"


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


def test_reading_renews_nothing_and_writing_its_path(arena):
    trie = Ctrie({k: k for k in range(300)}, keys=int, values=int, arena=arena)
    kept = trie.readonly_snapshot()
    words = arena.words
    root = root_of(trie)
    main = int(words[root + 1])
    assert all(trie[k] == k for k in range(300))
    assert 300 not in trie
    assert int(words[root + 1]) == main, "a lookup reads what the snapshot reads"
    before = arena.allocated
    trie[0] = 1
    assert int(words[root + 1]) != main, "the root's C-node has another child now"
    assert arena.allocated - before < 8 * (2 * 67 + 3 * 8), "one child a level is copied"
    assert trie[0] == 1
    assert kept[0] == 0
    assert all(trie[k] == k for k in range(1, 300))
    check(trie)


@pytest.mark.parametrize("read_before", [False, True])
def test_a_finalizer_finds_a_snapshot_closed_that_the_collector_has_ended(read_before):
    """The collector ends what is older in a cycle first; the nodes may be gone when a user's finalizer comes."""
    trie, kept = Ctrie({k: k for k in range(100)}, keys=int, values=int), []

    class User:
        def __del__(self):
            kept.append(self.snapshot)

    snapshot, user = trie.readonly_snapshot(), User()
    if read_before:
        assert snapshot[1] == 1
    user.snapshot, user.itself = snapshot, user
    del snapshot, user
    gc.collect()
    [snapshot] = kept
    trie.update({k: -k for k in range(100)})
    if snapshot._hold.slot == 0:
        for read in (lambda: snapshot[1], lambda: dict(snapshot), lambda: len(snapshot), lambda: 1 in snapshot):
            with pytest.raises(ValueError, match="given back with the garbage"):
                read()
    else:
        assert dict(snapshot) == {k: k for k in range(100)}
    assert trie[5] == -5


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
    arena = Arena.anonymous(4 << 20)
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


USES = {
    "[]": lambda s: s[1],
    "get": lambda s: s.get(1),
    "in": lambda s: 1 in s,
    "len": len,
    "iter": lambda s: list(s),
    "items": lambda s: list(s.items()),
    "values": lambda s: list(s.values()),
    "==": lambda s: s == {},
    "with": lambda s: s.__enter__(),
}


@pytest.mark.parametrize("use", USES)
def test_a_closed_snapshot_refuses_every_use(trie, use):
    snapshot = trie.readonly_snapshot()
    assert not snapshot.closed
    snapshot.close()
    snapshot.close()
    assert snapshot.closed
    with pytest.raises(ValueError, match=r"this snapshot is closed; take another with readonly_snapshot\(\)"):
        USES[use](snapshot)


def test_the_end_of_a_with_block_closes(trie):
    with trie.readonly_snapshot() as snapshot:
        assert len(snapshot) == 40
    assert snapshot.closed
    assert registered(trie) == 0
    with pytest.raises(KeyError), trie.readonly_snapshot() as snapshot:
        snapshot["no such key" if isinstance(next(iter(snapshot)), str) else 10**6]
    assert registered(trie) == 0


def test_the_last_reference_gives_a_snapshot_back(trie):
    snapshots = [trie.readonly_snapshot() for _ in range(5)]
    assert registered(trie) == 5
    del snapshots[1::2]
    assert registered(trie) == 3
    snapshots.clear()
    assert registered(trie) == 0


@pytest.mark.parametrize("kind", ["iterator", "items", "keys", "values"])
def test_what_runs_over_a_snapshot_holds_it(trie, kind):
    model = {k: k for k in range(40)}
    snapshot = trie.readonly_snapshot()
    made = {"iterator": iter, "items": lambda s: iter(s.items()), "keys": Ctrie.keys, "values": lambda s: s.values()}
    source = trie if kind == "keys" else snapshot
    running = iter(made[kind](source))
    first = next(running)
    if kind == "iterator":
        snapshot.close()  # a running iterator finishes all the same
    del snapshot, source
    assert registered(trie) == 1
    trie.clear()
    trie.update(dict.fromkeys(range(1000), 0))
    settle(trie.arena)
    expected = model.items() if kind == "items" else model
    assert sorted([first, *running]) == sorted(expected)
    del running
    gc.collect()
    assert registered(trie) == 0


def test_a_view_of_a_closed_snapshot_refuses(trie):
    snapshot = trie.readonly_snapshot()
    items = snapshot.items()
    snapshot.close()
    with pytest.raises(ValueError, match="closed"):
        list(items)


def test_len_iteration_and_equality_leave_no_snapshot(trie):
    len(trie), list(trie), dict(trie.items()), trie == {}, sorted(trie.values())
    gc.collect()
    assert registered(trie) == 0


def test_a_fork_holds_its_snapshot_of_the_parent(trie):
    copy = trie.snapshot()
    deeper = copy.snapshot()
    assert (registered(trie), registered(copy)) == (1, 1)
    trie.clear()
    for _ in range(3):
        settle(trie.arena)
    assert dict(copy.items()) == dict(deeper.items()) == {k: k for k in range(40)}
    del copy
    gc.collect()
    assert registered(trie) == 1, "the fork of the fork needs it"
    assert dict(deeper.items()) == {k: k for k in range(40)}
    del deeper
    gc.collect()
    assert registered(trie) == 0


def test_a_snapshot_outlives_the_reference_to_its_trie(arena):
    trie = Ctrie({k: k for k in range(100)}, keys=int, values=int, arena=arena)
    snapshot = trie.readonly_snapshot()
    trie.clear()
    del trie
    gc.collect()
    other = Ctrie({k: -k for k in range(1000)}, keys=int, values=int, arena=arena)
    settle(arena)
    assert dict(snapshot.items()) == {k: k for k in range(100)}
    del snapshot
    gc.collect()
    exact(arena, [other])


@pytest.mark.parametrize("thing", ["snapshot", "trie"])
def test_a_private_snapshot_cannot_be_pickled(trie, thing):
    subject = trie.readonly_snapshot() if thing == "snapshot" else trie
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(subject)
