"""fsck on topic tries: what killed processes have left is whole and can be repaired; damage is found and left alone."""

import os
import random
import shutil
import signal
import time
from dataclasses import replace
from itertools import product
from pathlib import Path

import crashes
import numpy as np
import pytest
import topic_bodies
from ctrie_exact import parted
from hypothesis import given, settings
from hypothesis import strategies as st
from topic_texts import accepts, texts

from latchfree import Arena, Ctrie
from latchfree.arena import header, layout
from latchfree.arena.entry import Entry
from latchfree.structures import TOPIC_TRIE
from latchfree.topics import DIALECTS, ConcurrentTrie
from latchfree_fsck import fsck, inspect
from latchfree_fsck.trees import walk

TAG = 1 << 63
BRANCH = 1 << 62
PLAIN = BRANCH - 1

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def create(path):
    """A new arena with two topic tries and a Ctrie."""
    with Arena.create(path=path, capacity=8 << 20) as arena:
        for name, dialect in (("home", "mqtt"), ("jobs", "amqp")):
            trie = ConcurrentTrie.create(arena, name, dialect, hash_mask=7 if name == "jobs" else (1 << 64) - 1)
            for k, pattern in enumerate(topic_bodies.PATTERNS):
                trie.subscribe(pattern.replace("/", trie.dialect.separator), (k, f"client {k}")[k % 2])
        Ctrie.create(arena, "map", keys=int, values=int).update({1: 1})


def killed(path, seed):
    """Have two processes change the tries, and kill them in the midst of it."""
    children = []
    for k in range(2):
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                arena = Arena.open(path)
                rng = random.Random(seed * 10 + k)
                topic_bodies.churn(ConcurrentTrie.open(arena, "home"), rng, write)
            finally:
                os._exit(1)
        children.append((pid, read, write))
    for _, read, _ in children:
        assert os.read(read, 1) == b"x"
    time.sleep(random.Random(seed).uniform(0, 0.05))
    for pid, read, write in children:
        os.kill(pid, signal.SIGKILL)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
        os.close(read)
        os.close(write)


def contents(path):
    """What is in the tries of an arena; opening it leaves traces in the file.

    An update that a killed process has begun counts if it is looked at before the next snapshot; fsck says so, too.
    """
    with Arena.open(path) as arena:
        home = ConcurrentTrie.open(arena, "home")
        for first, second, third in product("abc", range(5), range(11)):
            home.match(f"{first}/{second}/{third}")
        return {name: set(ConcurrentTrie.open(arena, name).subscriptions()) for name in ("home", "jobs")}


@pytest.fixture(scope="module")
def abandoned(tmp_path_factory):
    """An arena whose processes were killed several times."""
    path = tmp_path_factory.mktemp("fsck") / "arena"
    create(path)
    for seed in range(3):
        killed(path, seed)
    return path


@pytest.fixture
def path(tmp_path):
    """An arena closed in good order."""
    create(tmp_path / "arena")
    return tmp_path / "arena"


def check_crash(path, seed, scratch):
    killed(path, seed)
    shutil.copyfile(path, scratch)
    expected = contents(scratch)
    before = path.read_bytes()
    report = fsck(path=path)
    assert path.read_bytes() == before, "looking changes nothing"
    assert (report.damage, report.faults) == ([], [])
    assert {each.name: each.entries for each in report.structures} == {
        "map": 1,
        **{name: len(held) for name, held in expected.items()},
    }
    shutil.copyfile(path, scratch)
    assert fsck(path=scratch, repair=True).repaired
    again = fsck(path=scratch)
    assert again.clean
    assert again.memory.waiting == again.snapshots == again.leaked == 0
    assert contents(scratch) == expected
    with Arena.open(scratch) as arena:
        tries = [ConcurrentTrie.open(arena, name) for name in ("home", "jobs")]
        parted(arena, [*tries, Ctrie.open(arena, "map")])
        for pattern in topic_bodies.PATTERNS:
            tries[0].unsubscribe(tries[0].subscribe(pattern, 1))
        assert set(tries[0].subscriptions()) == expected["home"]
        parted(arena, [*tries, Ctrie.open(arena, "map")])
    assert fsck(path=scratch).clean


def test_after_kills(abandoned, tmp_path):
    path = Path(shutil.copyfile(abandoned, tmp_path / "arena"))
    for seed in range(100, 102):
        print(f"seed {seed}")
        check_crash(path, seed, tmp_path / "scratch")


@pytest.mark.slow
def test_after_many_kills(tmp_path):
    path = tmp_path / "arena"
    for seed in range(1000, 1100):
        print(f"seed {seed}")
        if seed % 20 == 0:
            path.unlink(missing_ok=True)
            create(path)
        check_crash(path, seed, tmp_path / "scratch")


def test_whoever_looks_first_decides_an_update_in_progress(path, tmp_path):
    """A reader carries it through; a snapshot, whose root is another one, leaves it out. fsck counts it in."""
    with Arena.open(path) as arena:
        home = ConcurrentTrie.open(arena, "home")
        words = arena.words
        root = int(words[home._store.trie + 1])
        main = int(words[root + 1])
        slots = words[main + 3 : main + (int(words[main]) >> 40 & 0xFFFFF)].tolist()
        mains = {slot & PLAIN: int(words[(slot & PLAIN) + 1]) for slot in slots if slot & TAG}
        home.subscribe("a/new", 1)
        changed = [at for at, main in mains.items() if int(words[at + 1]) != main]
        assert len(changed) == 1
        words[int(words[changed[0] + 1]) + 1] = mains[changed[0]]  # its `prev`: it is undecided again
        arena.region.close(clean=False)
    scratch = tmp_path / "scratch"
    for look, count in (("match", 61), ("snapshot", 60), ("fsck", 61)):
        shutil.copyfile(path, scratch)
        report = fsck(path=scratch, repair=look == "fsck")
        assert (report.damage, report.faults) == ([], [])
        assert next(each.entries for each in report.structures if each.name == "home") == 61
        with Arena.open(scratch) as arena:
            home = ConcurrentTrie.open(arena, "home")
            if look == "match":
                home.match("a/new")
            assert len(set(home.subscriptions())) == count, look


def test_a_leak_is_found_and_given_back(path):
    with Arena.open(path) as arena:
        held = ConcurrentTrie("nats", arena=arena)
        for k in range(500):
            held.subscribe(f"a.{k % 5}.{k}", k)
        arena.region.close(clean=False)  # as if killed: `held` is never destroyed
    report = fsck(path=path)
    assert report.sound
    assert report.leaked > 500 * 8 * 8
    assert fsck(path=path, repair=True).clean
    assert fsck(path=path).leaked == 0


def test_looking_in_tells_kind_and_number(path):
    found = {each.name: (each.kind, each.keys, each.values, each.entries) for each in inspect(path=path).structures}
    assert found == {
        "home": ("ConcurrentTrie", "mqtt", "subscriber", 60),
        "jobs": ("ConcurrentTrie", "amqp", "subscriber", 60),
        "map": ("Ctrie", "int", "int", 1),
    }


def damage_is_reported_or_harmless(arenas, path, rng, turns):
    """Do damage to copies of some arenas in turn; returns how often fsck had something to report."""
    damaged = 0
    for turn in range(turns):
        shutil.copyfile(arenas[turn % len(arenas)], path)
        print(crashes.damage(path, rng))
        before = path.read_bytes()
        report = fsck(path=path)
        assert path.read_bytes() == before
        if report.damage:
            damaged += 1
            assert not fsck(path=path, repair=True).repaired
        else:
            assert fsck(path=path, repair=True).repaired
            again = fsck(path=path)
            assert again.clean
            assert again.structures == report.structures
    return damaged


def test_random_damage_is_reported_or_harmless(tmp_path, rng):
    """Done to an arena left in the midst of things, with snapshots, and to one that is full of patterns."""
    left, full = tmp_path / "left", tmp_path / "full"
    create(left)
    with Arena.open(left) as arena:
        trie = ConcurrentTrie.open(arena, "home")
        held, kept = [], []
        for turn in range(400):
            held.append(trie.subscribe(rng.choice(topic_bodies.PATTERNS), rng.choice([1, "text", b"bytes"])))
            if len(held) > 30:
                trie.unsubscribe(held.pop(rng.randrange(len(held))))
            if turn % 50 == 0:
                kept.append(trie.snapshot())
        arena.region.close(clean=False)  # as if killed: what is kept is never given back
    create(full)
    with Arena.open(full) as arena:
        ConcurrentTrie.open(arena, "home").subscribe_many([f"a/{k % 50}/{k}" for k in range(10_000)], 7)
    assert 10 < damage_is_reported_or_harmless([left, full], tmp_path / "arena", rng, 100) < 100


@pytest.mark.slow
@pytest.mark.parametrize("turn", range(10))
def test_random_damage_to_what_kills_have_left(tmp_path, rng, turn):
    path = tmp_path / "killed"
    create(path)
    for seed in range(3 * turn, 3 * turn + 3):
        killed(path, seed)
    damage_is_reported_or_harmless([path], tmp_path / "arena", rng, 100)


def walked(trie, *, settle=False):
    words = trie.arena.words
    owned = np.zeros(int(words[layout.H_BUMP]) - layout.FIRST_NODE, np.uint8)
    store = trie._store
    entry = Entry("it", store.trie, TOPIC_TRIE, trie.dialect.name, "subscriber", int(words[store.trie + 2]))
    tree = walk(trie.arena.base, entry, owned, settle=settle)
    assert np.count_nonzero(owned) >= tree.words
    return tree


@pytest.mark.parametrize("mask", [(1 << 64) - 1, 0, 0o3, (1 << 62) | (1 << 20)])
@pytest.mark.parametrize("dialect", DIALECTS)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_a_tree_of_any_shape_is_whole(dialect, mask, data):
    rules = DIALECTS[dialect]
    trie = ConcurrentTrie(dialect, arena=Arena.anonymous(16 << 20), hash_mask=mask)
    some = texts(rules, wild=True).filter(lambda text: accepts(rules.pattern, text))
    made = [trie.subscribe(pattern, 1) for pattern in data.draw(st.lists(some, max_size=20))]
    for each in made[::3]:
        trie.unsubscribe(each)
    for settle in (False, True):
        tree = walked(trie, settle=settle)
        assert (tree.damage, tree.entries) == (None, len(made) - len(made[::3]))
    assert set(trie.subscriptions()) == set(made) - set(made[::3])


def test_a_pattern_of_many_levels_is_whole():
    deep = replace(DIALECTS["mqtt"], most_words=5_000)
    trie = ConcurrentTrie(deep, arena=Arena.anonymous(256 << 20))
    for end in ("a", "b", "a"):
        trie.subscribe("/" * 3000 + end, 1)
    assert (walked(trie).damage, walked(trie).entries) == (None, 3)


def test_what_is_wrong_with_a_tree_is_named():
    trie = ConcurrentTrie("mqtt", arena=Arena.anonymous(16 << 20))
    for first in "abcdefgh":
        for second in "abc":
            trie.subscribe(f"{first}/{second}", 1)
    words = trie.arena.words
    root = int(words[trie._store.trie + 1])
    main = int(words[root + 1])
    slots = words[main + 3 : main + 3 + (int(words[main]) >> 40 & 0xFFFFF) - 3].tolist()
    branches = [k for k, slot in enumerate(slots) if slot & BRANCH]
    a, b = branches[:2]
    branch = slots[a] & PLAIN
    snode = next(iter(trie._store.nodes_below(trie._store.hold()).tolist()))

    def broken(at, value):
        before = int(words[at])
        words[at] = value
        damage = walked(trie).damage
        words[at] = before
        assert walked(trie).damage is None
        return damage

    root = int(words[trie._store.trie + 1])  # the snapshot that was taken has replaced it
    main = int(words[root + 1])
    assert "not where the hash" in broken(main + 3 + a, slots[b])
    assert "not where the hash" in broken(branch + 2, int(words[branch + 2]) ^ 1)
    assert "not where the hash" in broken(branch + 2, int(words[branch + 2]) ^ 1 << 60)
    assert "no such node" in broken(main + 3 + a, slots[a] ^ BRANCH)
    assert "shares words" in broken(main + 3 + a, root | TAG)
    assert "no such node" in broken(main + 3 + a, 12)
    assert "impossible generation" in broken(root, int(words[root]) + 1000)
    assert "another hash mask" in broken_mask(trie)
    assert "not where the hash" in broken(snode + 1, int(words[snode + 1]) ^ 1)
    assert "no subscription was given" in broken(trie._store.trie + 7, 1)


def broken_mask(trie):
    """What a walk says of a directory with another mask."""
    owned = np.zeros(int(trie.arena.words[layout.H_BUMP]) - layout.FIRST_NODE, np.uint8)
    return walk(trie.arena.base, Entry("it", trie._store.trie, TOPIC_TRIE, "mqtt", "subscriber", 5), owned).damage


def test_a_dialect_that_is_not_known(path):
    words = np.memmap(path, np.uint64, "r+")
    entries = words[layout.DIRECTORY :][: 64 * layout.ENTRY_WORDS].reshape(-1, layout.ENTRY_WORDS)
    row = next(row for row in entries if row[layout.E_KEYS] == int.from_bytes(b"mqtt", "little"))
    row[layout.E_KEYS] = int.from_bytes(b"xmpp", "little")
    words[layout.H_STATE] = header.in_use()  # so that no checksum says so first
    words.flush()
    del words, row, entries
    (damage,) = fsck(path=path).damage
    assert damage == "structure 'home': its dialect 'xmpp' is none of amqp, nats, mqtt"
