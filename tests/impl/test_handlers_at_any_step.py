"""A signal handler comes at any step of a call.

If it closes the arena, the call does its work whole, or raises `ArenaClosed`. If it raises, the arena is as good as
before; memory that was taken and not yet handed on may be lost until a repair. If it forks, both processes go on with
the call, and neither touches what is the other's.
"""

import os
import pickle
import sys
import traceback
from contextlib import suppress

import pytest
from stepping import AtLook, AtStep, interrupt

from latchfree import (
    Arena,
    ArenaClosed,
    ConcurrentTrie,
    Ctrie,
    LatchfreeError,
    MadeBeforeFork,
    MessageRing,
    RingBuffer,
    RingGone,
)
from latchfree_fsck import fsck


def used(arena):
    with arena:
        try:
            arena.collect()
        except KeyError as error:  # which is excused elsewhere
            raise AssertionError from error


CALLS = {
    "structures": lambda s: sorted(s.arena.structures()),
    "collect": lambda s: s.arena.collect(),
    "adopt": lambda s: s.arena.adopt(),
    "merge": lambda s: s.arena.merge(),
    "open a map": lambda s: Ctrie.open(s.arena, "stock") is not None,
    "open topics": lambda s: ConcurrentTrie.open(s.arena, "topics") is not None,
    "create a map": lambda s: len(Ctrie.create(s.arena, "other", keys=int, values=int)),
    "create topics": lambda s: len(ConcurrentTrie.create(s.arena, "others")),
    "make a ring": lambda s: RingBuffer(8, arena=s.arena).capacity,
    "create an arena": lambda s: used(Arena.create(path=s.arena.region.where + "-other", capacity=4 << 20)),
    "unlink a map": lambda s: Ctrie.unlink(s.arena, "stock"),
    "unlink topics": lambda s: ConcurrentTrie.unlink(s.arena, "topics"),
    "get": lambda s: s.stock["1"],
    "get nothing": lambda s: s.stock.get("x"),
    "contains": lambda s: "2" in s.stock,
    "put": lambda s: s.stock.put("3", [3]),
    "remove": lambda s: s.stock.remove("1"),
    "pop": lambda s: s.stock.pop("2"),
    "set default": lambda s: s.stock.setdefault("4", [4]),
    "replace if equal": lambda s: s.stock.replace("1", [1], [2]),
    "popitem": lambda s: len(s.stock.popitem()),
    "clear": lambda s: s.stock.clear(),
    "len": lambda s: len(s.stock),
    "get many": lambda s: s.stock.get_many(["1", "2"]),
    "put many": lambda s: s.stock.put_many(["1", "5"], [[1], [5]]),
    "remove many": lambda s: list(s.stock.remove_many(["1", "5"])),
    "items": lambda s: sorted(s.stock.items()),
    "keys": lambda s: sorted(s.stock),
    "snapshot": lambda s: sorted(s.stock.snapshot().items()),
    "read-only snapshot": lambda s: sorted(s.stock.readonly_snapshot().items()),
    "keep a snapshot": lambda s: s.kept.append(s.stock.readonly_snapshot()),
    "keep a writable snapshot": lambda s: s.kept.append(s.stock.snapshot()),
    "keep a private map": lambda s: s.kept.append(Ctrie(keys=str, arena=s.arena)),
    "subscribe": lambda s: s.topics.subscribe("a/c", 3).pattern,
    "unsubscribe": lambda s: s.topics.unsubscribe(s.second),
    "match": lambda s: sorted(s.topics.match("a/b")),
    "matching": lambda s: sorted(each.pattern for each in s.topics.matching("a/b")),
    "has interest": lambda s: s.topics.has_interest("a/b"),
    "match many": lambda s: [sorted(each) for each in s.topics.match_many(["a/b", "c"])],
    "pickle a map": lambda s: pickle.dumps(s.stock) == s.pickled[0],
    "pickle a ring": lambda s: pickle.dumps(s.ring) == s.pickled[1],
    "ring put": lambda s: s.ring.try_put(1),
    "ring get": lambda s: s.ring.try_get(),
    "ring put many": lambda s: s.ring.put_many([1, 2, 3]),
    "ring get many": lambda s: s.ring.get_many(3).tolist(),
    "ring length": lambda s: len(s.ring),
    "message put": lambda s: s.texts.try_put("gun"),
    "message put, waiting": lambda s: s.texts.put("gun"),
    "message get": lambda s: s.texts.try_get(),
    "message put many": lambda s: s.texts.put_many(["gun", "black"]),
    "message put many, more than there is room for": lambda s: s.texts.put_many(["gun", "black", "rose"]),
    "message get many": lambda s: s.texts.get_many(3),
}


class Structures:
    def __init__(self, path):
        self.arena = Arena.create(path=path, capacity=8 << 20)
        self.stock = Ctrie.create(self.arena, "stock", keys=str)
        self.stock.update({"1": [1], "2": [2]})
        self.topics = ConcurrentTrie.create(self.arena, "topics")
        self.topics.subscribe("a/b", 1)
        self.second = self.topics.subscribe("a/#", 2)
        self.ring = RingBuffer(8, arena=self.arena)
        self.ring.put_many([7, 8])
        self.texts = MessageRing(4, holds="str", arena=self.arena)
        self.texts.put_many(["tea", "oat"])
        self.kept = []
        self.pickled = pickle.dumps(self.stock), pickle.dumps(self.ring)


def called(call, structures, after, act):
    """What the call returns or raises, and whether the handler ran."""
    with AtStep(act, after) as handler:
        try:
            found = call(structures)
        except (ArenaClosed, KeyboardInterrupt) as error:
            found = type(error)
    return found, handler.acted


def closed_at_steps(folder, call, onward):
    right, _ = called(call, Structures(folder / "whole"), 1 << 30, None)
    ran, step = True, 0
    while ran:
        structures = Structures(folder / f"{step}")
        found, ran = called(call, structures, step, structures.arena.close)
        assert found in ([right, ArenaClosed] if ran else [right]), f"closed before line {step}"
        structures.arena.close()
        assert structures.arena.closed
        step = onward(step)
    assert step > 2


def interrupted_at_steps(folder, call, onward):
    ran, step = True, 0
    while ran:
        structures = Structures(folder / f"{step}")
        found, ran = called(call, structures, step, interrupt)
        assert ran or found is not KeyboardInterrupt
        still_good(structures)
        structures.arena.close()
        assert structures.arena.closed, f"interrupted before line {step}"
        report = fsck(path=folder / f"{step}", repair=True)
        assert report.clean or (report.repaired and report.memory.leaked < 100), f"interrupted before line {step}"
        step = onward(step)
    assert step > 2


def still_good(structures):
    s = structures
    if "stock" in s.arena.structures():
        assert s.stock.put_many(["7", "8"], [[7], [8]]) is not False
        assert s.stock.get_many(["7", "8"]) == [[7], [8]]
        assert s.stock["7"] == [7]
        assert len(s.stock.readonly_snapshot()) == len(s.stock)
    if "topics" in s.arena.structures():
        s.topics.subscribe("b", 5)
        assert s.topics.match("b") == {5}
    assert s.ring.try_put(5)
    assert len(s.ring) >= 1
    others = MessageRing(8, holds="str", arena=s.arena)
    others.put_many(["white"] * 8)  # in the place of what has been freed
    assert {*s.texts.get_many(4)} <= {"tea", "oat", "gun", "black", "rose"}
    assert others.get_many(8) == ["white"] * 8


class Fork:
    """Forks when called; the process that is not `first` goes on when the other one has ended, or is through."""

    def __init__(self, first):
        self.first, self.child, self.pipe = first, None, os.pipe()

    def __call__(self):
        self.child = os.fork()
        if self.child and self.first == "child":
            self.wait()
        if self.child == 0 and self.first == "parent":
            os.close(self.pipe[1])
            os.read(self.pipe[0], 1)

    def wait(self):
        os.close(self.pipe[1])
        self.status = os.waitstatus_to_exitcode(os.waitpid(self.child, 0)[1])


def forked_at_looks(folder, call, onward, first):
    ran, step = True, 0
    while ran:
        structures, fork, right = Structures(folder / f"{step}"), Fork(first), False
        try:
            with AtLook(fork, step) as handler:
                try:
                    call(structures)
                except MadeBeforeFork:
                    assert fork.child == 0
                except (KeyError, FileExistsError, LatchfreeError):
                    assert handler.acted  # the other process was faster
            good_for_two(structures)
            structures.arena.close()
            right = structures.arena.closed
        except BaseException:
            traceback.print_exc()
            raise
        finally:
            if fork.child == 0:
                os._exit(0 if right else 1)
            if first == "parent" or not handler.acted:
                fork.wait() if fork.child else os.close(fork.pipe[1])
            os.close(fork.pipe[0])
        ran = handler.acted
        assert not ran or fork.status == 0, f"forked at look {step}"
        report = fsck(path=folder / f"{step}", repair=True)
        assert report.clean or (report.repaired and report.memory.leaked < 100), f"forked at look {step}: {report}"
        (folder / f"{step}").unlink()
        (folder / f"{step}-other").unlink(missing_ok=True)
        step = onward(step)
    assert step > 0


def good_for_two(structures):
    """Use what may be there, as the other process does."""
    s = structures
    s.arena.collect()
    s.arena.merge()
    if "stock" in s.arena.structures():
        s.stock.put_many(["7", "8"], [[7], [8]])
        assert s.stock.get_many(["7", "8"]) == [[7], [8]]
        assert s.stock["7"] == [7]
        assert dict(s.stock.readonly_snapshot())["8"] == [8]
    if "topics" in s.arena.structures():
        s.topics.subscribe("b", 5)
        assert s.topics.match("b") == {5}
        assert s.topics.match_many(["b"]).to_pylist() == [[5]]
    for kept in s.kept:
        with suppress(MadeBeforeFork):  # the parent's, who may have dropped it
            assert kept.get("1", [1]) == [1]
    s.kept.clear()
    s.arena.collect()
    with suppress(RingGone):  # the parent has closed the arena
        assert 0 <= len(s.ring) <= 8


def geometric(step):
    return step + 1 + step // 5


def next_one(step):
    return step + 1


@pytest.mark.parametrize("name", CALLS)
def test_a_handler_that_closes_the_arena(tmp_path, name):
    closed_at_steps(tmp_path, CALLS[name], geometric)


@pytest.fixture
def finalizers_may_be_interrupted(monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", lambda told: None)


@pytest.mark.usefixtures("finalizers_may_be_interrupted")
@pytest.mark.parametrize(
    "name", ["create a map", "put many", "snapshot", "match", "unlink topics", "make a ring", "message put"]
)
def test_a_handler_that_raises(tmp_path, name):
    interrupted_at_steps(tmp_path, CALLS[name], geometric)


FORKED = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


@FORKED
@pytest.mark.parametrize(
    ("name", "first"), [("put many", "child"), ("matching", "parent"), ("merge", "child"), ("message put", "child")]
)
def test_a_handler_that_forks(tmp_path, name, first):
    forked_at_looks(tmp_path, CALLS[name], geometric, first)


@pytest.mark.slow
@FORKED
@pytest.mark.parametrize("first", ["child", "parent"])
@pytest.mark.parametrize("name", CALLS)
def test_a_handler_that_forks_at_each_look(tmp_path, name, first):
    forked_at_looks(tmp_path, CALLS[name], next_one, first)


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_a_handler_that_closes_the_arena_at_each_step(tmp_path, name):
    closed_at_steps(tmp_path, CALLS[name], next_one)


@pytest.mark.slow
@pytest.mark.usefixtures("finalizers_may_be_interrupted")
@pytest.mark.parametrize("name", CALLS)
def test_a_handler_that_raises_at_each_step(tmp_path, name):
    interrupted_at_steps(tmp_path, CALLS[name], next_one)
