"""Threads on one trie: nothing is lost, and snapshots taken meanwhile are of one instant."""

import threading

import numpy as np
import pytest
from ctrie_pools import MASKS
from ctrie_walk import check
from threads_together import together

from latchfree import Ctrie

THREADS = 4


@pytest.mark.parametrize("mask", MASKS)
def test_disjoint_keys_by_single_and_bulk_calls(arena, mask):
    count = 60 if mask in ("lnodes", "narrow") else 2000
    trie = Ctrie(keys=int, values=int, arena=arena, hash_mask=MASKS[mask] if mask != "tree" else 0o7777)

    def single(t):
        for k in range(t, THREADS * count, THREADS):
            trie[k] = k
            if k % 3 == 0:
                assert trie.pop(k) == k

    def bulk(t):
        keys = np.arange(t, THREADS * count, THREADS)
        for part in np.array_split(keys, 20):
            trie.put_many(part, part)
            assert trie.get_many(part).tolist() == part.tolist()
            assert trie.remove_many(part[part % 3 == 0]).all()

    together(*[lambda t=t: (bulk if t % 2 else single)(t) for t in range(THREADS)])
    assert dict(trie.items()) == {k: k for k in range(THREADS * count) if k % 3}
    check(trie, tombs=True)


@pytest.mark.parametrize("mask", MASKS)
def test_overlapping_keys_end_with_somebodys_last_write(arena, mask):
    trie = Ctrie(keys=int, values=int, arena=arena, hash_mask=MASKS[mask])
    keys = np.arange(24)

    def body(t):
        for turn in range(150):
            value = turn * THREADS + t
            if t % 2:
                trie.put_many(keys, np.full(len(keys), value))
            else:
                for k in range(24):
                    trie[k] = value
            if turn % 10 == t:
                trie.readonly_snapshot()
            if turn < 140:
                trie.remove_many(keys[::3])

    together(*[lambda t=t: body(t) for t in range(THREADS)])
    final = dict(trie.items())
    assert set(final) == set(range(24))
    assert set(final.values()) <= {149 * THREADS + t for t in range(THREADS)}
    check(trie, tombs=True)


def test_conditional_writes_count_without_loss(arena):
    trie = Ctrie({0: 0}, keys=int, values=int, arena=arena)

    def body():
        for _ in range(300):
            while True:
                old = trie[0]
                if trie.replace(0, old, old + 1):
                    break

    together(*[body] * THREADS)
    assert trie[0] == THREADS * 300


def test_each_key_is_inserted_and_removed_by_one_thread_only(arena):
    trie = Ctrie(keys=int, values=int, arena=arena, hash_mask=MASKS["tree"])
    inserted, removed = [], []

    def body(t):
        for k in range(400):
            if trie.put_if_absent(k, t) is None:
                inserted.append(k)
        for part in np.array_split(np.arange(400), 10):
            removed.extend(part[trie.remove_many(part)].tolist())

    together(*[lambda t=t: body(t) for t in range(THREADS)])
    # A slow inserter may find a key removed and insert it again, so each insertion has one removal, or is still there.
    assert sorted(inserted) == sorted(removed + list(trie))


@pytest.mark.parametrize("mask", MASKS)
def test_a_snapshot_is_of_one_instant(arena, mask):
    trie = Ctrie({0: 0, 1: 0}, keys=int, values=int, arena=arena, hash_mask=MASKS[mask])
    readers, turns = [1, 2], [0]

    def writer():
        pair = np.array([0, 1])  # always key 0 before key 1
        while readers:
            turns[0] += 1
            trie.put_many(pair, np.array([turns[0], turns[0]]))

    def reader():
        last = 0
        try:
            for _ in range(300):
                for source in (trie.readonly_snapshot(), trie.snapshot()):
                    first, second = source[0], source[1]
                    assert first - 1 <= second <= first, "a snapshot shows a write without the one before it"
                    assert first >= last, "a later snapshot shows an older state"
                    assert dict(source.items()) == {0: first, 1: second}
                    last = first
        finally:
            readers.pop()

    together(writer, reader, reader)
    assert dict(trie.items()) == {0: turns[0], 1: turns[0]}


def test_clear_is_one_step(arena):
    trie = Ctrie(keys=int, values=int, arena=arena)
    keys = np.arange(200)
    reading = threading.Event()
    reading.set()

    def writer():
        while reading.is_set():
            trie.put_many(keys, keys)
            trie.clear()

    def reader():
        try:
            for _ in range(60):
                present = sorted(trie.readonly_snapshot())
                assert present == list(range(len(present))), "keys are written in order and vanish together"
        finally:
            reading.clear()

    together(writer, reader)
    assert len(trie) == 0


@pytest.mark.slow
def test_hammering_at_length(arena):
    for _ in range(20):
        test_overlapping_keys_end_with_somebodys_last_write(arena, "tree")
        test_a_snapshot_is_of_one_instant(arena, "tree")
