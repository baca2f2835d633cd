"""fsck: what processes killed at any moment have left is whole and can be repaired; damage is found and left alone."""

import os
import random
import shutil
import signal
import threading
from pathlib import Path

import crashes
import numpy as np
import pytest
from ctrie_exact import parted

from latchfree import Arena, ArenaFull, ArenaInvalid, Ctrie
from latchfree.arena import directory, header, layout
from latchfree.arena.kernels.freelists import piece_of, round_up
from latchfree.ctrie.kernels import gcas, nodes
from latchfree_fsck import check, fsck, inspect
from latchfree_fsck.ctrie_tree import walk
from latchfree_fsck.nodes import entries_kind
from latchfree_fsck.reach import Reach

TAG = 1 << 63
ALL = (1 << 64) - 1
PLAIN = entries_kind(True, True)

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@pytest.fixture(scope="module")
def abandoned(tmp_path_factory):
    """An arena whose processes were killed several times."""
    path = tmp_path_factory.mktemp("fsck") / "arena"
    crashes.create(path)
    for seed in range(3):
        crashes.killed(path, seed)
    return path


@pytest.fixture
def copy(abandoned, tmp_path):
    return Path(shutil.copyfile(abandoned, tmp_path / "arena"))


@pytest.fixture
def path(tmp_path):
    """An arena closed in good order."""
    path = tmp_path / "arena"
    crashes.create(path)
    return path


def exact(path, expected):
    """Nothing but what the structures reach is in use, they hold what they should, and the arena works."""
    with Arena.open(path) as arena:
        reach = Reach(arena.base)
        for entry in arena.structures().values():
            reach.add(entry.root)
        assert arena.census().nodes == reach.words
        assert arena.allocated == 8 * reach.words
        tries = [Ctrie.open(arena, name) for name in arena.structures()]
        assert {trie._store.name: dict(trie) for trie in tries} == expected
        parted(arena, tries)
        crashes.change(arena, random.Random(1), 500, [])
        parted(arena, tries)
    assert fsck(path=path).clean


# after crashes -------------------------------------------------------------------------------------------------------


def check_crash(path, seed, scratch):
    crashes.killed(path, seed)
    shutil.copyfile(path, scratch)
    expected = crashes.contents(scratch)
    before = path.read_bytes()
    report = fsck(path=path)
    assert path.read_bytes() == before, "looking changes nothing"
    assert not report.damage
    assert not report.faults
    assert {each.name: each.entries for each in report.structures} == {k: len(v) for k, v in expected.items()}
    shutil.copyfile(path, scratch)
    assert fsck(path=scratch, repair=True).repaired
    again = fsck(path=scratch)
    assert again.clean
    assert again.memory.waiting == again.snapshots == again.leaked == 0
    exact(scratch, expected)


def test_after_kills(abandoned, tmp_path):
    path = Path(shutil.copyfile(abandoned, tmp_path / "arena"))
    for seed in range(100, 106):
        print(f"seed {seed}")
        check_crash(path, seed, tmp_path / "scratch")


@pytest.mark.slow
def test_after_many_kills(tmp_path):
    path = tmp_path / "arena"
    for seed in range(1000, 1200):
        print(f"seed {seed}")
        if seed % 20 == 0:
            path.unlink(missing_ok=True)
            crashes.create(path)
        check_crash(path, seed, tmp_path / "scratch")


def test_a_clean_arena_is_clean(path):
    before = path.read_bytes()
    expected = crashes.contents(path)
    report = fsck(path=path)
    assert report.clean
    assert report.leaked == 0
    memory = report.memory
    assert memory.given == memory.reached + memory.free + memory.waiting
    assert fsck(path=path, repair=True).repaired
    exact(path, expected)
    assert len(path.read_bytes()) == len(before)


def test_a_leak_is_found_and_given_back(path):
    with Arena.open(path) as arena:
        held = Ctrie({n: n for n in range(1000)}, keys=int, values=int, arena=arena)
        size = Reach(arena.base)
        size.add(held._store.trie)
        region = arena.region
        region.close(clean=False)  # as if killed: `held` is never destroyed
    report = fsck(path=path)
    assert report.sound
    assert not report.clean
    assert report.leaked >= 8 * size.words
    assert report.memory.pieces > 0
    assert fsck(path=path, repair=True).clean
    assert fsck(path=path).leaked == 0


def test_an_empty_arena(tmp_path):
    path = tmp_path / "arena"
    Arena.create(path=path, capacity=4 << 20).close()
    assert fsck(path=path).clean
    assert fsck(path=path, repair=True).repaired
    with Arena.open(path) as arena:
        assert arena.used == layout.FIRST_NODE * 8
        assert Ctrie({n: n for n in range(100)}, keys=int, values=int, arena=arena)[99] == 99


def test_a_repaired_arena_can_be_filled_again(copy):
    assert fsck(path=copy, repair=True).repaired
    with Arena.open(copy) as arena:
        trie = Ctrie.open(arena, "words")
        with pytest.raises(ArenaFull):
            trie.update((f"more {n}", bytes(n % 2000)) for n in range(10**6))
        assert arena.used > 0.95 * arena.capacity
        trie.clear()
        parted(arena, [Ctrie.open(arena, name) for name in arena.structures()])


def test_while_it_is_in_use(path):
    with Arena.open(path), pytest.raises(BlockingIOError) as caught:
        fsck(path=path)
    assert caught.value.filename == str(path)
    assert fsck(path=path).clean


def test_in_use_when_the_system_went_down(path):
    expected = crashes.contents(path)
    words = np.memmap(path, np.uint64, "r+")
    words[layout.H_STATE] = header.in_use() ^ 4
    words.flush()
    with pytest.raises(ArenaInvalid, match=r"latchfree arena fsck .* --repair"):
        Arena.open(path)
    report = fsck(path=path)
    assert not report.sound
    assert report.faults == ["in use when the system went down, or copied from a running one"]
    assert fsck(path=path, repair=True).sound
    exact(path, expected)


def test_a_repair_that_is_killed_is_run_again(copy, monkeypatch):
    expected = crashes.contents(copy)

    def killed(words, owned):
        words[layout.PARTICIPANTS : layout.FIRST_NODE] = 0
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(check, "rebuild", killed)
        with pytest.raises(KeyboardInterrupt):
            fsck(path=copy, repair=True)
    with pytest.raises(ArenaInvalid, match="fsck"):
        Arena.open(copy)
    assert fsck(path=copy).faults[0] == "a repair was begun and not finished"
    assert fsck(path=copy, repair=True).repaired
    exact(copy, expected)


# damage --------------------------------------------------------------------------------------------------------------


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
            assert path.read_bytes() == before
        else:
            assert fsck(path=path, repair=True).repaired
            again = fsck(path=path)
            assert again.clean
            assert again.structures == report.structures
    return damaged


def test_random_damage_is_reported_or_harmless(tmp_path, rng):
    """Done to an arena left in the midst of things, with snapshots and forks, and to one that is full of keys."""
    left, full = tmp_path / "left", tmp_path / "full"
    crashes.create(left)
    with Arena.open(left) as arena:
        kept = []
        crashes.change(arena, rng, 1500, kept)
        arena.region.close(clean=False)  # as if killed: what is kept is never given back
    crashes.create(full)
    with Arena.open(full) as arena:
        Ctrie.open(arena, "numbers").update({n: n for n in range(20_000)})
    assert 15 < damage_is_reported_or_harmless([left, full], tmp_path / "arena", rng, 150) < 150


@pytest.mark.slow
@pytest.mark.parametrize("turn", range(10))
def test_random_damage_to_what_kills_have_left(tmp_path, rng, turn):
    path = tmp_path / "killed"
    crashes.create(path)
    for seed in range(3 * turn, 3 * turn + 3):
        crashes.killed(path, seed)
    damage_is_reported_or_harmless([path], tmp_path / "arena", rng, 150)


def test_a_foreign_file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"no arena" * 1_000_000)
    for function in (fsck, inspect):
        with pytest.raises(ArenaInvalid, match="not an arena"):
            function(path=path)
    with pytest.raises(FileNotFoundError):
        fsck(path=tmp_path / "none")


def test_a_damaged_header_is_damage(path):
    words = np.memmap(path, np.uint64, "r+")
    words[layout.H_BUMP] = ALL
    words.flush()
    report = fsck(path=path, repair=True)
    assert not report.repaired
    assert "the first unused word" in report.damage[0]
    with pytest.raises(ArenaInvalid, match="the first unused word"):
        inspect(path=path)


# the tree ------------------------------------------------------------------------------------------------------------


def walked(trie, *, settle=False, mask=ALL):
    words = trie.arena.words
    owned = np.zeros(int(words[layout.H_BUMP]) - layout.FIRST_NODE, np.uint8)
    tree = walk(trie.arena.base, trie._store.trie, hash_mask=mask, entries=PLAIN, owned=owned, settle=settle)
    assert np.count_nonzero(owned) >= tree.words
    return tree


def root_of(trie):
    return int(trie.arena.words[trie._store.trie + int(nodes.ROOT_WORD)])


def copy_of(trie, node, size):
    """A node like another one, in words nobody uses."""
    words = trie.arena.words
    at = int(words[layout.H_BUMP])
    words[layout.H_BUMP] += round_up(np.uint64(size))
    words[at : at + size] = words[node : node + size]
    return at


@pytest.mark.parametrize("mask", [ALL, 0, 7, 1 << 63])
def test_a_tree_of_any_shape(arena, mask):
    trie = Ctrie({n: n for n in range(200)}, keys=int, values=int, arena=arena, hash_mask=mask)
    for n in range(0, 200, 3):
        del trie[n]
    tree = walked(trie, mask=mask)
    assert tree.damage is None
    assert tree.entries == len(trie)


@pytest.mark.parametrize(("tag", "commits"), [(0, True), (TAG, False)])
def test_an_update_that_was_not_decided(trie, tag, commits):
    words, r = trie.arena.words, root_of(trie)
    trie.clear()
    r = root_of(trie)
    old = int(words[r + 1])
    trie[1] = 1
    new = int(words[r + 1])
    words[new + 1] = old | tag
    tree = walked(trie)
    assert (tree.damage, tree.entries) == (None, int(commits))
    assert int(words[new + 1]) == old | tag
    assert walked(trie, settle=True).entries == int(commits)
    assert int(words[r + 1]) == (new if commits else old)
    assert int(words[int(words[r + 1]) + 1]) == 0
    assert len(trie) == int(commits)


def test_an_update_of_an_older_generation_fails(trie):
    trie.update({n: n for n in range(500)})
    words = trie.arena.words
    main = int(words[root_of(trie) + 1])
    child = next(int(s) & ~TAG for s in words[main + 3 : main + 60].tolist() if s & TAG)
    below = int(words[child + 1])
    size = int(words[below]) >> 40 & 0xFFFFF
    pending = copy_of(trie, below, size)
    words[pending + 1], words[child + 1] = below, pending
    snapshot = trie.readonly_snapshot()
    assert walked(trie).damage is None
    walked(trie, settle=True)
    assert int(words[child + 1]) == below
    del snapshot


@pytest.mark.parametrize("status", [int(gcas.UNDECIDED), int(gcas.COMMIT), int(gcas.ABORT)])
@pytest.mark.parametrize("current", [True, False])
def test_a_root_that_was_being_replaced(trie, status, current):
    trie[1] = 1
    words, old = trie.arena.words, root_of(trie)
    main = int(words[old + 1])
    words[layout.H_GENERATION] += np.uint64(1)
    new, empty, d = copy_of(trie, old, 2), copy_of(trie, main, 3), copy_of(trie, main, 5)
    gen = int(words[layout.H_GENERATION])
    words[new : new + 2] = int(nodes.I_NODE) << 60 | 2 << 40 | gen, empty
    words[empty : empty + 3] = int(nodes.C_NODE) << 60 | 3 << 40 | gen, 0, 0
    words[d : d + 5] = int(nodes.RDCSS) << 60 | 5 << 40 | gen, old, main if current else empty, new, status
    words[trie._store.trie + 1] = d | TAG
    commits = status == int(gcas.COMMIT) or (status == int(gcas.UNDECIDED) and current)
    tree = walked(trie)
    assert (tree.damage, tree.entries) == (None, int(not commits))
    walked(trie, settle=True)
    assert root_of(trie) == (new if commits else old)
    assert len(trie) == int(not commits)


def test_what_is_wrong_with_a_tree_is_named(trie):
    trie.update({n: n for n in range(500)})
    words, r = trie.arena.words, root_of(trie)
    main = int(words[r + 1])
    slots = words[main + 3 : main + (int(words[main]) >> 40 & 0xFFFFF)].tolist()
    a, b = [k for k, slot in enumerate(slots) if slot & TAG][:2]

    def broken(at, value):
        before = int(words[at])
        words[at] = value
        tree = walked(trie)
        words[at] = before
        assert walked(trie).damage is None
        return tree.damage

    assert "hash of its key" in broken(main + 3 + a, slots[b])
    assert "shares words" in broken(main + 3 + a, r | TAG)
    assert "no such node" in broken(main + 3 + a, 12)
    assert "no such node" in broken(main + 3 + a, slots[a] ^ TAG)
    assert "impossible generation" in broken(r, int(words[r]) + 1000)
    assert "another hash mask" in broken(trie._store.trie + 2, 5)
    snode = next(s for s in _entries(words, main) if s)
    assert "hash of its key" in broken(snode + 1, 10**9)


def _entries(words, main):
    """S-nodes below a C-node."""
    size = int(words[main]) >> 40 & 0xFFFFF
    for slot in words[main + 3 : main + size].tolist():
        if slot & TAG:
            yield from _entries(words, int(words[(slot & ~TAG) + 1]))
        else:
            yield slot


# pieces --------------------------------------------------------------------------------------------------------------


def test_gaps_are_cut_into_nodes_of_a_class():
    for gap in [*range(1, 600), 4095, 4096, 4097, 4098, (1 << 20) + 1, (1 << 21) + 129]:
        left, sizes = gap, []
        while left:
            size = int(piece_of(np.uint64(left)))
            assert 0 < size <= left
            assert size == round_up(np.uint64(size)), "a size of a class"
            left -= size
            sizes.append(size)
        assert sizes.count(1) == (gap == 1), gap


# looking in ----------------------------------------------------------------------------------------------------------


def test_inspect_counts_what_nobody_uses(path):
    before = path.read_bytes()
    stamp = path.stat()
    found = inspect(path=path)
    assert (found.in_use, found.sealed, found.participants) == (False, True, [])
    assert path.read_bytes() == before
    assert path.stat().st_mtime_ns == stamp.st_mtime_ns
    assert {each.name: each.entries for each in found.structures} == {
        k: len(v) for k, v in crashes.contents(path).items()
    }
    assert [each.why for each in inspect(path=path, counted_bytes=0).structures] == [
        "large: latchfree arena fsck counts"
    ] * 4


def test_inspect_says_who_is_there(path):
    with Arena.open(path) as arena:
        Ctrie.open(arena, "numbers")[1] = 1
        found = inspect(path=path)
        assert found.in_use
        assert not found.sealed
        (me,) = found.participants
        assert (me.alive, me.pinned) == (True, None)
        assert (found.used, found.allocated) == (arena.used, arena.allocated)
        assert {each.why for each in found.structures} == {"in use"}


def test_inspect_sees_the_dead(abandoned):
    before = abandoned.read_bytes()
    found = inspect(path=abandoned)
    assert (found.in_use, found.sealed) == (False, False)
    assert found.participants
    assert not any(each.alive for each in found.participants)
    assert abandoned.read_bytes() == before


@pytest.mark.parametrize("left", [4, 5])
def test_an_entry_of_a_killed_creator_is_found_and_freed(path, left):
    """The trie that was built is lost until the repair."""
    calls = directory.ARENA

    class Dies:
        taken = iter(range(1000))

        def __getattr__(self, step):
            if threading.current_thread() is threading.main_thread() and next(self.taken) == left:
                os.kill(os.getpid(), signal.SIGKILL)
            return getattr(calls, step)

    child = os.fork()
    if child == 0:
        try:
            arena = Arena.open(path)
            directory.ARENA = Dies()
            Ctrie.create(arena, "new", keys=int, values=int)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    found = fsck(path=path)
    assert found.faults == ["directory entries that were being made or removed: 1"]
    assert found.leaked
    assert inspect(path=path).unfinished[0].state == "dead"
    assert fsck(path=path, repair=True).repaired
    assert fsck(path=path).clean
    with Arena.open(path) as arena:
        assert "new" not in arena.structures()
        Ctrie.create(arena, "new", keys=int, values=int)
