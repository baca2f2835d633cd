"""Snapshots and private tries are given back wherever Python finalizes them, and by nobody but their opening."""

import gc
import os
import signal
import subprocess
import sys

import pytest
from ctrie_exact import registered, settle

from latchfree import Arena, Ctrie
from latchfree_fsck import fsck


@pytest.fixture
def path(tmp_path):
    return tmp_path / "arena"


def test_an_opening_that_closes_leaves_the_snapshots_of_another(path):
    with Arena.create(path=path, capacity=16 << 20) as one:
        stock = Ctrie.create(one, "stock", keys=int, values=int)
        stock.update((n, n) for n in range(100))
        with Arena.open(path) as two:
            other = Ctrie.open(two, "stock")
            before = stock.readonly_snapshot()
            stock[5] = 50
            fork = stock.snapshot()
            fork[6] = 60
            theirs, their_fork = other.readonly_snapshot(), other.snapshot()
            other[7] = 70
            assert registered(stock) == 4
            two.adopt()
            one.adopt()
            assert registered(stock) == 4
            assert theirs[5] == their_fork[5] == 50
        assert registered(stock) == 2
        del theirs, their_fork
        stock.update((n, -1) for n in range(100))
        assert registered(stock) == 2
        assert dict(before) == {n: n for n in range(100)}
        assert dict(fork) == {**{n: n for n in range(100)}, 5: 50, 6: 60}
        del before, fork
        assert registered(stock) == 0
    assert fsck(path=path).clean


def test_what_outlives_its_arena_ends_in_silence(path, capfd):
    arena = Arena.create(path=path, capacity=16 << 20)
    stock = Ctrie.create(arena, "stock", keys=int, values=int)
    kept = [stock.readonly_snapshot(), stock.snapshot(), stock.snapshot().snapshot(), iter(stock.items())]
    arena.close()
    del kept, stock
    gc.collect()
    assert fsck(path=path).clean
    assert capfd.readouterr().err == ""


AT_EXIT = """
import gc, sys
from pathlib import Path
from latchfree import Arena, Ctrie
class Node: pass
gc.disable()
def tangle(trie):
    node = Node()
    node.node, node.trie, node.snapshot, node.fork = node, trie, trie.readonly_snapshot(), trie.snapshot()
    node.deeper = node.fork.snapshot()
    node.walk = iter(node.deeper)
    next(node.walk)
    return node
arena = Arena.create(path=Path(sys.argv[1]), capacity=16 << 20)
kept = [tangle(Ctrie({n: n for n in range(9)}, keys=int, values=int))]
stock = Ctrie.create(arena, "stock", keys=int, values=int)
stock.update({1: 1, 2: 2})
shared = tangle(stock) if sys.argv[2] == "shared" else None
sys.kept = [tangle(kept[0].fork), kept, shared]
sys.still_there = list(sys.modules.values())  # so that their globals become None
"""


@pytest.mark.parametrize("which", ["private", "shared"])
def test_the_end_of_the_interpreter_is_silent(path, which):
    done = subprocess.run(
        [sys.executable, "-c", AT_EXIT, str(path), which], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert fsck(path=path).clean


@pytest.mark.parametrize("shared", [False, True])
def test_finalizers_in_signal_handlers_and_in_the_midst_of_operations(path, shared):
    """A timer takes snapshots and forks, in cycles, while the collector runs at almost every allocation."""
    arena = Arena.create(path=path, capacity=64 << 20) if shared else Arena.anonymous(64 << 20)
    trie = Ctrie({n: n for n in range(300)}, keys=int, values="pickle", arena=arena)
    taken = []

    def tangle(number, frame):
        cycle = [trie.readonly_snapshot(), trie.snapshot()]
        cycle.append(cycle)
        cycle[1][1000 + len(taken)] = 0
        taken.append(len(cycle[0]))

    for _ in range(2):  # compiled before: numba cannot compile in the midst of a compilation
        tangle(0, None)
        gc.collect()
        trie.put(0, [0])
        list(trie.readonly_snapshot())
        trie.get_many([1])
    threshold, handler = gc.get_threshold(), signal.signal(signal.SIGALRM, tangle)
    try:
        gc.set_threshold(3, 2, 2)
        signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
        n = 0
        while len(taken) < 200:
            trie[n % 300] = [n]
            assert trie.get(n % 300) == [n]
            list(trie.readonly_snapshot())
            trie.get_many([1, 2, 3])
            n += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        gc.set_threshold(*threshold)
    gc.collect()
    assert set(taken) == {300}
    assert registered(trie) == 0
    trie.clear()
    settle(arena)
    assert len(trie) == 0
    if shared:
        del trie
        arena.close()
        assert fsck(path=path).clean


@pytest.mark.parametrize("shared", [False, True])
def test_a_forked_child_gives_back_nothing_of_its_parent(path, shared):
    arena = Arena.create(path=path, capacity=16 << 20) if shared else Arena.anonymous(16 << 20)
    trie = Ctrie({n: n for n in range(100)}, keys=int, values=int, arena=arena)
    kept = [trie.readonly_snapshot(), trie.snapshot()]
    trie[5] = 50
    child = os.fork()
    if child == 0:
        code = 1
        try:
            kept.clear()
            del trie
            gc.collect()
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert registered(trie) == 2
    trie.update((n, -1) for n in range(100))
    assert all(dict(each) == {n: n for n in range(100)} for each in kept)
    kept.clear()
    assert registered(trie) == 0
