"""More threads than slots: every operation of one trie, from a thousand threads at once, and the traces they leave."""

import gc
import threading
import tracemalloc

import numpy as np
import pytest
from ctrie_exact import settle

from latchfree import Arena, Ctrie
from latchfree_fsck import fsck

THREADS = 1_000


@pytest.fixture(params=["private", "shared"])
def arena(request, tmp_path):
    if request.param == "private":
        yield Arena.anonymous(64 << 20)
        return
    with Arena.create(path=tmp_path / "arena", capacity=64 << 20) as arena:
        yield arena
    assert fsck(path=tmp_path / "arena").clean


def every_operation(trie, n, folder):
    """Call everything, on the keys 10 n to 10 n + 9; others change theirs meanwhile."""
    first = 10 * n
    own = np.arange(first, first + 10)
    trie.put_many(own, own + 1)
    assert trie.get_many(own).tolist() == (own + 1).tolist()
    assert trie.put(first, 5) == first + 1
    assert trie.put_if_absent(first, 6) == 5
    assert trie.put_if_present(first, 7) == 5
    assert trie.get_or_insert(first, 8) == 7
    assert trie.replace(first, 7, 9)
    assert trie.remove(first, 9)
    assert trie.setdefault(first, 1) == 1
    assert trie[first] == trie.get(first) == 1
    assert first in trie
    assert len(trie) >= 10
    with trie.readonly_snapshot() as snapshot:
        fork = trie.snapshot()
        assert snapshot[first] == fork[first] == 1
        assert len(snapshot) >= 10
        assert first in list(snapshot)
        assert (first, 1) in fork.items()
        assert 1 in fork.values()
        fork.update({-1: n})
        assert fork.pop(-1) == n
        if n % 100 == 0:  # these look at all that is there
            assert fork == snapshot == dict(snapshot.items())
            assert sum(fork.values()) == sum(dict(fork).values())
            assert snapshot.save(folder / f"{n}") == len(snapshot)
            key, _ = fork.popitem()
            assert key not in fork
            assert fork != snapshot
        fork.clear()
        assert not fork
    assert trie.pop(first) == 1
    assert trie.remove_many(own).tolist() == [False] + [True] * 9
    assert {key // 10 for key in trie} <= set(range(THREADS))


def together(count, body):
    """Run a body in threads that start together; raise the first error."""
    barrier, errors = threading.Barrier(count), []

    def run(n):
        try:
            barrier.wait()
            body(n)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_a_thousand_threads_call_every_operation_of_one_trie(arena, tmp_path):
    trie = Ctrie(keys=int, values=int, arena=arena)
    every_operation(trie, 0, tmp_path)  # compiled before the threads meet
    together(THREADS, lambda n: every_operation(trie, n, tmp_path))
    assert dict(trie) == {}


def test_three_hundred_threads_count(arena):
    trie = Ctrie({n: n for n in range(5_000)}, keys=int, values=int, arena=arena)
    counts = []
    together(300, lambda n: counts.append(len(trie)))
    assert counts == [5_000] * 300


def short_lives(trie, count):
    """One thread after another, each of which calls what gives up the interpreter lock, and ends."""
    for n in range(count):
        thread = threading.Thread(
            target=lambda n=n: (trie.put_many([n % 100], [n]), len(trie), trie.get_many([n % 100]))
        )
        thread.start()
        thread.join()


def test_two_thousand_short_threads_leave_nothing(arena):
    trie = Ctrie(dict.fromkeys(range(100), 0), keys=int, values=int, arena=arena)
    short_lives(trie, 200)
    settle(arena)
    gc.collect()
    tracemalloc.start()
    try:
        short_lives(trie, 20)
        gc.collect()
        allocated, python = arena.allocated, tracemalloc.get_traced_memory()[0]
        used = arena.used
        short_lives(trie, 2_000)
        settle(arena)
        gc.collect()
        assert arena.allocated <= allocated * 1.01
        assert arena.used <= used * 1.01
        assert tracemalloc.get_traced_memory()[0] - python < 40 * 2_000  # 20 KB each, it was; 1 % of 8 MB is more
    finally:
        tracemalloc.stop()
