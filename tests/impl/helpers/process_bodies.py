"""What the child processes of tests do; each talks to its parent through a pipe."""

import os
import signal

from latchfree import Arena, Ctrie


def hold(where, name, pipe):
    """Open the trie and hold on to snapshots and forks of it until killed."""
    arena = Arena.open(where)
    trie = Ctrie.open(arena, name)
    held = [trie.readonly_snapshot() for _ in range(3)]
    fork = trie.snapshot()
    fork.update({k: -k for k in range(100)})
    held += [fork, fork.readonly_snapshot(), fork.snapshot()]
    pipe.send(len(held))
    signal.pause()


def work(trie, pipe):
    """Use a trie that came by pickle: say what it holds, change it, and end."""
    pipe.send((os.getpid(), dict(trie.items())))
    for k in range(200):
        trie[1000 + k] = k
    trie.remove_many(list(range(100)))
    pipe.send(len(trie))
    pipe.recv()


def churn(where, name, first, turns):
    """Insert and remove keys of its own, with snapshots."""
    with Arena.open(where) as arena:
        trie = Ctrie.open(arena, name)
        keys = list(range(first, first + 100))
        for turn in range(turns):
            trie.put_many(keys, keys)
            with trie.readonly_snapshot() as snapshot:
                assert all(snapshot[k] == k for k in keys)
            for k in keys[turn % 2 :: 2]:
                assert trie.pop(k) == k


def double(ring, back, count):
    """Give back twice what comes, in another process."""
    done = 0
    while done < count:
        values = ring.get_many(64)
        done += len(values)
        waiting = values * 2
        while len(waiting):
            waiting = waiting[back.put_many(waiting) :]
