"""Recorded runs of real threads, with wildcards, are linearizable with respect to the topic-index model."""

import random
import sys
import threading

import pytest
from ctrie_exact import exact

from latchfree import Arena
from latchfree.topics.concurrent.trie import ConcurrentTrie
from latchfree_lincheck import check
from latchfree_lincheck.history.recorder import Recorder
from latchfree_model.models.topic_index import TopicIndexModel

PATTERNS = {
    "mqtt": ["a", "a/b", "a/c", "+/b", "a/+", "a/#", "#", "d/b"],
    "nats": ["a", "a.b", "a.c", "*.b", "a.*", "a.>", ">", "d.b"],
    "amqp": ["a", "a.b", "a.c", "*.b", "a.#", "#.b", "#", "#.b.#"],
}
TOPICS = {"mqtt": ["a", "a/b", "a/c", "d/b"], "nats": ["a", "a.b", "a.c", "d.b"], "amqp": ["a", "a.b", "b", "a.b.c"]}


@pytest.mark.parametrize("mask", [(1 << 64) - 1, 0])
@pytest.mark.parametrize("dialect", PATTERNS)
def test_histories_are_linearizable(dialect, mask):
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for seed in range(12):
            arena = Arena.anonymous(64 << 20)
            trie = ConcurrentTrie(dialect, arena=arena, hash_mask=mask)
            history = record(trie, dialect, seed)
            verdict = check(history, TopicIndexModel(dialect))
            assert verdict.verdict == "ok", f"seed {seed}: {verdict.explain()}"
            exact(arena, [trie])
    finally:
        sys.setswitchinterval(interval)


def record(trie, dialect, seed, threads=4, operations=40):
    """Run threads that subscribe, unsubscribe what they subscribed, match and list."""
    recorder = Recorder()
    barrier = threading.Barrier(threads)

    def work(process):
        rng = random.Random(seed * 100 + process)
        held = []
        barrier.wait()
        for _ in range(operations):
            chance = rng.random()
            if chance < 0.35 or (chance < 0.6 and not held):
                pattern = rng.choice(PATTERNS[dialect])
                if any(each.pattern == pattern for each in held):
                    continue
                with recorder.call(process, "subscribe", pattern, process) as call:
                    held.append(trie.subscribe(pattern, process))
                    call.result = None
            elif chance < 0.6:
                mine = held.pop(rng.randrange(len(held)))
                with recorder.call(process, "unsubscribe", mine.pattern, process) as call:
                    trie.unsubscribe(mine)
                    call.result = True
            elif chance < 0.95:
                topic = rng.choice(TOPICS[dialect])
                with recorder.call(process, "match", topic) as call:
                    call.result = trie.match(topic)
            else:
                with recorder.call(process, "snapshot") as call:
                    call.result = frozenset((each.pattern, each.subscriber) for each in trie.subscriptions())

    workers = [threading.Thread(target=work, args=(process,)) for process in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return recorder.history(f"topics-{dialect}-{seed}")
