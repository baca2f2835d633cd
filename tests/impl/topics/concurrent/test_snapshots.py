"""Snapshots of the concurrent trie: they match as the trie did, keep no more than they must, and can be given up."""

import gc
import pickle
import sys
import threading
from dataclasses import replace

import pyarrow as pa
import pytest
from ctrie_exact import exact, reached, registered, settle
from hypothesis import given, settings
from hypothesis import strategies as st
from threads_together import together
from topic_texts import accepts, texts

from latchfree import Arena
from latchfree.ctrie.store import refused
from latchfree.errors import ArenaFull
from latchfree.topics import DIALECTS, ConcurrentTrie, LockedTrie, Snapshot

DEEP = replace(DIALECTS["mqtt"], most_words=10_000)


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_snapshots_stay_as_they_were_taken(dialect, data):
    """Each is compared with a copy, after more has come and gone; and every two differ by what came and went."""
    rules = DIALECTS[dialect]
    arena = Arena.anonymous(16 << 20)
    trie = ConcurrentTrie(dialect, arena=arena, hash_mask=data.draw(st.sampled_from([(1 << 64) - 1, 0])))
    live, taken = [], []
    for pattern in data.draw(st.lists(texts(rules, wild=True).filter(lambda text: accepts(rules.pattern, text)))):
        if live and data.draw(st.booleans()):
            trie.unsubscribe(live.pop(data.draw(st.integers(0, len(live) - 1))))
        live.append(trie.subscribe(pattern, data.draw(st.sampled_from([1, 2, "x"]))))
        if data.draw(st.integers(0, 3)) == 0:
            taken.append((trie.snapshot(), list(live)))
    topics = data.draw(st.lists(texts(rules, wild=False).filter(lambda text: accepts(rules.topic, text)), max_size=4))
    for snapshot, held in taken:
        assert isinstance(snapshot, Snapshot)
        assert len(snapshot) == len(held)
        assert set(snapshot) == set(held)
        plain = LockedTrie(rules)
        for each in held:
            plain.subscribe(each.pattern, str(each.subscriber))
        for topic in topics:
            assert {str(who) for who in snapshot.match(topic)} == plain.match(topic)
            assert snapshot.has_interest(topic) == plain.has_interest(topic)
            assert {each.subscriber for each in snapshot.matching(topic)} == snapshot.match(topic)
    if taken:
        snapshot, held = taken[0]
        index = snapshot.freeze()
        assert [index.match(topic) for topic in topics] == [snapshot.match(topic) for topic in topics]
    for earlier, before in taken:
        for later, after in taken:
            difference = later.since(earlier)
            assert difference.added == set(after) - set(before)
            assert difference.removed == set(before) - set(after)
    taken.clear()
    snapshot = earlier = later = None
    gc.collect()
    assert registered(trie) == 0
    exact(arena, [trie])


def test_a_snapshot_keeps_what_is_gone_until_it_is_closed():
    trie = ConcurrentTrie("mqtt", arena=Arena.anonymous(64 << 20))
    made = [trie.subscribe(f"{k % 7}/{'+' if k % 3 else '#'}/{k}" if k % 3 else f"{k}/#", k) for k in range(2000)]
    with trie.snapshot() as snapshot:
        nodes = exact(trie.arena, [trie]).nodes
        for each in made:
            trie.unsubscribe(each)
        assert len(trie) == 0
        held = exact(trie.arena, [trie]).nodes
        assert held > 0.9 * nodes
        assert snapshot.match("3/x/10") == {3, 10}
        assert set(snapshot) == set(made)
        assert [sorted(row) for row in snapshot.match_many(pa.array(["3/x/10", "nobody"])).to_pylist()] == [[3, 10], []]
        added = trie.subscribe("later", 1)
        assert snapshot.match("later") == set()
        assert (trie.snapshot().since(snapshot).added, trie.snapshot().since(snapshot).removed) == ({added}, set(made))
    assert snapshot.closed
    assert exact(trie.arena, [trie]).nodes < 0.1 * held


def test_taking_one_copies_nothing():
    trie = ConcurrentTrie("mqtt", arena=Arena.anonymous(256 << 20))
    trie.subscribe_column(pa.array([f"a/{k}/b" for k in range(20_000)]), range(20_000))
    trie.snapshot().close()  # a table of slots
    before = exact(trie.arena, [trie]).nodes
    taken = [trie.snapshot() for _ in range(8)]
    assert exact(trie.arena, [trie]).nodes - before < 100 * len(taken)
    assert [snapshot.match("a/77/b") for snapshot in taken] == [{77}] * 8


def test_what_is_closed_says_so_and_running_iterators_go_on():
    trie = ConcurrentTrie("nats", arena=Arena.anonymous(16 << 20))
    made = [trie.subscribe(f"a.{k}", k) for k in range(3000)]
    snapshot = trie.snapshot()
    running = iter(snapshot)
    first = next(running)
    snapshot.close()
    snapshot.close()
    for use in (
        lambda: snapshot.match("a"),
        lambda: snapshot.match_many(["a"]),
        lambda: snapshot.matching("a"),
        lambda: snapshot.has_interest("a"),
        lambda: list(snapshot),
        lambda: len(snapshot),
        lambda: snapshot.freeze(),
        lambda: snapshot.since(trie.snapshot()),
        lambda: trie.snapshot().since(snapshot),
        lambda: snapshot.__enter__(),
    ):
        with pytest.raises(ValueError, match=r"this snapshot is closed; take another with snapshot\(\)"):
            use()
    assert repr(snapshot) == "<TrieSnapshot of nats, closed>"
    assert registered(trie) == 1
    assert {first, *running} == set(made)
    del running
    assert registered(trie) == 0


def test_a_prefix_and_membership():
    trie = ConcurrentTrie("mqtt", arena=Arena.anonymous(16 << 20))
    one, two = trie.subscribe("a/+", 1), trie.subscribe("$share/g/a/b", 2)
    snapshot = trie.snapshot()
    trie.unsubscribe(one)
    assert set(snapshot.subscriptions("a")) == {one, two}
    assert list(snapshot.subscriptions("a/b")) == [two]
    assert one in snapshot
    assert one not in trie.snapshot()
    assert snapshot.pairs() == {("a/+", 1), ("$share/g/a/b", 2)}


def test_it_cannot_be_pickled():
    trie = ConcurrentTrie("mqtt", arena=Arena.anonymous(16 << 20))
    with pytest.raises(TypeError, match="a snapshot cannot be pickled"):
        pickle.dumps(trie.snapshot())
    with pytest.raises(TypeError, match="a private ConcurrentTrie cannot be pickled"):
        pickle.dumps(trie)


def test_threads_read_snapshots_of_one_instant_while_others_change_the_trie():
    """A writer has one of two patterns at any time; whoever takes a snapshot sees one or both, and always the same."""
    trie = ConcurrentTrie("mqtt", arena=Arena.anonymous(256 << 20))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    stop = threading.Event()
    trie.subscribe("a/y", 9)
    trie.subscribe("+/y", 9)

    first = trie.subscribe("a/x", 1)

    def write():
        held = first
        while not stop.is_set():
            other = trie.subscribe("+/x" if held.pattern == "a/x" else "a/x", 1)
            trie.unsubscribe(held)
            held = other

    def read():
        try:
            for _ in range(300):
                with trie.snapshot() as snapshot:
                    seen = {each.pattern for each in snapshot.matching("a/x")}
                    assert seen
                    assert snapshot.match("a/x") == {1}
                    for _ in range(3):
                        assert {each.pattern for each in snapshot.matching("a/x")} == seen
                    assert seen == {each.pattern for each in snapshot if each.subscriber == 1}
        finally:
            stop.set()

    try:
        together(write, read, read)
    finally:
        sys.setswitchinterval(interval)
    assert registered(trie) == 0
    exact(trie.arena, [trie])


def deep(words, size):
    """Return patterns of many words, each sharing a long beginning with others."""
    return ["/".join(words[j < k] for j in range(size)) + end for k in range(0, size, 60) for end in "xy"]


@pytest.mark.parametrize("mask", [(1 << 64) - 1, 1 << 60])
def test_a_deep_trie_is_cleared_under_snapshots(mask):
    """Patterns of hundreds of words: what walks over the trie has no fixed room."""
    trie = ConcurrentTrie(DEEP, arena=Arena.anonymous(64 << 20), hash_mask=mask)
    empty = trie.snapshot()
    made = [trie.subscribe(text, k) for k, text in enumerate(deep("ab", 300))]
    first = trie.snapshot()
    more = [trie.subscribe(text, k) for k, text in enumerate(deep("cd", 200))]
    second = trie.snapshot()
    assert trie._store.clear() is not NotImplemented
    assert (len(trie), len(empty)) == (0, 0)
    assert set(first) == set(made)
    assert set(second) == {*made, *more}
    nodes = exact(trie.arena, [trie]).nodes
    second.close()
    assert exact(trie.arena, [trie]).nodes < 0.8 * nodes
    assert set(first) == set(made)
    first.close()
    empty.close()
    assert exact(trie.arena, [trie]).nodes < 200


def test_a_deep_trie_is_cleared_in_an_arena_that_is_almost_full():
    """What the snapshot shows stays, and nothing that is reachable is freed, even if there is no room to list all."""
    trie = ConcurrentTrie(DEEP, arena=Arena.anonymous(4 << 20))
    made = []

    def fill():
        for k in range(10_000):
            for end in "xy":
                made.append(trie.subscribe(f"{k}/{'/' * 250}{k}{end}", k))

    with pytest.raises(ArenaFull):
        fill()
    for _ in range(40):
        trie.unsubscribe(made.pop())
    settle(trie.arena)
    with trie.snapshot() as snapshot:
        trie._store.insist(trie._store.clear, refused)
        assert len(trie) == 0
        assert set(snapshot) == set(made)
    settle(trie.arena)
    check = trie.subscribe("a/b", 1)
    assert trie.match("a/b") == {1}
    trie.unsubscribe(check)
    settle(trie.arena)
    assert trie.arena.census().nodes >= reached(trie.arena, [trie]).words
