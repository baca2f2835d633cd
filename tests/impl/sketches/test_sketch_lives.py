"""Sketches in an arena: named, opened, pickled, forked, unlinked, killed; what was added stays, memory comes back."""

import os
import pickle
import random
import signal
import time
from functools import partial

import numpy as np
import pytest
from children import in_child

from latchfree import (
    Arena,
    ArenaClosed,
    ArenaFull,
    ArenaInvalid,
    Ctrie,
    DirectoryFull,
    StructureExists,
    StructureMissing,
)
from latchfree.sketches import (
    KLL,
    Bloom,
    CountingBloom,
    CountMin,
    HyperLogLog,
    InverseBloom,
    MinHash,
    PartitionedBloom,
    ScalableBloom,
    SketchGone,
    StableBloom,
    TopK,
)
from latchfree.sketches.border import SKETCH
from latchfree.sketches.kernels.record import FIRST_CELL, VERSION
from latchfree_fsck import fsck, inspect

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

MAKERS = {
    "bloom": partial(Bloom.create, expected=10_000),
    "hll": HyperLogLog.create,
    "count": partial(CountMin.create, conservative=True),
    "inverse": partial(InverseBloom.create, slots=5_000),
}
ALL = {
    **MAKERS,
    "partitioned": partial(PartitionedBloom.create, expected=1_000),
    "counting": partial(CountingBloom.create, expected=1_000),
    "scalable": partial(ScalableBloom.create, initial=100, most=5_000),
    "stable": partial(StableBloom.create, slots=10_000),
    "minhash": MinHash.create,
    "top": TopK.create,
}


@pytest.fixture
def shared(shared_name):
    with Arena.create(name=shared_name, capacity=64 << 20) as arena:
        yield arena


def every_call(sketch):
    calls = [lambda: sketch.add("a"), lambda: sketch.add_many(["a", "b"]), sketch.to_bytes, lambda: sketch.added]
    if hasattr(sketch, "contains_many"):
        calls += [lambda: "a" in sketch, lambda: sketch.contains_many(["a"])]
    if isinstance(sketch, CountMin):
        calls += [
            lambda: sketch.estimate("a"),
            lambda: sketch.estimate_many(["a"]),
            lambda: sketch.add_many(["a"], [2]),
        ]
    elif isinstance(sketch, TopK):
        calls += [sketch.top, lambda: sketch.estimate("a"), lambda: sketch.add_many([1, 2])]
    elif hasattr(sketch, "estimate"):
        calls.append(sketch.estimate)
    if isinstance(sketch, CountingBloom):
        calls += [lambda: sketch.count("a"), lambda: sketch.remove("a"), lambda: sketch.remove_many(["a"])]
    if isinstance(sketch, ScalableBloom):
        calls.append(lambda: sketch.layers)
    if isinstance(sketch, MinHash):
        calls.append(lambda: sketch.jaccard(sketch))
    if hasattr(sketch, "merge"):
        calls.append(lambda: sketch.merge(sketch.copy()))
    return calls


@pytest.mark.parametrize("kind", ALL)
def test_a_named_sketch(shared, kind):
    """Made, opened, pickled, copied, unlinked and made again, in the same memory."""
    made = ALL[kind](shared, "s")
    with pytest.raises(StructureExists, match="'s' exists already"):
        ALL[kind](shared, "s")
    other = type(made).open(shared, "s")
    made.add_many(["tea", "oat"])
    third = pickle.loads(pickle.dumps(other))
    assert made.to_bytes() == other.to_bytes() == third.to_bytes() == made.copy().to_bytes()
    assert (other.name, other.arena, other.added, other.copy().name) == ("s", shared, 2, None)
    assert repr(made).endswith(", 's'>")
    assert {int(s._place.root) % 8 for s in (made, other)} == {0}
    for call in every_call(third):
        call()
    used = shared.used
    for _ in range(3):
        sent = pickle.dumps(made)
        type(made).unlink(shared, "s")
        for call in every_call(made):
            with pytest.raises(SketchGone, match=r"'s' in .* is gone: it was unlinked"):
                call()
        with pytest.raises(StructureMissing):
            type(made).open(shared, "s")
        made = ALL[kind](shared, "s")
        with pytest.raises(SketchGone):
            pickle.loads(sent)
        assert made.added == 0
        assert "tea" not in made if hasattr(made, "__contains__") else True
    assert shared.used == used


def test_a_private_arena(arena):
    made = Bloom.create(arena, "s", 100)
    made.add("tea")
    assert "tea" in Bloom.open(arena, "s")
    again = pickle.loads(pickle.dumps(made))
    assert again.arena is None
    assert "tea" in again


def test_names_lead_to_their_kinds(shared):
    Bloom.create(shared, "filter", 100)
    Ctrie.create(shared, "map", keys=int, values=int)
    with pytest.raises(ValueError, match=r"'filter' is a Bloom, not a HyperLogLog; open it with Bloom\.open"):
        HyperLogLog.open(shared, "filter")
    with pytest.raises(ValueError, match="'map' is a Ctrie, not a Bloom"):
        Bloom.open(shared, "map")
    with pytest.raises(ValueError, match="'map' is a Ctrie, not a Bloom"):
        Bloom.unlink(shared, "map")
    with pytest.raises(ValueError, match="'filter' is a Bloom, not a Ctrie"):
        Ctrie.open(shared, "filter")
    for call in (Bloom.open, Bloom.unlink, partial(Bloom.create, expected=5)):
        with pytest.raises(TypeError, match="arena must be an Arena"):
            call("arena", "filter")


def test_an_arena_without_room(shared_name):
    with Arena.create(name=shared_name, capacity=4 << 20) as arena:
        before = arena.allocated
        with pytest.raises(ArenaFull, match="no room for a sketch of 4,194,304 bytes"):
            Bloom.create(arena, "s", 3_000_000)
        assert (arena.structures(), arena.allocated) == ({}, before)
        for number in range(64):
            InverseBloom.create(arena, f"s{number}", 2)
        before = arena.allocated
        with pytest.raises(DirectoryFull):
            InverseBloom.create(arena, "more", 2)
        assert arena.allocated == before


def test_a_closed_arena_and_another_one(tmp_path):
    path = tmp_path / "arena"
    with Arena.create(path=path, capacity=8 << 20) as arena:
        sketches = [make(arena, kind) for kind, make in ALL.items()]
        sent = pickle.dumps(sketches[0])
    for sketch in sketches:
        for call in every_call(sketch):
            with pytest.raises(ArenaClosed):
                call()
        assert repr(sketch)
    path.unlink()
    with Arena.create(path=path, capacity=8 << 20) as arena:
        Bloom.create(arena, "bloom", 10_000)
        with pytest.raises(ArenaInvalid, match="another arena has taken the place"):
            pickle.loads(sent)


def test_a_version_that_is_not_ours(shared):
    made = Bloom.create(shared, "s", 100)
    shared.words[made._place.root + int(VERSION)] = 9
    with pytest.raises(ArenaInvalid, match="of version 9, this latchfree reads 1"):
        Bloom.open(shared, "s")


def test_unlinking_waits_for_a_call(shared, monkeypatch):
    """Who is pinned keeps the memory; unlinking gives up after a while, and a repair gives the memory back."""
    monkeypatch.setattr("latchfree.sketches.common.place._PATIENCE", 0.05)
    made = Bloom.create(shared, "s", 100_000)
    before = shared.allocated
    epoch = int(shared.words[32])
    with shared.lend() as other:
        shared.words[other + 8] = epoch << 1 | 1
        Bloom.unlink(shared, "s")
        shared.words[other + 8] = 0
    assert shared.allocated == before
    assert shared.structures() == {}
    with pytest.raises(SketchGone):
        made.add("tea")


def test_children_add_to_one_sketch(shared):
    """Forked and by pickle; a child's unlinking counts, too."""
    sketches = [make(shared, kind) for kind, make in MAKERS.items()]

    def work():
        for sketch in sketches:
            sketch.add_many(np.arange(1000))
            sketch.add("child")

    in_child(work)
    bloom, hll, count, inverse = sketches
    assert "child" in bloom
    assert "child" in inverse
    assert bloom.contains_many(np.arange(1000)).all()
    assert 950 < hll.estimate() < 1050
    assert count.estimate("child") == 1
    assert [sketch.added for sketch in sketches] == [1001] * 4
    in_child(lambda: Bloom.unlink(shared, "bloom"))
    with pytest.raises(SketchGone):
        bloom.add("tea")


def test_a_private_sketch_in_a_child():
    sketch = CountMin()
    sketch.add("tea", 3)
    in_child(lambda: sketch.add("tea") or sketch.estimate("tea") == 4)
    assert sketch.estimate("tea") == 3


def test_the_reaper_takes_no_sketch_for_a_trie(shared):
    """Once it did: what it read as a table of snapshots led to the header of the arena."""
    Ctrie.create(shared, "map", keys=int, values=int)
    sketches = [make(shared, kind) for kind, make in MAKERS.items()]
    before = [sketch.to_bytes() for sketch in sketches], shared.words[:128].tolist()
    for _ in range(5):
        shared.reap()
    header = shared.words[:128].tolist()
    changing = {32, 40, 56, 57}  # epoch, slots claimed, when the epoch was seen
    assert [at for at in range(128) if header[at] != before[1][at] and at not in changing] == []
    assert [sketch.to_bytes() for sketch in sketches] == before[0]


# from outside --------------------------------------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "arena"
    with Arena.create(path=path, capacity=16 << 20) as arena:
        for kind, make in MAKERS.items():
            make(arena, kind).add_many(["tea", "oat", "tea"])
        Ctrie.create(arena, "map", keys=int, values=int)[1] = 2
    return path


def place_in(path, name):
    with Arena.open(path) as arena:
        entry = arena.structures()[name]
        return entry.root


def test_fsck_knows_sketches(path):
    report = fsck(path=path)
    assert report.clean, report
    assert report.leaked == 0
    found = {each.name: (each.kind, each.keys, each.values, each.entries) for each in report.structures}
    assert found == {
        "bloom": ("Bloom", "items", "bits", 3),
        "count": ("CountMin", "items", "counters", 3),
        "hll": ("HyperLogLog", "items", "registers", 3),
        "inverse": ("InverseBloom", "items", "hashes", 3),
        "map": ("Ctrie", "int", "int", 1),
    }
    contents = {each.name: (each.kind, each.entries) for each in inspect(path=path).structures}
    assert contents == {name: (kind, entries) for name, (kind, _, _, entries) in found.items()}


def test_a_repair_keeps_sketches_and_frees_what_unlinking_left(path):
    with Arena.open(path) as arena:
        before = {name: sketch_of(arena, name).to_bytes() for name in MAKERS}
        made = Bloom.create(arena, "left", 10_000)
        SKETCH.create(arena.base, arena.interpreter_participant(), 4096)
        assert made.added == 0
    assert fsck(path=path).leaked == 8 * 4096
    report = fsck(path=path, repair=True)
    assert report.clean
    assert fsck(path=path).leaked == 0
    with Arena.open(path) as arena:
        assert {name: sketch_of(arena, name).to_bytes() for name in MAKERS} == before
        Bloom.open(arena, "left").add("tea")
        assert Ctrie.open(arena, "map", keys=int, values=int)[1] == 2


def sketch_of(arena, name):
    kinds = {"bloom": Bloom, "hll": HyperLogLog, "count": CountMin, "inverse": InverseBloom}
    return kinds[name].open(arena, name)


@pytest.mark.parametrize(
    ("name", "field", "value", "text"),
    [
        ("bloom", 0, 0, "begins no such sketch"),
        ("bloom", 1, 5, "is not in the memory that it names"),
        ("bloom", 2, 64, "has not the size of its shape"),
        ("bloom", 3, 17, "begins no such sketch"),
        ("bloom", 4, 2, "begins no such sketch of version 1"),
        ("bloom", 6, 1, "has not the size of its shape"),
        ("bloom", 8, 0, "has the shape"),
        ("count", 9, 17, "has the shape"),
        ("hll", 24, 255, "registers that are too high"),
    ],
)
def test_damage_is_found(path, name, field, value, text):
    at = place_in(path, name) + field
    words = np.memmap(path, np.uint64, "r+")
    words[at] = value
    words.flush()
    del words
    report = fsck(path=path)
    assert len(report.damage) == 1
    assert name in report.damage[0]
    assert text in report.damage[0]
    assert not report.sound


def test_two_structures_in_one_memory(path):
    with Arena.open(path) as arena:
        bloom, hll = (sketch_of(arena, name)._place.root for name in ("bloom", "hll"))
        arena.words[hll : hll + 24] = arena.words[bloom : bloom + 24]
        row = 128 + 16 * [entry.name for entry in arena.directory.entries()].index("hll")
        assert row
        for at in range(128, 128 + 64 * 16, 16):
            if int(arena.words[at + 1]) == hll:
                arena.words[at + 1] = bloom
                arena.words[at + 2] = 16
    assert "shares words" in str(fsck(path=path).damage)


def test_what_the_dead_announced_is_taken_back(path):
    with Arena.open(path) as arena:
        root = sketch_of(arena, "count")._place.root
        arena.words[root + 17] = 1000
    fsck(path=path, repair=True)
    with Arena.open(path) as arena:
        assert int(arena.words[root + 17]) == 0
        assert int(FIRST_CELL) == 24


# kills ---------------------------------------------------------------------------------------------------------------


def adding(path, number, acknowledged):
    """Add items of its own for ever, and say which were added."""
    with Arena.open(path) as arena:
        bloom, hll, count, inverse = (sketch_of(arena, name) for name in MAKERS)
        kll = KLL.open(arena, "kll")
        for step in range(1 << 30):
            items = np.arange(step * 64, (step + 1) * 64) + (number << 40)
            bloom.add_many(items)
            hll.add_many(items)
            count.add_many(items % 97)
            inverse.add_many(items)
            kll.add_many(items)
            os.write(acknowledged, b".")


def kill_some(path, rng, processes, kills, pause):
    """Return of each process that ran how many steps it had acknowledged."""
    running, steps = {}, {}

    def start():
        number = len(steps)
        steps[number] = 0
        ready, tell = os.pipe()
        os.set_blocking(tell, True)
        child = os.fork()
        if child == 0:
            os.close(ready)
            try:
                adding(path, number, tell)
            finally:
                os._exit(1)
        os.close(tell)
        running[child] = (number, ready)

    def drained(child, *, last):
        number, ready = running[child]
        os.set_blocking(ready, last)
        while True:
            try:
                data = os.read(ready, 1 << 16)
            except BlockingIOError:
                return
            if not data:
                return
            steps[number] += len(data)

    def kill(child):
        os.kill(child, signal.SIGKILL)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        drained(child, last=True)
        os.close(running.pop(child)[1])

    for _ in range(processes):
        start()
    while any(steps[number] == 0 for number, _ in running.values()):
        for child in running:
            drained(child, last=False)
        time.sleep(0.01)
    for _ in range(kills):
        until = time.monotonic() + pause
        while time.monotonic() < until:
            for child in running:
                drained(child, last=False)
            time.sleep(0.005)
        kill(rng.choice(sorted(running)))
        start()
    for child in sorted(running):
        kill(child)
    return steps


def nothing_is_lost(path, steps):
    """All that was acknowledged is there, and the arena is whole."""
    items = [np.arange(64 * count) + (number << 40) for number, count in steps.items()]
    everything = np.concatenate(items)
    with Arena.open(path) as arena:
        bloom, hll, count, _ = (sketch_of(arena, name) for name in MAKERS)
        assert bloom.contains_many(everything).all()
        assert hll.estimate() > (1 - 5 * hll.error) * len(everything)
        residues, counts = np.unique(everything % 97, return_counts=True)
        assert (count.estimate_many(residues) >= counts).all()
        kll = KLL.open(arena, "kll")
        for sketch in (bloom, hll, count, kll):
            assert sketch.added >= len(everything)
        # Each process had at most one step that it had not acknowledged.
        assert len(everything) <= kll.count <= len(everything) + 64 * len(steps)
    report = fsck(path=path)
    assert not report.damage
    assert fsck(path=path, repair=True).clean
    assert fsck(path=path).clean


def test_a_process_is_killed(tmp_path, rng):
    path = tmp_path / "arena"
    with Arena.create(path=path, capacity=16 << 20) as arena:
        for kind, make in MAKERS.items():
            make(arena, kind)
        KLL.create(arena, "kll")
    nothing_is_lost(path, kill_some(path, rng, processes=2, kills=1, pause=0.02))


@pytest.mark.slow
def test_eight_processes_of_which_one_is_killed_every_200_ms(tmp_path):
    path = tmp_path / "arena"
    with Arena.create(path=path, capacity=64 << 20) as arena:
        for kind, make in MAKERS.items():
            make(arena, kind) if kind != "bloom" else make(arena, kind, expected=3_000_000)
        KLL.create(arena, "kll")
    nothing_is_lost(path, kill_some(path, random.Random(1), processes=8, kills=50, pause=0.2))
