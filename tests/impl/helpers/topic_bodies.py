"""What the child processes of tests of topic tries do."""

import dataclasses
import os
import signal

import pyarrow as pa

from latchfree import Arena
from latchfree.topics import MQTT, ConcurrentTrie

PATTERNS = [f"{'abc'[k % 3]}/{'+' if k % 4 == 0 else k % 5}/{'#' if k % 7 == 0 else k % 11}" for k in range(60)]


def of_my_own():
    """A dialect that no other process knows."""
    return dataclasses.replace(MQTT, most_words=20)


def subscribe(trie, pipe):
    """Use a trie that came by pickle: match, subscribe, and after a word match again."""
    pipe.send(sorted(trie.match("mine/1")))
    made = [trie.subscribe(f"theirs/{k}", k) for k in range(10)]
    trie.subscribe("theirs/+", "child")
    pipe.send(made)
    pipe.recv()
    pipe.send(sorted(trie.match("theirs/5")))


def hold(where, name, pipe):
    """Open the trie and hold on to snapshots of it until killed."""
    trie = ConcurrentTrie.open(Arena.open(where), name)
    held = [trie.snapshot() for _ in range(3)]
    pipe.send(len(held))
    signal.pause()


def churn(trie, rng, ready):
    """Subscribe, unsubscribe, match and take snapshots for ever, and write to `ready` now and then."""
    held, kept = [], []
    while True:
        for _ in range(40):
            held.append(trie.subscribe(rng.choice(PATTERNS), rng.choice([1, "text", b"bytes"])))
            if len(held) > 30:
                trie.unsubscribe(held.pop(rng.randrange(len(held))))
            if rng.random() < 0.1:
                kept.append(trie.snapshot())
                del kept[:-2]
        trie.match("a/1/2")
        trie.has_interest("b/1/1")
        numbers = trie.subscribe_column(pa.array(PATTERNS), range(len(PATTERNS)))
        trie.unsubscribe_column(pa.array(PATTERNS), numbers)
        os.write(ready, b"x")


def work(where, name, process, turns):
    """Come and go, and leave one subscription."""
    with Arena.open(where) as arena:
        trie = ConcurrentTrie.open(arena, name)
        trie.subscribe(f"process/{process}", process)
        for turn in range(turns):
            held = [trie.subscribe(pattern, f"{process} {turn}") for pattern in PATTERNS]
            with trie.snapshot() as snapshot:
                assert f"{process} {turn}" in snapshot.match("a/0/0")
                assert f"{process} {turn}" in trie.match("a/0/0")
            for each in held if turn % 2 else reversed(held):
                trie.unsubscribe(each)
