"""The census of an arena: exact while nothing runs, and never a signal, whatever runs or whatever the words are."""

import random
import threading

import numpy as np
import pytest
from children import in_child

from latchfree import Arena, Ctrie
from latchfree.arena import layout
from latchfree.arena.census import census
from latchfree.arena.kernels.blocks import COUNT, ENTRIES, LINK


def used(seed=1, capacity=4 << 20):
    """An arena whose lists all have something on them."""
    arena, rng = Arena.anonymous(capacity), random.Random(seed)
    trie = Ctrie(keys=int, values=bytes, arena=arena)
    kept = []
    for k in range(3000):
        trie[rng.randrange(500)] = bytes(rng.randrange(80))
        trie.pop(rng.randrange(500), None)
        if k % 500 == 0:
            kept = [trie.readonly_snapshot()]
    return arena, trie, kept


def test_while_nothing_runs_it_is_exact():
    arena, trie, _ = used()
    found = arena.census()
    assert found.exact
    assert found.given == found.nodes + found.limbo + found.spare + found.free + found.tails
    assert arena.census() == found
    trie[1] = b"x" * 1000
    assert arena.census().exact
    assert arena.census() != found


def test_beside_working_threads_it_is_an_estimate():
    def body():
        arena, trie, _ = used(capacity=64 << 20)
        over = threading.Event()

        def work(seed):
            rng = random.Random(seed)
            keys = np.arange(1000 * seed, 1000 * seed + 1000)
            while not over.is_set():
                trie.update(zip(keys.tolist(), [bytes(rng.randrange(40))] * len(keys), strict=True))
                for key in keys.tolist():
                    trie.pop(key, None)

        def work_in_bulk(seed):
            numbers = Ctrie(keys=int, values=int, arena=arena)
            values = dict.fromkeys(range(0, 5_000 * seed, seed), 1)
            while not over.is_set():
                numbers.update(values)
                numbers.clear()

        threads = [threading.Thread(target=body, args=(k,)) for k, body in ((1, work), (2, work), (3, work_in_bulk))]
        for thread in threads:
            thread.start()
        torn = 0
        while torn < 30:
            found = arena.census()
            assert min(found) >= 0, found
            assert found.given == found.nodes + found.limbo + found.spare + found.free + found.tails
            torn += not found.exact
        over.set()
        for thread in threads:
            thread.join()
        assert arena.census().exact

    in_child(body)


@pytest.mark.parametrize("seed", range(4))
def test_random_words_are_never_followed_out_of_the_arena(seed):
    arena, _, _ = used(seed)

    def body():
        rng = random.Random(seed)
        lists = [layout.SHARED_LISTS + np.uint64(k) for k in range(92)]
        for p in range(int(arena.words[layout.H_CLAIMED])):
            me = np.uint64(layout.PARTICIPANTS + p * layout.PARTICIPANT_WORDS)
            lists += [me + layout.P_FREE + np.uint64(k) for k in range(92)]
            lists += [me + layout.P_OLDEST, me + layout.P_SPARES, me + layout.P_DEFERRED]
        bump = int(arena.words[layout.H_BUMP])
        whole = arena.words.copy()
        for _ in range(40):
            words = whole.copy()
            for _ in range(rng.choice([1, 3, 30, 3000])):
                inside = rng.randrange(layout.FIRST_NODE, bump)
                value = rng.choice([inside, rng.getrandbits(64), rng.getrandbits(40), bump - 1, rng.randrange(100)])
                where = rng.choice([int(rng.choice(lists)), rng.randrange(layout.FIRST_NODE, bump)])
                words[where] = value
            for at in (layout.H_BUMP, layout.H_CLAIMED):
                if rng.random() < 0.1:
                    words[at] = rng.getrandbits(rng.choice([20, 64]))
            found = census(words)
            assert min(found) >= 0, found
            assert found.given == found.nodes + found.limbo + found.spare + found.free + found.tails

    in_child(body)


def test_a_circle_ends_and_says_so():
    def body():
        arena, _, _ = used()
        words, me = arena.words, int(arena.interpreter_participant())
        kind = next(k for k in range(92) if words[me + int(layout.P_FREE) + k])
        first = int(words[me + int(layout.P_FREE) + kind])
        was = words[first]
        words[first] = first
        assert not arena.census().exact
        words[first] = was
        assert arena.census().exact
        block = int(words[me + int(layout.P_SPARES)])
        for at, wrong in ((block + int(LINK), block), (block + int(COUNT), 10**6), (block + int(COUNT), 1)):
            was, entry = words[at], words[block + int(ENTRIES)]
            words[at], words[block + int(ENTRIES)] = wrong, (5 << 40) | (1 << 39)
            assert not arena.census().exact, (at, wrong)
            words[at], words[block + int(ENTRIES)] = was, entry
        assert arena.census().exact

    in_child(body)
