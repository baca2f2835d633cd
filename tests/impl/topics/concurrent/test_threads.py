"""Threads on one trie: nothing is lost, nothing stays, and a match sees one instant."""

import threading

import numpy as np
import pyarrow as pa
import pytest
from ctrie_exact import exact
from threads_together import together
from topic_walk import check_shape

from latchfree import Arena
from latchfree.topics import UnknownSubscription
from latchfree.topics.concurrent.trie import ConcurrentTrie

THREADS = 4


def settle_tombs(trie):
    """Clean what was left behind under contention: a change that passes a tomb does."""
    for each in list(trie.subscriptions()):
        trie.unsubscribe(trie.subscribe(each.pattern, 0))


@pytest.mark.parametrize("count", [3_000, pytest.param(60_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("mask", [(1 << 64) - 1, 0o7])
def test_no_kept_subscription_is_lost(count, mask):
    """Each thread keeps one subscription for one that it takes away again, in the same few branches."""
    trie = ConcurrentTrie("mqtt", arena=Arena.anonymous(2 << 30), hash_mask=mask)
    if mask != (1 << 64) - 1:
        count //= 10
    kept = [f"{k % 3}/{'+' if k % 5 == 0 else k % 7}/{k}" for k in range(count)]
    passing = [f"{k % 3}/{k % 7}/x{k % 11}" for k in range(count)]

    def work(t):
        for part in range(0, count, 500):
            numbers = trie.subscribe_column(
                pa.array(passing[part : part + 500]), np.full(len(kept[part : part + 500]), t)
            )
            trie.subscribe_column(
                pa.array(kept[part : part + 500]), np.arange(part, part + len(kept[part : part + 500])) * THREADS + t
            )
            trie.unsubscribe_column(pa.array(passing[part : part + 500]), numbers)

    together(*[lambda t=t: work(t) for t in range(THREADS)])
    held = [each.subscriber for each in trie.subscriptions()]
    assert len(held) == count * THREADS
    assert set(held) == set(range(count * THREADS))
    settle_tombs(trie) if count <= 3000 else None
    exact(trie.arena, [trie])


def test_what_all_take_away_is_gone_and_its_memory_free():
    trie = ConcurrentTrie("amqp", arena=Arena.anonymous(256 << 20))
    assert len(trie) == 0  # which makes room for snapshots
    empty = exact(trie.arena, [trie]).nodes

    def work(t):
        for turn in range(60):
            made = [trie.subscribe(f"a.{k % 5}.#.{k}", t) for k in range(20)]
            for each in made if turn % 2 else reversed(made):
                trie.unsubscribe(each)

    together(*[lambda t=t: work(t) for t in range(THREADS)])
    assert len(trie) == 0
    # A tomb that was left behind is met, and cleaned, by the next who goes there.
    for k in range(20):
        trie.unsubscribe(trie.subscribe(f"a.{k % 5}.#.{k}", 1))
    assert check_shape(trie) == 0
    assert exact(trie.arena, [trie]).nodes == empty


def test_only_one_of_those_who_unsubscribe_succeeds():
    trie = ConcurrentTrie("nats", arena=Arena.anonymous(256 << 20))
    made = [trie.subscribe(f"a.{k % 3}.>", k) for k in range(400)]
    won = []

    def work():
        for each in made:
            try:
                trie.unsubscribe(each)
            except UnknownSubscription:
                continue
            won.append(each)

    together(work, work, work)
    assert sorted(won, key=repr) == sorted(made, key=repr)
    assert len(trie) == 0


def test_a_match_sees_a_literal_and_a_wildcard_at_one_instant():
    """A writer always has one of two patterns subscribed; who reads path after path may see neither (C3)."""
    trie = ConcurrentTrie("mqtt", arena=Arena.anonymous(256 << 20))
    topics = pa.array(["a/x"] * 2000)
    stop = threading.Event()
    trie.subscribe("a/y", 9)  # so that literal and wildcard are in nodes of their own
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
            for _ in range(60):
                found = trie.match_many(topics)
                assert found.offsets.to_numpy().tolist() == list(range(2001)), "a match saw neither"
        finally:
            stop.set()

    together(write, read)


def test_snapshots_are_of_one_instant():
    """Every subscriber subscribes to its second pattern after the first, and leaves the first after the second."""
    trie = ConcurrentTrie("mqtt", arena=Arena.anonymous(512 << 20))
    stop = threading.Event()

    def write(t):
        turn = 0
        while not stop.is_set():
            first, second = f"{t}/{turn % 4}/a", f"{t}/+/{turn % 3}"
            one = trie.subscribe(first, t)
            two = trie.subscribe(second, t)
            trie.unsubscribe(two)
            trie.unsubscribe(one)
            turn += 1

    def read():
        try:
            for _ in range(150):
                held = list(trie.subscriptions())
                for t in range(2):
                    mine = sorted(each.pattern for each in held if each.subscriber == t)
                    assert len(mine) <= 2
                    assert not mine or any(pattern.endswith("a") for pattern in mine), mine
        finally:
            stop.set()

    together(lambda: write(0), lambda: write(1), read)
    assert len(trie) == 0
    for t in range(2):
        for turn in range(12):
            trie.unsubscribe(trie.subscribe(f"{t}/{turn % 4}/a", t))
            trie.unsubscribe(trie.subscribe(f"{t}/+/{turn % 3}", t))
    assert check_shape(trie) == 0
    exact(trie.arena, [trie])
