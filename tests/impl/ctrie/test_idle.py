"""The idle snapshot: taken again while nothing was written, and gone with the first write."""

import gc
import os
import random
import threading

import numpy as np
import pytest
from ctrie_exact import exact, registered, settle
from ctrie_walk import root_of

from latchfree import Arena, Ctrie
from latchfree.arena.layout import H_GENERATION
from latchfree.ctrie.kernels.shape import IDLE
from latchfree.topics import ConcurrentTrie

KINDS = {"integers": {"keys": int, "values": int}, "objects": {}}

WRITES = {
    "put": lambda trie: trie.__setitem__(5, -5),
    "put a new one": lambda trie: trie.__setitem__(1000, 1),
    "put the same": lambda trie: trie.__setitem__(5, 5),
    "remove": lambda trie: trie.remove(5),
    "put if absent": lambda trie: trie.setdefault(1001, 1),
    "clear": lambda trie: trie.clear(),
    "popitem": lambda trie: trie.popitem(),
}


@pytest.fixture(params=KINDS)
def trie(request, arena):
    return Ctrie({n: n for n in range(100)}, arena=arena, **KINDS[request.param])


def idle(trie):
    return int(trie.arena.words[trie._store.trie + int(IDLE)])


def generation(trie):
    return int(trie.arena.words[H_GENERATION])


def test_the_next_snapshot_is_the_idle_one(trie):
    trie.readonly_snapshot()
    kept, slot, root = generation(trie), idle(trie), root_of(trie)
    assert slot
    for _ in range(10):
        taken = trie.readonly_snapshot()
        assert taken._hold.slot == slot
        assert not idle(trie)
        assert dict(taken) == {n: n for n in range(100)}
        del taken
        with trie.readonly_snapshot() as taken:
            assert len(taken) == 100
    assert (generation(trie), idle(trie), root_of(trie)) == (kept, slot, root)
    assert registered(trie) == 0


@pytest.mark.parametrize("write", WRITES)
def test_a_write_drops_it_and_the_next_one_shows_the_write(trie, write):
    trie.readonly_snapshot()
    assert idle(trie)
    WRITES[write](trie)  # popitem takes a snapshot itself, which is old when it is given back
    assert not idle(trie)
    assert dict(trie.readonly_snapshot()) == dict(trie)
    if not trie._store.references:
        exact(trie.arena, [trie])


def test_reads_and_refused_writes_leave_it(trie):
    trie.readonly_snapshot()
    slot = idle(trie)
    assert trie[5] == trie.get(5) == 5
    assert 1000 not in trie
    assert trie.pop(1000, None) is None
    assert len(trie) == 100
    assert idle(trie) == slot


def test_a_held_snapshot_stays_as_it_was_though_it_was_idle(trie):
    trie.readonly_snapshot()
    one, two = trie.readonly_snapshot(), trie.readonly_snapshot()
    assert one._hold.slot != two._hold.slot
    trie.update({n: -n for n in range(100)})
    assert dict(one) == dict(two) == {n: n for n in range(100)}
    del one, two
    assert not idle(trie), "both are old"
    assert registered(trie) == 0


def test_one_of_two_stays_idle(trie):
    one, two = trie.readonly_snapshot(), trie.readonly_snapshot()
    slots = one._hold.slot, two._hold.slot
    del one
    assert idle(trie) == slots[0]
    del two
    assert idle(trie) == slots[0]
    assert registered(trie) == 0


def test_collect_gives_back_the_last_word(trie):
    trie.readonly_snapshot()  # the table of slots stays
    settle(trie.arena)
    before = trie.arena.census().nodes
    trie.readonly_snapshot()
    assert idle(trie)
    settle(trie.arena)
    assert not idle(trie)
    assert trie.arena.census().nodes == before
    assert dict(trie.readonly_snapshot()) == dict(trie)


def test_bulk_writes_drop_it(arena):
    trie = Ctrie(keys=int, values=int, arena=arena)
    for write in (lambda: trie.put_many(np.arange(500), np.arange(500)), lambda: trie.remove_many(np.arange(100))):
        trie.readonly_snapshot()
        assert idle(trie)
        write()
        assert not idle(trie)
        assert dict(trie.readonly_snapshot()) == dict(trie)
    exact(arena, [trie])


def test_writable_snapshots_have_one_of_their_own_and_park_none(trie):
    trie.readonly_snapshot()
    fork = trie.snapshot()
    assert not idle(trie), "it had to give way"
    fork[5] = 50
    assert fork.readonly_snapshot()[5] == 50
    assert not idle(fork)
    assert registered(trie) == 1
    assert trie.readonly_snapshot()[5] == 5
    del fork
    gc.collect()
    assert registered(trie) == 0
    if not trie._store.references:
        exact(trie.arena, [trie])


def test_shared_arenas_park_nothing(tmp_path):
    with Arena.create(path=tmp_path / "arena", capacity=8 << 20) as arena:
        trie = Ctrie({1: 2}, keys=int, values=int, arena=arena)
        trie.readonly_snapshot()
        with trie.readonly_snapshot() as taken:
            assert dict(taken) == {1: 2}
        assert not idle(trie)


def test_a_map_that_ends_takes_it_along(arena):
    settle(arena)
    before = arena.census().nodes
    trie = Ctrie({n: n for n in range(100)}, keys=int, values=int, arena=arena)
    trie.readonly_snapshot()
    assert idle(trie)
    del trie
    exact(arena, [])
    assert arena.census().nodes == before


def test_a_cycle_of_objects_is_found_though_a_snapshot_is_idle():
    class Thing:
        """Something that tells that it goes."""

        def __del__(self):
            gone.append(1)

    gone = []
    trie = Ctrie()
    trie["thing"], trie["self"] = Thing(), trie
    trie.readonly_snapshot()
    assert idle(trie)
    del trie
    for _ in range(3):
        gc.collect()
    assert gone == [1]


def test_topic_tries_share_one(arena):
    trie = ConcurrentTrie(arena=arena)
    trie.subscribe("a/b", 1)
    for expected in (1, 2):
        for _ in range(2):
            with trie.snapshot() as taken:
                assert len(taken.match("a/b")) == expected
                assert not idle(trie)
            assert idle(trie)
        if expected == 1:
            trie.subscribe("a/b", 2)
            assert not idle(trie)


@pytest.mark.parametrize("kind", KINDS)
def test_random_programs_agree_with_a_dict(kind, rng, arena):
    for _ in range(20):
        trie, model, held = Ctrie(arena=arena, **KINDS[kind]), {}, []
        for turn in range(150):
            key = rng.randrange(40)
            act = rng.random()
            if act < 0.25:
                trie[key] = model[key] = turn
            elif act < 0.35:
                assert trie.pop(key, None) == model.pop(key, None)
            elif act < 0.37:
                trie.clear()
                model.clear()
            elif act < 0.7:
                assert dict(trie.readonly_snapshot()) == model
            elif act < 0.8:
                held.append((trie.readonly_snapshot(), dict(model)))
            elif act < 0.85:
                held.append((trie.snapshot(), dict(model)))
            elif act < 0.88:
                arena.collect()
            elif held:
                taken, then = held.pop(rng.randrange(len(held)))
                assert dict(taken.items()) == then
                del taken
        assert all(dict(taken.items()) == then for taken, then in held)
        held.clear()
        gc.collect()
        assert registered(trie) == 0
        if kind == "integers":
            exact(arena, [trie])
        del trie


@pytest.mark.parametrize("kind", KINDS)
def test_a_snapshot_taken_after_a_put_shows_it_whoever_parks(kind, rng):
    """Each thread puts under keys of its own and looks for what it has put; all take from, and park in, one word."""
    trie, wrong = Ctrie(arena=Arena.anonymous(256 << 20), **KINDS[kind]), []

    def work(own, seed):
        chance = random.Random(seed)
        last = 0
        for turn in range(1, 1500):
            if chance.random() < 0.3:
                trie[own] = last = turn
            taken = trie.readonly_snapshot()
            if taken.get(own, 0) != last:
                wrong.append((own, turn, last, taken.get(own, 0)))

    threads = [threading.Thread(target=work, args=(own, rng.random())) for own in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert (wrong, registered(trie)) == ([], 0)
    trie[100] = 1
    assert not idle(trie)
    if kind == "integers":
        exact(trie.arena, [trie])


def test_bulk_writers_without_the_interpreter_lock_leave_none_that_is_old():
    trie = Ctrie(dict.fromkeys(range(64), 0), keys=int, values=int, arena=Arena.anonymous(256 << 20))
    keys, done, wrong = np.arange(64), threading.Event(), []

    def write():
        for turn in range(1, 400):
            trie.put_many(keys, np.full(64, turn))
        done.set()

    def look():
        least = 0
        while not done.is_set():
            with trie.readonly_snapshot() as taken:
                values = [taken[n] for n in range(64)]
            # One key after the other is put: what comes later in a snapshot is of this turn or of the one before.
            if min(values) < least or max(values) - min(values) > 1:
                wrong.append(values)
            least = min(values)

    threads = [threading.Thread(target=each) for each in (write, look, look)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert wrong == []
    found = idle(trie)
    assert dict(trie.readonly_snapshot()) == dict.fromkeys(range(64), 399)
    assert not found or idle(trie) == found, "what was idle at rest was current"
    exact(trie.arena, [trie])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_has_one_of_its_own(trie):
    trie.readonly_snapshot()
    slot = idle(trie)
    child = os.fork()
    if child == 0:
        fine = trie.readonly_snapshot()[5] == 5 and idle(trie) == slot
        trie[5] = 50
        os._exit(0 if fine and not idle(trie) and trie.readonly_snapshot()[5] == 50 else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert idle(trie) == slot
    assert trie.readonly_snapshot()[5] == 5
