"""Rings with a name: found by others, kept by files, mended, checked and repaired, unlinked."""

import os
import pickle
import signal

import numpy as np
import pytest
from children import in_child

from latchfree import (
    Arena,
    ArenaClosed,
    ArenaFull,
    Bloom,
    MessageRing,
    RingBuffer,
    RingEmpty,
    RingGone,
    RingShutDown,
    StructureExists,
    StructureMissing,
)
from latchfree.arena.layout import H_OWNED
from latchfree.streams.kernels import layout
from latchfree.streams.named import NAMED, slot_of
from latchfree.streams.ownership import reclaim
from latchfree_fsck import fsck, inspect

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def test_a_name_leads_to_the_ring(shared):
    made = RingBuffer.create(shared, "jobs", 8, when_full="reject")
    with pytest.raises(StructureExists):
        RingBuffer.create(shared, "jobs", 8)
    other, third = RingBuffer.open(shared, "jobs"), pickle.loads(pickle.dumps(made))
    made.put(1)
    in_child(lambda: other.put(2) and RingBuffer.open(shared, "jobs").put(3))
    assert third.get_many(9).tolist() == [1, 2, 3]
    assert (other.name, third.name, other.capacity, other.when_full) == ("jobs", "jobs", 8, "reject")
    assert RingBuffer(2, arena=shared).name is None
    with pytest.raises(ValueError, match=r"'jobs' is a RingBuffer, not a Bloom; open it with RingBuffer\.open"):
        Bloom.open(shared, "jobs")
    for call in (RingBuffer.open, RingBuffer.unlink):
        with pytest.raises(StructureMissing):
            call(shared, "none")
        with pytest.raises(TypeError, match="arena must be an Arena"):
            call("arena", "jobs")
    with pytest.raises(ValueError, match="a private arena has no names"):
        RingBuffer.create(Arena.anonymous(8 << 20), "jobs", 8)


def test_it_outlives_its_maker(tmp_path):
    """No reaper takes it for a ring that a dead opening has left."""
    path = tmp_path / "arena"

    def make():
        arena = Arena.open(path)
        RingBuffer.create(arena, "jobs", 8).put_many([1, 2, 3])
        os.kill(os.getpid(), signal.SIGKILL)

    with Arena.create(path=path, capacity=8 << 20) as arena:
        child = os.fork()
        if child == 0:
            try:
                make()
            finally:
                os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        ring = RingBuffer.open(arena, "jobs")
        reclaim(arena, lambda identity: identity != arena.identity)  # what the reaper does, with all others dead
        assert ring.get_many(2).tolist() == [1, 2]
        ring.close()
        with pytest.raises(RingGone, match="closed here"):
            ring.try_get()
        del ring
        assert RingBuffer.open(arena, "jobs").get_many(9).tolist() == [3]


@pytest.mark.parametrize("make", [RingBuffer.create, MessageRing.create])
def test_unlinking_gives_the_memory_back(shared, make):
    """With what is still in the ring; and in the same words again and again."""
    made = make(shared, "jobs", 8)
    messages = isinstance(made, MessageRing)
    kind = type(made)
    sent = pickle.dumps(made)
    kind.unlink(shared, "jobs")
    for call in (made.try_get, made.get, made.counts, lambda: len(made), lambda: pickle.loads(sent)):
        with pytest.raises(RingGone):
            call()
    with pytest.raises(RingGone, match=r"the ring 'jobs' in .* is gone: it was unlinked"):
        made.try_get()
    with pytest.raises(StructureMissing):
        kind.open(shared, "jobs")
    before = shared.allocated
    for _ in range(50):
        again = make(shared, "jobs", 8)
        again.put_many([b"a" * 100, b"", b"b"] if messages else [1, 2, 3])
        kind.unlink(shared, "jobs")
    assert shared.allocated == before


def test_two_who_unlink(shared):
    RingBuffer.create(shared, "jobs", 8)
    root = shared.directory.find("jobs").root
    assert slot_of(shared.words, root)
    RingBuffer.unlink(shared, "jobs")
    with pytest.raises(StructureMissing):
        RingBuffer.unlink(shared, "jobs")
    assert not slot_of(shared.words, root)


def test_an_arena_without_room(shared_name):
    with Arena.create(name=shared_name, capacity=4 << 20) as arena:
        before = arena.allocated
        with pytest.raises(ArenaFull):
            RingBuffer.create(arena, "jobs", 1 << 20)
        assert arena.structures() == {}
        RingBuffer.create(arena, "jobs", 8)
        RingBuffer.unlink(arena, "jobs")
        assert arena.allocated <= before + 1024  # a table of the roster


def test_a_file_keeps_ring_and_messages(tmp_path):
    path = tmp_path / "arena"
    with Arena.create(path=path, capacity=16 << 20) as arena:
        ints, texts = RingBuffer.create(arena, "ints", 8), MessageRing.create(arena, "texts", 8, "str")
        ints.put_many(range(5))
        for _ in range(20):  # positions have gone around
            texts.put("x" * 300)
            texts.get()
        texts.put_many(["tea", "", "ü" * 500])
    with pytest.raises(ArenaClosed):
        texts.get()
    report = fsck(path=path)
    assert report.clean, (report.faults, report.leaked)
    assert [(each.kind, each.name, each.values, each.entries) for each in report.structures] == [
        ("RingBuffer", "ints", "int", 5),
        ("RingBuffer", "texts", "str", 3),
    ]
    assert [each.entries for each in inspect(path=path).structures] == [5, 3]
    with Arena.open(path) as arena:
        assert MessageRing.open(arena, "texts").get_many(9) == ["tea", "", "ü" * 500]
        assert RingBuffer.open(arena, "ints").get_many(9).tolist() == [0, 1, 2, 3, 4]
        with pytest.raises(
            ValueError, match=r"'texts' is a MessageRing, not a RingBuffer; open it with MessageRing\.open"
        ):
            RingBuffer.open(arena, "texts")
        with pytest.raises(
            ValueError, match=r"'ints' is a RingBuffer, not a MessageRing; open it with RingBuffer\.open"
        ):
            MessageRing.open(arena, "ints")


def test_a_repair_keeps_named_rings_and_frees_the_others(tmp_path):
    """After it they are mended and unlinked as before; a ring of a killed process, and what it held, is free."""
    path = tmp_path / "arena"

    def work():
        arena = Arena.open(path)
        RingBuffer.open(arena, "ints").put_many([1, 2])
        MessageRing.open(arena, "texts").put("tea")
        left = MessageRing(8, "str", arena=arena)
        left.put("left behind" * 50)
        os.kill(os.getpid(), signal.SIGKILL)

    with Arena.create(path=path, capacity=16 << 20) as arena:
        RingBuffer.create(arena, "ints", 8)
        MessageRing.create(arena, "texts", 8, "str")
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    report = fsck(path=path)
    assert not report.damage
    assert fsck(path=path, repair=True).clean
    assert fsck(path=path).clean
    with Arena.open(path) as arena:
        for name, kind, found in (("ints", RingBuffer, [1, 2]), ("texts", MessageRing, ["tea"])):
            ring = kind.open(arena, name)
            assert slot_of(arena.words, arena.directory.find(name).root)
            assert list(ring.get_many(9)) == found
            ring.put(found[0])
            kind.unlink(arena, name)
        assert arena.structures() == {}
    assert fsck(path=path).clean


@pytest.mark.parametrize(
    ("word", "value", "text"),
    [
        (int(layout.MASK), 6, "begins no ring"),
        (int(layout.NUMBER), 0, "begins no ring that is in use"),
        (int(layout.WHEN_FULL), 9, "begins no ring that is in use"),
        (int(layout.CELLS), 1 << 40, "outside of the arena"),
        (int(layout.HEADER), 1 << 40, "not in the memory that it names"),
        (int(layout.ENQ), 100, "further apart"),
    ],
)
def test_damage_is_named(tmp_path, word, value, text):
    path = tmp_path / "arena"
    with Arena.create(path=path, capacity=16 << 20) as arena:
        RingBuffer.create(arena, "ints", 8)
        root = arena.directory.find("ints").root
    data = np.memmap(path, np.uint64, "r+")
    data[root + word] = value
    data.flush()
    assert text in fsck(path=path).damage[0]


def test_a_message_that_leads_nowhere_is_damage(tmp_path):
    path = tmp_path / "arena"
    with Arena.create(path=path, capacity=16 << 20) as arena:
        MessageRing.create(arena, "texts", 8, "str").put("tea")
        root = arena.directory.find("texts").root
        cells = int(arena.words[root + int(layout.CELLS)])
        arena.words[cells + int(layout.VALUE)] = 7
    assert "a message is said to be at word 7" in fsck(path=path).damage[0]


def test_a_killed_claimer_is_mended(shared):
    """A put claims a cell of a named ring and dies: the reaper makes a hole, and the next value comes through."""
    ring = RingBuffer.create(shared, "jobs", 4)
    shared.words[ring._ring + int(layout.ENQ)] += 1  # claimed, announced by nobody
    ring.put(7)
    assert ring.get(timeout=60) == 7
    assert ring.counts().mended == 1


def test_shutting_down_and_waiting(shared):
    ring, other = RingBuffer.create(shared, "jobs", 4), RingBuffer.open(shared, "jobs")
    with pytest.raises(RingEmpty):
        other.get(timeout=0)
    ring.put(1)
    in_child(lambda: other.shutdown())
    with pytest.raises(RingShutDown):
        ring.put(2)
    assert other.get() == 1


def test_the_owner_of_a_named_ring_is_no_opening(shared):
    RingBuffer.create(shared, "jobs", 4)
    table = int(shared.words[int(H_OWNED)])
    owners = shared.words[table + 2 : table + 128 : 2].tolist()
    assert [owner for owner in owners if owner] == [NAMED]
    assert shared.identity != NAMED
