"""Registered snapshots and their deadlists, by kernel, against the rule of intervals.

The rule: a node born in generation b and replaced in generation d is seen by the snapshots s with b <= s < d. It waits
on the list of the newest snapshot below d while that one sees it, and is free as soon as none does.
"""

import numpy as np
import pytest
from ctrie_exact import settle
from ctrie_walk import root_of
from free_memory import free_spans
from hypothesis import given, settings
from hypothesis import strategies as st

from latchfree import Arena, Ctrie
from latchfree.arena.kernels import blocks
from latchfree.arena.kernels.allocator import ORDINARY, allocate, begin
from latchfree.arena.kernels.epochs import pin, unpin
from latchfree.arena.kernels.freelists import round_up
from latchfree.arena.kernels.participants import claim, release
from latchfree.arena.layout import P_INCARNATION, P_OLDEST
from latchfree.ctrie.kernels import registry, retirement
from latchfree.ctrie.kernels.shape import DROP_LOCK, REGISTERED, SNAPSHOTS

U = np.uint64
TAG = 1 << 63
SLOTS = int(registry.TABLE_SLOTS)
TABLE = int(round_up(registry.TABLE_WORDS))
#: Words of all nodes, a size that blocks and descriptors do not have.
NODE = 72
#: The part of an entry that is the place of a node.
OFFSET = np.uint64((1 << 40) - 1)
IN_A_BLOCK = int(blocks.BLOCK_WORDS - blocks.ENTRIES)


class Bench:
    """The registry of a trie, with generations and nodes of our own."""

    def __init__(self, arena=None):
        self.arena = arena or Arena.anonymous(16 << 20)
        self.handle = Ctrie(keys=int, values=int, arena=self.arena)
        self.words = self.arena.words
        self.base = U(self.arena.base)
        self.trie = self.handle._store.trie
        self.me = self.arena.interpreter_participant()
        self.now = 100  # the generation of the trie
        self.live = {}  # slot: generation
        self.dead = {}  # node: birth, death

    def run(self, function, *arguments):
        pin(self.base, U(self.me))
        result = function(self.base, *map(U, arguments))
        unpin(self.base, U(self.me))
        return result

    def snapshot(self, advance=True):
        slot = int(self.run(registry.register, self.trie, self.me, root_of(self.handle), self.now))
        self.live[slot] = self.now
        self.now += advance
        return slot

    def drop(self, slot):
        self.run(registry.drop, self.trie, self.me, slot)
        del self.live[slot]

    def node(self, birth):
        assert begin(self.base, U(self.me), ORDINARY)
        node = int(allocate(self.base, U(self.me), U(NODE)))
        self.words[node] = (5 << 60) | (NODE << 40) | birth
        return node

    def replace(self, births):
        """Retire new nodes of these births, all replaced in the current generation."""
        nodes = [self.node(birth) for birth in births]
        assert begin(self.base, U(self.me), ORDINARY)
        self.run(retirement.begin_retiring, self.trie, self.me, self.now, len(nodes))
        for node in nodes:
            self.run(retirement.retire_node, self.me, node)
        self.run(retirement.finish_retiring, self.me)
        for node, birth in zip(nodes, births, strict=True):
            # An offset may come back once it is free.
            self.dead[node] = birth, self.now
        return nodes

    def deadlist(self, slot):
        nodes = []
        block = int(self.words[slot + int(registry.HEAD)])
        while not block & TAG:
            count = int(self.words[block + int(registry.COUNT)])
            nodes += (self.words[block + int(registry.ENTRIES) :][:count] & OFFSET).tolist()
            block = int(self.words[block + int(registry.LINK)])
        return nodes

    @property
    def registered(self):
        return int(self.words[self.trie + int(REGISTERED)])

    def tables(self):
        found = []
        table = int(self.words[self.trie + int(SNAPSHOTS)])
        while table:
            found.append(table)
            table = int(self.words[table + int(registry.NEXT)])
        return found

    def check(self):
        """Every dead node is where the rule of intervals puts it."""
        settle(self.arena)
        expected = {slot: [] for slot in self.live}
        free = {start for start, size in free_spans(self.arena) if size == NODE}
        for node, (birth, death) in list(self.dead.items()):
            below = [(gen, slot) for slot, gen in self.live.items() if gen < death]
            if below and max(below)[0] >= birth:
                newest = max(below)[0]
                # Of several of one generation any will do.
                found = [slot for gen, slot in below if gen == newest and node in self.deadlist(slot)]
                assert len(found) == 1, f"a node of [{birth}, {death}) is on {len(found)} lists of generation {newest}"
                expected[found[0]].append(node)
                assert node not in free
            else:
                assert node in free, f"a node of [{birth}, {death}) is not free, alive: {sorted(self.live.values())}"
                del self.dead[node]
        assert {slot: sorted(self.deadlist(slot)) for slot in self.live} == {k: sorted(v) for k, v in expected.items()}
        assert self.registered == len(self.live)


@pytest.fixture
def bench():
    return Bench()


def test_without_snapshots_the_dead_are_free(bench):
    bench.replace([90, 95, 100])
    bench.check()
    assert bench.dead == {}


def test_a_node_waits_for_the_newest_snapshot_that_sees_it(bench):
    first = bench.snapshot()
    second = bench.snapshot()
    old, middle, new = bench.replace([90, bench.live[second], bench.now])
    assert sorted(bench.deadlist(second)) == sorted([old, middle])
    assert bench.deadlist(first) == []
    bench.check()
    assert new not in bench.dead


def test_dropping_moves_to_the_next_older_or_frees(bench):
    first = bench.snapshot()
    second = bench.snapshot()
    old, middle = bench.replace([90, bench.live[second]])
    bench.drop(second)
    assert bench.deadlist(first) == [old]
    bench.check()
    assert set(bench.dead) == {old}
    bench.drop(first)
    bench.check()
    assert bench.dead == {}
    assert middle != old


def test_dropping_the_older_first_moves_nothing(bench):
    first = bench.snapshot()
    second = bench.snapshot()
    old, _ = bench.replace([90, bench.live[second]])
    bench.drop(first)
    assert old in bench.deadlist(second)
    bench.check()
    bench.drop(second)
    bench.check()
    assert bench.dead == {}


def test_a_newer_snapshot_takes_nothing_of_what_died_before(bench):
    first = bench.snapshot()
    (node,) = bench.replace([90])
    second = bench.snapshot()
    assert bench.deadlist(second) == []
    bench.drop(first)
    bench.check()
    assert node not in bench.dead


@pytest.mark.parametrize("which", [0, 1])
def test_two_snapshots_of_one_generation(bench, which):
    pair = [bench.snapshot(advance=False), bench.snapshot()]
    nodes = bench.replace([90] * 5)
    bench.check()
    bench.drop(pair[which])
    assert sorted(bench.deadlist(pair[1 - which])) == sorted(nodes)
    bench.check()
    bench.drop(pair[1 - which])
    bench.check()
    assert bench.dead == {}


def test_tables_are_chained_and_slots_used_again(bench):
    slots = [bench.snapshot() for _ in range(2 * SLOTS + 10)]
    assert len(set(slots)) == len(slots)
    assert len(bench.tables()) == 3
    for _ in range(30):
        bench.replace([90, bench.now - 3])
    bench.check()
    for slot in slots[::2]:
        bench.drop(slot)
    bench.check()
    again = [bench.snapshot() for _ in slots[::2]]
    assert sorted(again) == sorted(slots[::2])
    assert len(bench.tables()) == 3
    bench.check()
    for slot in [*again, *slots[1::2]]:
        bench.drop(slot)
    bench.check()
    assert bench.dead == {}
    bench.snapshot()
    assert len(bench.tables()) == 3


def test_the_second_replacement_of_a_generation_looks_at_no_table(bench):
    """However many snapshots are registered: the tables are out of sight, and the node waits for the newest."""
    slots = [bench.snapshot() for _ in range(3 * SLOTS)]
    bench.replace([90])
    link = bench.trie + int(SNAPSHOTS)
    first = int(bench.words[link])
    bench.words[link] = 0
    (node,) = bench.replace([91])
    bench.words[link] = first
    assert node in bench.deadlist(slots[-1])
    bench.check()


@pytest.mark.parametrize("again", [False, True])
def test_what_was_found_earlier_is_not_taken_for_what_is_there(bench, again):
    """The newest snapshot is dropped after a search; its slot may even have another snapshot, which sees nothing."""
    first, second = bench.snapshot(), bench.snapshot()
    bench.replace([90])
    bench.drop(second)
    if again:
        assert bench.snapshot(advance=False) == second
    (node,) = bench.replace([91])
    assert node in bench.deadlist(first)
    (new,) = bench.replace([bench.live[first] + 1])
    bench.check()
    assert new not in bench.dead


@pytest.mark.parametrize("count", [1, IN_A_BLOCK - 1, IN_A_BLOCK, IN_A_BLOCK + 1, 150])
def test_retiring_many(bench, count):
    """As much as a block holds, more, and a mixture in which a block has to be split."""
    first = bench.snapshot()
    second = bench.snapshot()
    dead = bench.replace(([90, bench.live[second]] * count)[:count])
    assert sorted(bench.deadlist(second)) == sorted(dead)
    bench.check()
    bench.drop(second)
    bench.check()
    bench.drop(first)
    bench.check()
    assert bench.dead == {}


class OtherThread:
    """Another participant, which stops in the middle of a retirement."""

    def __init__(self, bench):
        self.bench = bench
        self.me = U(claim(bench.base, U(1 << 16)))
        assert begin(bench.base, self.me, ORDINARY)
        pin(bench.base, self.me)
        retirement.begin_retiring(bench.base, U(bench.trie), self.me, U(bench.now), U(4))

    def retire(self, node):
        retirement.retire_node(self.bench.base, self.me, U(node))

    def end(self):
        """Finish; return the nodes that went to limbo."""
        words = self.bench.words
        retirement.finish_retiring(self.bench.base, self.me)
        unpin(self.bench.base, self.me)
        retired, block = [], int(words[self.me + P_OLDEST])
        while block:
            retired += (words[block + int(blocks.ENTRIES) :][: int(words[block + int(blocks.COUNT)])] & OFFSET).tolist()
            block = int(words[block + int(blocks.LINK)])
        release(self.bench.base, self.me, U(1 << 16))
        return retired


@pytest.mark.parametrize("moment", [0, 1, 2])
@pytest.mark.parametrize("dropped", [1, 2])
def test_what_a_witness_dropped_meanwhile_leaves_goes_to_the_next_older(bench, moment, dropped):
    snapshots = [bench.snapshot() for _ in range(3)]
    nodes = [bench.node(90), bench.node(bench.live[snapshots[0]])]
    other = OtherThread(bench)
    for turn in range(3):
        if turn == moment:
            for slot in reversed(snapshots[-dropped:]):
                bench.drop(slot)
        if turn < 2:
            other.retire(nodes[turn])
    assert other.end() == []
    heir = snapshots[-dropped - 1]
    assert sorted(bench.deadlist(heir)) == sorted(nodes)
    bench.dead = {node: (birth, bench.now) for node, birth in zip(nodes, [90, 100], strict=True)}
    bench.check()
    for slot in snapshots[:-dropped]:
        bench.drop(slot)
    bench.check()
    assert bench.dead == {}


@pytest.mark.parametrize("moment", [0, 1])
def test_what_only_a_witness_dropped_meanwhile_saw_is_retired(bench, moment):
    older, newer = bench.snapshot(), bench.snapshot()
    node, birth = bench.node(bench.live[newer]), bench.live[newer]
    other = OtherThread(bench)
    if moment == 0:
        bench.drop(newer)
    other.retire(node)
    if moment == 1:
        bench.drop(newer)
    assert other.end() == [node]
    assert bench.deadlist(older) == []
    bench.dead = {node: (birth, bench.now)}
    bench.check()
    assert bench.dead == {}


def test_an_older_witness_takes_the_block_of_one_dropped_meanwhile_whole(bench):
    """It sees only part of it; the rest is free when it is dropped itself."""
    older, newer = bench.snapshot(), bench.snapshot()
    nodes = [bench.node(90), bench.node(bench.live[newer])]
    other = OtherThread(bench)
    for node in nodes:
        other.retire(node)
    bench.drop(newer)
    assert other.end() == []
    assert sorted(bench.deadlist(older)) == sorted(nodes)
    bench.drop(older)
    bench.dead = dict.fromkeys(nodes, (90, bench.now))
    bench.check()
    assert bench.dead == {}


def test_newest_gives_slot_and_generation(bench):
    slots = [bench.snapshot() for _ in range(5)]
    for slot in slots:
        gen = bench.live[slot]
        found = registry.newest(bench.base, U(bench.trie), U(gen + 1), U(0))
        assert tuple(map(int, found)) == (slot, gen)
    assert tuple(map(int, registry.newest(bench.base, U(bench.trie), U(bench.live[slots[0]]), U(0)))) == (0, 0)
    found = registry.newest(bench.base, U(bench.trie), U(bench.now), U(slots[4]))
    assert int(found[0]) == slots[3]


def test_a_push_to_a_snapshot_that_is_gone_fails(bench):
    slot = bench.snapshot()
    gen = bench.live[slot]
    bench.drop(slot)
    block = bench.node(0)
    assert not registry.push_block(bench.base, U(slot), U(gen), U(block))
    bench.now += 5
    assert bench.snapshot() == slot
    assert not registry.push_block(bench.base, U(slot), U(gen), U(block)), "the slot belongs to another now"


class Lock:
    """The lock of dropping, held by another participant that has stopped."""

    def __init__(self, bench):
        self.bench = bench
        self.other = int(claim(bench.base, U(1 << 16)))
        self.take()

    def take(self):
        incarnation = int(self.bench.words[self.other + int(P_INCARNATION)])
        self.bench.words[self.bench.trie + int(DROP_LOCK)] = self.other | incarnation << 32

    def unlock(self):
        self.bench.words[self.bench.trie + int(DROP_LOCK)] = 0

    def die(self):
        release(self.bench.base, U(self.other), U(1 << 16))


def test_while_another_drops_a_mark_is_left_and_nothing_waits(bench):
    first, second = bench.snapshot(), bench.snapshot()
    nodes = bench.replace([90, 91])
    lock = Lock(bench)
    bench.drop(second)
    assert bench.registered == 2
    assert sorted(bench.deadlist(second)) == sorted(nodes)
    third = bench.snapshot()
    bench.replace([92])
    assert third != second, "the slot is not free yet"
    lock.unlock()
    bench.run(registry.sweep, bench.trie, bench.me)
    bench.check()
    assert sorted(bench.deadlist(first)) == sorted(nodes)


@pytest.mark.parametrize("reborn", [False, True])
def test_the_lock_of_a_participant_that_is_gone_is_taken_over(bench, reborn):
    slot = bench.snapshot()
    bench.replace([90])
    lock = Lock(bench)
    lock.die()
    if reborn:
        assert claim(bench.base, U(1 << 16)) == lock.other, "the slot has another owner, of another incarnation"
    bench.drop(slot)
    bench.check()
    assert bench.dead == {}
    assert bench.words[bench.trie + int(DROP_LOCK)] == 0


_STEPS = st.lists(
    st.tuples(
        st.sampled_from(["snapshot", "twin", "replace", "replace", "drop"]), st.integers(0, 1000), st.integers(1, 6)
    ),
    max_size=80,
)


def play(steps, every=1):
    bench = Bench()
    for n, (action, which, count) in enumerate(steps):
        if action == "snapshot":
            bench.snapshot()
        elif action == "twin":
            bench.snapshot(advance=False)
        elif action == "replace":
            births = [max(50, bench.now - (which * (k + 1)) % 20) for k in range(count)]
            bench.replace(births)
        elif bench.live:
            bench.drop(sorted(bench.live)[which % len(bench.live)])
        if n % every == 0:
            bench.check()
    bench.check()
    for slot in sorted(bench.live, key=lambda slot: slot * 7919 % 101):
        bench.drop(slot)
        bench.check()
    assert bench.dead == {}
    assert bench.arena.census().nodes == 17 + TABLE * len(bench.tables())


@given(steps=_STEPS)
@settings(max_examples=60)
def test_the_rule_of_intervals(steps):
    play(steps)


@pytest.mark.parametrize("turn", range(3))
def test_the_rule_of_intervals_at_length(rng, turn):
    rng.seed(rng.getrandbits(32) + turn)
    actions = ["snapshot", "twin", "replace", "replace", "replace", "drop", "drop"]
    play([(rng.choice(actions), rng.randrange(1000), rng.randint(1, 60)) for _ in range(600)], every=20)


def test_a_slot_is_never_given_to_an_older_generation_than_it_had():
    """A thread that read the root long ago registers a generation that is past (mutant R20 of the specification)."""
    bench = Bench()
    slot = bench.snapshot()
    bench.drop(slot)
    late = Bench.snapshot(bench)
    assert late == slot, "a newer one may have it"
    bench.drop(late)
    bench.now -= 2
    other = bench.snapshot()
    assert other != slot
    bench.now += 1
    assert bench.snapshot() == slot, "the same generation again may have it"
