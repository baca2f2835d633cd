"""Subscribers that are no small integers: who has no subscription is forgotten, unless a snapshot shows it."""

import gc
import tracemalloc
import weakref

import numpy as np
import pyarrow as pa
import pytest
from ctrie_exact import settle
from hypothesis import given, settings
from hypothesis import strategies as st
from threads_together import together

from latchfree import Arena
from latchfree.topics import ConcurrentTrie
from latchfree.topics.concurrent.subscribers import OwnSubscribers


class Client:
    """A subscriber that can be watched."""


def test_former_subscribers_leave_nothing():
    trie = ConcurrentTrie("mqtt", arena=Arena.anonymous(64 << 20))

    def come_and_go(turn):
        for k in range(2_000):
            trie.unsubscribe(trie.subscribe(f"a/{k % 50}/+", f"client {turn} {k} with a name of some length"))
        settle(trie.arena)
        gc.collect()

    come_and_go(0)
    tracemalloc.start()
    try:
        come_and_go(1)
        words, held = trie.arena.allocated, tracemalloc.get_traced_memory()[0]
        for turn in range(2, 5):
            come_and_go(turn)
        assert trie.arena.allocated <= 1.01 * words
        assert tracemalloc.get_traced_memory()[0] - held < 0.01 * 2_000 * 220
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("column", [False, True])
def test_a_subscriber_is_forgotten_with_its_last_subscription(column):
    trie = ConcurrentTrie("mqtt", arena=Arena.anonymous(8 << 20))
    client = Client()
    gone = weakref.ref(client)
    made = [trie.subscribe(f"a/{k}", client) for k in range(3)]
    names = [(each.pattern, each.number) for each in made]
    del made, client
    for left, (pattern, number) in enumerate(names):
        assert gone() is not None, left
        assert trie.match(pattern) == {gone()}
        if column:
            trie.unsubscribe_column(pa.array([pattern]), np.array([number], np.uint64))
        else:
            trie.unsubscribe(next(each for each in trie.subscriptions() if each.number == number))
    gc.collect()
    assert gone() is None


def test_snapshots_show_who_left_and_the_last_of_them_forgets():
    trie = ConcurrentTrie("mqtt", arena=Arena.anonymous(8 << 20))
    clients = [Client() for _ in range(3)]
    gone = [weakref.ref(each) for each in clients]
    before = trie.snapshot()
    made = [trie.subscribe("a", each) for each in clients]
    del clients
    first = trie.snapshot()
    trie.unsubscribe(made.pop())
    second = trie.snapshot()
    iterator = iter(second)
    second.close()
    second = trie.snapshot()
    trie.unsubscribe(made.pop())
    passing = weakref.ref(made[0].subscriber)
    short = Client()
    short_gone = weakref.ref(short)
    trie.unsubscribe(trie.subscribe("a", short))
    del short
    gc.collect()
    assert short_gone() is None, "no snapshot shows a subscriber that came after all of them"
    assert first.match("a") == {each() for each in gone}
    assert first.match_many(["b"]).to_pylist() == [[]]
    assert len(second.match("a")) == len(list(iterator)) == 2
    assert len(trie.match("a")) == 1
    first.close()
    gc.collect()
    assert [each() is None for each in gone] == [False, False, True]
    assert len(second.match("a")) == 2
    del iterator
    second.close()
    gc.collect()
    assert [each() is None for each in gone] == [False, True, True]
    assert passing() is gone[0]()
    before.close()


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("sstrkre"), st.integers(0, 5)), max_size=60))
def test_the_table_holds_what_is_needed_and_no_more(program):
    """s: subscribe; t, r: unsubscribe; k: take a snapshot; e: end one."""
    table = OwnSubscribers()
    live, kept = [], []
    for what, n in program:
        if what == "s":
            live.append((table.stored(str(n))[0], str(n)))
        elif what in "tr" and live:
            table.release(live.pop(n % len(live))[0])
        elif what == "k":
            keep = table.keep()
            kept.append((keep, list(live)))
            keep.read()
        elif what == "e" and kept:
            kept.pop(n % len(kept))[0].end()
        for word, name in live + [each for _, shown in kept for each in shown]:
            assert table.object(word, None) == name
    for keep, _ in kept:
        keep.end()
    assert set(table._of) == {word for word, _ in live}
    assert len(table._places) == len({name for _, name in live})
    for word, _ in live:
        table.release(word)
    assert not (table._of)
    assert not (table._places)
    assert not (table.kept)
    assert not (table.reading)


def test_threads_that_come_and_go_and_look():
    trie = ConcurrentTrie("mqtt", arena=Arena.anonymous(64 << 20))
    trie.subscribe("a", "always")
    names = {"always", *(f"{k}" for k in range(4))}

    def change(t):
        for k in range(1_500):
            trie.unsubscribe(trie.subscribe("a", f"{(k + t) % 4}"))

    def look():
        for k in range(600):
            found = [trie.match("a"), frozenset(trie.match_many(["a"]).to_pylist()[0])]
            if k % 10 == 0:
                with trie.snapshot() as snapshot:
                    found += [snapshot.match("a"), {each.subscriber for each in snapshot}]
            for each in found:
                assert {"always"} <= each <= names

    together(lambda: change(0), lambda: change(1), look, look)
    assert trie.match("a") == {"always"}
    table = trie._subscribers
    assert len(table._of) == len(table._places) == 1
    assert not (table.kept)
    assert not (table.reading)
