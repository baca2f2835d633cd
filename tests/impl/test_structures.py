"""The kinds of structures: numbers of files never change, and each names functions that are there."""

import os
import subprocess
import sys

import pytest

from latchfree import Arena, Ctrie
from latchfree.structures import CTRIE, STRUCTURES, TOPIC_TRIE, TRIES, name_of, reclaimers


def test_the_numbers_in_files():
    assert [(structure.kind, structure.name) for structure in STRUCTURES] == [
        (1, "Ctrie"),
        (2, "ConcurrentTrie"),
        (16, "Bloom"),
        (17, "HyperLogLog"),
        (18, "CountMin"),
        (19, "InverseBloom"),
        (20, "PartitionedBloom"),
        (21, "CountingBloom"),
        (22, "ScalableBloom"),
        (23, "StableBloom"),
        (24, "TopK"),
        (25, "MinHash"),
        (26, "KLL"),
        (48, "RateLimiter"),
        (49, "RingBuffer"),
    ]
    assert {CTRIE, TOPIC_TRIE} == TRIES
    assert (name_of(CTRIE), name_of(TOPIC_TRIE)) == ("Ctrie", "ConcurrentTrie")


def test_a_kind_that_nobody_knows():
    with pytest.raises(ValueError, match=r"structure kind 9, expected one of 1 \(Ctrie\), 2 \(ConcurrentTrie\), 16"):
        name_of(9)


def test_what_reclaims_is_there_once():
    assert len(reclaimers()) == len({structure.reclaim for structure in STRUCTURES} - {None})
    for reclaim in reclaimers():
        assert reclaim.__code__.co_varnames[:2] == ("base", "participant")


ONLY_THE_ARENA = """
import sys
from latchfree.arena import Arena
assert not [name for name in sys.modules if name.startswith("latchfree.ctrie")]
with Arena.open(sys.argv[1]) as arena:
    assert list(arena.structures()) == ["stock"]
    for _ in range(5):
        arena.collect()
    assert arena.census().deferred == 0, arena.census()
    print(arena.census().nodes)
"""


def test_an_arena_is_collected_by_a_process_that_has_loaded_no_structure(shared_name, monkeypatch):
    """A tree that was cut off is freed all the same: the structure's function is loaded when it is needed."""
    monkeypatch.setattr(Arena, "reap", lambda arena: None)  # four times a second this process would free it
    with Arena.create(name=shared_name, capacity=16 << 20) as arena:
        trie = Ctrie.create(arena, "stock", keys=int, values=int)
        trie.update({k: k for k in range(1000)})
        trie.clear()
        assert arena.census().deferred == 1
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", ONLY_THE_ARENA, shared_name]
    done = subprocess.run(command, env=env, check=True, capture_output=True, text=True, timeout=900)
    assert int(done.stdout) < 500
