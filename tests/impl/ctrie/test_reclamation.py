"""Reclamation is exact: at rest, what is allocated is what the tries reach, whatever happened before.

Random programs over a family of tries (a trie, its forks, forks of those, read-only snapshots of all of them, opened
and closed in any order), each compared with dictionaries, and every so often with an audit of all words.
"""

import gc
import threading

import numpy as np
import pytest
from ctrie_exact import exact, parted, settle
from ctrie_pools import CODECS, KEYS, MASKS, VALUES
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from latchfree import Arena, Ctrie
from latchfree.arena.kernels.epochs import pin, unpin
from latchfree.arena.kernels.participants import claim
from latchfree.arena.layout import H_CHUNK

#: Words of an empty trie: root record, I-node, C-node, a table of snapshots.
EMPTY = 8 + 2 + 3 + 128

FORMS = MASKS | {"two levels": 0x3F | (3 << 6)}


class Family:
    """Tries in one arena and what each should hold; number 0 is no fork and is never dropped."""

    def __init__(self, mask, keys="int", values="int", capacity=256 << 20):
        self.arena = Arena.anonymous(capacity)
        self.live = [(Ctrie(keys=keys, values=values, hash_mask=FORMS[mask], arena=self.arena), {})]
        self.frozen = []

    @property
    def first(self):
        return self.live[0][0]

    def fork(self, which):
        trie, model = self.live[which]
        self.live.append((trie.snapshot(), dict(model)))

    def freeze(self, which):
        trie, model = self.live[which]
        self.frozen.append((trie.readonly_snapshot(), dict(model)))

    def thaw(self, which, close=True):
        snapshot, model = self.frozen.pop(which)
        assert dict(snapshot.items()) == model
        if close:
            snapshot.close()

    def clear(self, which):
        trie, model = self.live[which]
        trie.clear()
        model.clear()

    def agree(self):
        for mapping, model in [*self.live, *self.frozen]:
            assert dict(mapping.items()) == model

    def exact(self):
        return exact(self.arena, [self.first])

    def end(self, rng=None):
        """Drop everything but the first trie, in any order, empty that one, and see that nothing is left."""
        self.agree()
        things = [*self.live[1:], *self.frozen]
        del self.live[1:], self.frozen[:]
        if rng:
            rng.shuffle(things)
        while things:
            things.pop()
            self.exact()
        gc.collect()
        self.exact()
        self.clear(0)
        left = self.exact()
        assert left.nodes <= EMPTY + 3 * 128, "an empty trie and its tables of snapshots"


def run(rng, mask, steps, keys=300, every=50, most=4, frozen=6):
    family = Family(mask)
    if mask in ("lnodes", "narrow"):
        keys = 24
    for step in range(steps):
        which = rng.randrange(len(family.live))
        trie, model = family.live[which]
        key, chance = rng.randrange(keys), rng.random()
        if chance < 0.45:
            trie[key] = model[key] = step
        elif chance < 0.85:
            assert trie.pop(key, None) == model.pop(key, None)
        elif chance < 0.87:
            assert trie.get(key) == model.get(key)
        elif chance < 0.89:
            batch = [rng.randrange(keys) for _ in range(20)]
            assert trie.remove_many(batch) == [model.pop(k, None) is not None for k in batch]
        elif chance < 0.93:
            if len(family.frozen) < frozen:
                family.freeze(which)
        elif chance < 0.965:
            if family.frozen:
                family.thaw(rng.randrange(len(family.frozen)), close=rng.random() < 0.5)
        elif chance < 0.97:
            family.clear(which)
        elif chance < 0.98:
            if len(family.live) < most:
                family.fork(which)
        elif len(family.live) > 1:
            del family.live[max(which, 1)]
        trie = model = None
        if step % every == 0:
            family.exact()
    family.end(rng)


@pytest.mark.parametrize("mask", FORMS)
@pytest.mark.parametrize("turn", range(4))
def test_random_programs_leave_nothing(rng, mask, turn):
    rng.seed(rng.getrandbits(32) + turn)
    run(rng, mask, 1500)


@pytest.mark.parametrize("mask", FORMS)
def test_random_programs_are_exact_after_every_step(rng, mask):
    run(rng, mask, 250, keys=60, every=1)


@pytest.mark.parametrize("mask", FORMS)
def test_many_snapshots_at_a_time(rng, mask):
    """More than a table of them, so that tables are chained."""
    run(rng, mask, 800, every=100, most=3, frozen=50)


@pytest.mark.parametrize("mask", FORMS)
def test_every_word_is_in_one_place(rng, mask):
    family = Family(mask)
    for turn in range(6):
        for _ in range(150):
            which = rng.randrange(len(family.live))
            trie, model = family.live[which]
            key = rng.randrange(40)
            if rng.random() < 0.6:
                trie[key] = model[key] = turn
            else:
                trie.remove(key)
                model.pop(key, None)
        family.freeze(rng.randrange(len(family.live)))
        family.fork(rng.randrange(len(family.live)))
        if turn % 2:
            trie = model = None
            family.thaw(rng.randrange(len(family.frozen)))
            del family.live[rng.randrange(1, len(family.live))]
        parted(family.arena, [family.first])
    trie = model = None
    family.end(rng)


@pytest.mark.slow
@pytest.mark.parametrize("mask", FORMS)
@pytest.mark.parametrize("turn", range(40))
def test_random_programs_at_length(rng, mask, turn):
    rng.seed(rng.getrandbits(32) + 1000 + turn)
    print("turn", turn)
    run(rng, mask, 6000, keys=rng.choice([20, 300, 3000]), every=rng.choice([1, 20, 300]), most=8, frozen=25)


_WHICH = st.integers(0, 1000)
_KEY = st.integers(0, 1000)


class Machine(RuleBasedStateMachine):
    """The same, with programs that hypothesis makes up and makes small."""

    codecs = ("int", "int")
    mask = "flat"

    def __init__(self):
        super().__init__()
        keys, values = self.codecs
        self.family = Family(self.mask, keys, values)
        self.keys, self.values = KEYS[keys], VALUES[values]

    def at(self, which):
        return self.family.live[which % len(self.family.live)]

    @rule(which=_WHICH, k=_KEY, v=_KEY)
    def put(self, which, k, v):
        trie, model = self.at(which)
        key, value = self.keys[k % len(self.keys)], self.values[v % len(self.values)]
        trie[key] = model[key] = value

    @rule(which=_WHICH, k=_KEY)
    def remove(self, which, k):
        trie, model = self.at(which)
        key = self.keys[k % len(self.keys)]
        assert trie.remove(key) is (key in model)
        model.pop(key, None)

    @rule(which=_WHICH, n=st.integers(0, 14))
    def put_several(self, which, n):
        trie, model = self.at(which)
        pairs = dict.fromkeys(self.keys[:n], self.values[0])
        trie.update(pairs)
        model.update(pairs)

    @rule(which=_WHICH, n=st.integers(0, 14))
    def remove_several(self, which, n):
        trie, model = self.at(which)
        for key in self.keys[-n:]:
            trie.remove(key)
            model.pop(key, None)

    @rule(which=_WHICH, k=_KEY)
    def get(self, which, k):
        trie, model = self.at(which)
        key = self.keys[k % len(self.keys)]
        assert trie.get(key, "absent") == model.get(key, "absent")

    @rule(which=_WHICH)
    def clear(self, which):
        self.family.clear(which % len(self.family.live))

    @rule(which=_WHICH)
    def freeze(self, which):
        self.family.freeze(which % len(self.family.live))

    @precondition(lambda self: self.family.frozen)
    @rule(which=_WHICH, close=st.booleans())
    def thaw(self, which, close):
        self.family.thaw(which % len(self.family.frozen), close)

    @precondition(lambda self: len(self.family.live) < 6)
    @rule(which=_WHICH)
    def fork(self, which):
        self.family.fork(which % len(self.family.live))

    @precondition(lambda self: len(self.family.live) > 1)
    @rule(which=_WHICH)
    def drop(self, which):
        del self.family.live[1 + which % (len(self.family.live) - 1)]

    @invariant()
    def is_exact(self):
        self.family.exact()

    def teardown(self):
        self.family.end()


def _run(keys, values, mask, **bounds):
    machine = type("Machine", (Machine,), {"codecs": (keys, values), "mask": mask})
    run_state_machine_as_test(machine, settings=settings(**bounds))


@pytest.mark.parametrize(("keys", "values"), CODECS)
@pytest.mark.parametrize("mask", ["flat", "lnodes", "tree"])
def test_programs_of_hypothesis_leave_nothing(keys, values, mask):
    _run(keys, values, mask, max_examples=6, stateful_step_count=40)


@pytest.mark.slow
@pytest.mark.parametrize(("keys", "values"), CODECS)
@pytest.mark.parametrize("mask", FORMS)
def test_programs_of_hypothesis_at_length(keys, values, mask):
    _run(keys, values, mask, max_examples=300, stateful_step_count=120, derandomize=False)


# in bounded space ---------------------------------------------------------------------------------------------


def flat_after_warm_up(arena, work, turns, warm_up):
    """Run `work` again and again; after `warm_up` turns no new memory may be taken."""
    for turn in range(turns):
        work(turn)
        if turn == warm_up:
            used = arena.used
    assert arena.used <= used, f"{arena.used - used} bytes more after {turns} turns than after {warm_up}"


def test_one_thread_replacing_keys_takes_bounded_space(arena):
    trie = Ctrie(keys=int, values=int, arena=arena)
    keys = np.arange(1000)
    flat_after_warm_up(arena, lambda turn: trie.put_many(keys, keys + turn), 200, 20)
    assert dict(trie.items()) == {k: k + 199 for k in range(1000)}
    exact(arena, [trie])


def test_one_thread_inserting_and_removing_takes_bounded_space(arena):
    trie = Ctrie(keys=int, values=int, arena=arena)
    keys = np.arange(1000)

    def work(turn):
        trie.put_many(keys, keys)
        assert trie.remove_many(keys).all()

    flat_after_warm_up(arena, work, 100, 10)
    assert exact(arena, [trie]).nodes <= EMPTY


def test_single_calls_take_bounded_space(arena):
    trie = Ctrie(keys=int, values=int, arena=arena)

    def work(turn):
        for k in range(200):
            trie[k] = turn
        for k in range(200):
            del trie[k]

    flat_after_warm_up(arena, work, 100, 10)
    assert exact(arena, [trie]).nodes <= EMPTY


def test_one_participant_inserts_what_another_removes_in_bounded_space(arena):
    """200,000 operations in which all memory travels from the remover, a bulk participant, to the inserter."""
    trie = Ctrie(keys=int, values=int, arena=arena)
    keys = np.arange(500)

    def work(turn):
        for k in range(500):
            trie[k] = turn
        assert trie.remove_many(keys).all()

    flat_after_warm_up(arena, work, 200, 20)
    assert exact(arena, [trie]).nodes <= EMPTY


def test_one_thread_inserts_what_another_removes_in_bounded_space(arena):
    trie = Ctrie(keys=int, values=int, arena=arena)
    size, turns = 500, 800
    full, empty = threading.Semaphore(0), threading.Semaphore(2)
    used = []
    failures = []

    def guarded(body):
        def run():
            try:
                for turn in range(turns):
                    body(np.arange(size) + size * (turn % 2))
            except BaseException as error:
                failures.append(error)
                full.release()
                empty.release()

        return run

    def insert(keys):
        empty.acquire()
        trie.put_many(keys, keys)
        used.append(arena.used)
        full.release()

    def remove(keys):
        full.acquire()
        assert trie.remove_many(keys).all()
        empty.release()

    threads = [threading.Thread(target=guarded(body)) for body in (insert, remove)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    # One that is interrupted while it is pinned holds up what the other retires in two turns, before that waits for it:
    # 400,000 bytes, and a chunk or two for each to take from. All turns together retire 100 million.
    assert arena.used <= used[turns // 4] + 8 * 8 * int(arena.words[H_CHUNK])
    assert exact(arena, [trie]).nodes <= EMPTY


def test_snapshots_taken_and_closed_take_bounded_space(arena):
    trie = Ctrie({k: k for k in range(300)}, keys=int, values=int, arena=arena)

    def work(turn):
        with trie.readonly_snapshot() as snapshot:
            for k in range(50):
                trie[k] = turn
            assert snapshot[0] == (turn - 1 if turn else 0)

    flat_after_warm_up(arena, work, 300, 30)
    exact(arena, [trie])


def test_bulk_calls_under_snapshots_take_bounded_space(arena):
    """The nodes that the bulk participant retires come to the thread that drops the snapshot and does little else."""
    trie = Ctrie(keys=int, values=int, arena=arena)
    keys = np.arange(2000)

    def work(turn):
        trie.put_many(keys, keys + turn)
        with trie.readonly_snapshot():
            trie.put_many(keys, keys)

    flat_after_warm_up(arena, work, 100, 10)
    exact(arena, [trie])


def test_who_only_drops_snapshots_keeps_up_with_what_they_leave(arena):
    """One thread writes and another does nothing but open and close snapshots, which retires all that was replaced."""
    trie = Ctrie(keys=int, values=int, arena=arena)
    keys = np.arange(10_000)
    for turn in range(120):
        trie.put_many(keys, keys)
        with trie.readonly_snapshot():
            trie.put_many(keys, keys)
        if turn == 20:
            before = arena.census()
    census = arena.census()
    assert census.limbo <= 3 * census.nodes, "more than the last turn or two have replaced"
    assert census.given <= 1.25 * before.given
    assert len(trie) == 10_000
    exact(arena, [trie])


def test_forks_made_and_dropped_take_bounded_space(arena):
    trie = Ctrie({k: k for k in range(300)}, keys=int, values=int, arena=arena)

    def work(turn):
        fork = trie.snapshot()
        for k in range(50):
            fork[k] = -1
            trie[k + 50] = turn
        assert fork[0] == -1
        assert fork[50] == (turn - 1 if turn else 50)

    flat_after_warm_up(arena, work, 300, 30)
    exact(arena, [trie])


def test_clearing_takes_bounded_space(arena):
    trie = Ctrie(keys=int, values=int, arena=arena)
    keys = np.arange(2000)

    def work(turn):
        trie.put_many(keys, keys)
        trie.clear()

    flat_after_warm_up(arena, work, 100, 10)
    assert exact(arena, [trie]).nodes <= EMPTY


def test_tries_made_and_dropped_take_bounded_space(arena):
    def work(turn):
        trie = Ctrie(keys=int, values=int, arena=arena)
        trie.put_many(np.arange(500), np.arange(500))

    flat_after_warm_up(arena, work, 100, 10)
    gc.collect()
    assert exact(arena, []).nodes == 0


# references dropped -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("turn", range(6))
def test_a_family_that_dies_in_any_order_leaves_nothing(rng, turn):
    rng.seed(rng.getrandbits(32) + turn)
    arena = Arena.anonymous(64 << 20)
    family = [Ctrie({k: k for k in range(200)}, keys=int, values=int, arena=arena)]
    things = []
    for _ in range(25):
        member = rng.choice(family)
        for _ in range(20):
            member[rng.randrange(200)] = -1
            member.remove(rng.randrange(200))
        if rng.random() < 0.5:
            family.append(member.snapshot())
        else:
            things.append(member.readonly_snapshot())
        if rng.random() < 0.1:
            member.clear()
    models = [(thing, dict(thing.items())) for thing in [*family, *things]]
    family = things = member = None
    rng.shuffle(models)
    while models:
        models.pop()
        settle(arena)
        for thing, model in models:
            assert dict(thing.items()) == model
    thing = model = None
    gc.collect()
    assert exact(arena, []).nodes == 0


def test_references_in_a_cycle_are_found_by_the_collector(arena):
    trie = Ctrie({k: k for k in range(100)}, keys=int, values=int, arena=arena)
    holder = {"snapshot": trie.readonly_snapshot(), "fork": trie.snapshot()}
    holder["self"] = holder
    trie.clear()
    settle(arena)
    kept = arena.census().nodes
    del holder
    gc.collect()
    settle(arena)
    assert arena.census().nodes < kept - 300
    assert exact(arena, [trie]).nodes <= EMPTY + 128


def test_a_snapshot_dropped_by_another_thread(arena):
    trie = Ctrie({k: k for k in range(100)}, keys=int, values=int, arena=arena)
    box = [trie.readonly_snapshot(), trie.snapshot()]
    trie.clear()
    thread = threading.Thread(target=box.clear)
    thread.start()
    thread.join()
    assert exact(arena, [trie]).nodes <= EMPTY + 128


# threads ------------------------------------------------------------------------------------------------------

THREADS = 4


def hammer(arena, mask, turns, keys, seed):
    """Four threads of single and bulk calls on a trie and a fork, with snapshots and forks coming and going."""
    trie = Ctrie(keys=int, values=int, arena=arena, hash_mask=FORMS[mask])
    targets = [trie, trie.snapshot()]
    barrier = threading.Barrier(THREADS)
    failures = []

    def body(t):
        rng = np.random.default_rng([seed, t])
        held = []
        for turn in range(turns):
            target = targets[turn % 2]
            batch = rng.integers(0, keys, 40)
            if t % 2:
                target.put_many(batch, batch)
                target.remove_many(rng.integers(0, keys, 40))
            else:
                for k in batch.tolist():
                    target[k] = k
                    target.pop(int(rng.integers(keys)), None)
            choice = int(rng.integers(12))
            if choice < 3:
                held.append(target.readonly_snapshot())
            elif choice == 3:
                held.append(target.snapshot())
                held[-1][5] = 5
            elif choice == 4:
                for k, v in target.items():
                    assert k == v
            elif choice == 5 and turn % 5 == 0:
                target.clear()
            if len(held) > 4 or (held and choice > 9):
                gone = held.pop(int(rng.integers(len(held))))
                items = dict(gone.items())
                assert all(k == v for k, v in items.items())
                assert dict(gone.items()) == items

    def run(t):
        try:
            barrier.wait()
            body(t)
        except BaseException as error:
            failures.append(error)
            barrier.abort()

    threads = [threading.Thread(target=run, args=(t,)) for t in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    parted(arena, [trie])
    assert all(k == v for k, v in trie.items())
    del targets[1]
    gc.collect()
    trie.clear()
    assert exact(arena, [trie]).nodes <= EMPTY + 4 * 128


@pytest.mark.parametrize("mask", FORMS)
def test_threads_leave_nothing(arena, rng, mask):
    hammer(arena, mask, 60, 24 if mask in ("lnodes", "narrow") else 200, rng.getrandbits(32))


@pytest.mark.slow
@pytest.mark.parametrize("mask", FORMS)
@pytest.mark.parametrize("turn", range(10))
def test_threads_at_length(arena, rng, mask, turn):
    hammer(arena, mask, 1500, 24 if mask in ("lnodes", "narrow") else 500, rng.getrandbits(32) + turn)


def test_a_thread_that_stops_while_it_is_pinned_delays_memory_and_nothing_else(arena):
    trie = Ctrie(keys=int, values=int, arena=arena)
    base = np.uint64(arena.base)
    me = claim(base, np.uint64(trie.arena.identity << 16))  # that of a thread that never gets on
    pin(base, me)
    for turn in range(20):
        for k in range(100):
            trie[k] = turn
        with trie.readonly_snapshot() as snapshot:
            assert len(snapshot) == 100
        for k in range(100):
            assert trie.pop(k) == turn
    for _ in range(10):
        arena.collect()
    assert arena.census().limbo > 4000 * 3, "nothing that was reachable in its epoch or later is free"
    unpin(base, me)
    assert exact(arena, [trie]).nodes <= EMPTY
