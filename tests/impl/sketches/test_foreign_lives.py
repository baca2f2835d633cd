"""Sketches of another library's hash in an arena: named, opened, pickled, checked, shared by processes and threads."""

import pickle
from threading import Thread

import numpy as np
import pyarrow as pa
import pytest
from children import in_child
from foreign_bytes import integers, texts

from latchfree import Arena, ArenaInvalid
from latchfree.sketches import Bloom, CountMin, HyperLogLog, SketchInvalid, SketchMismatch, from_bytes
from latchfree.sketches.kernels.record import FIRST_CELL, SEED, SHAPE, VERSION
from latchfree_fsck import fsck, inspect

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

MAKERS = {
    "hll": (HyperLogLog, {"error": 0.05, "hash": "datasketches"}),
    "counts of datasketches": (CountMin, {"error": 0.05, "hash": "datasketches", "seed": 2**64 - 1}),
    "counts of spark": (CountMin, {"error": 0.05, "hash": "spark", "seed": -9}),
    "bits of version 1": (Bloom, {"expected": 1_000, "hash": "spark-v1"}),
    "bits of version 2": (Bloom, {"expected": 1_000, "hash": "spark-v2", "seed": -(2**31)}),
}


@pytest.fixture
def shared(shared_name):
    with Arena.create(name=shared_name, capacity=64 << 20) as arena:
        yield arena


@pytest.fixture(params=MAKERS)
def maker(request):
    cls, arguments = MAKERS[request.param]
    return cls, arguments


def foreign_bytes_of(sketch):
    return sketch.to_datasketches() if sketch.hash == "datasketches" else sketch.to_spark()


def test_the_hash_stays_wherever_the_sketch_goes(shared, maker):
    cls, arguments = maker
    private, named = cls(**arguments), cls.create(shared, "s", **arguments)
    for each in (private, named, cls.open(shared, "s"), pickle.loads(pickle.dumps(named))):
        each.add_many(texts())
        assert (each.hash, each.seed) == (arguments["hash"], private.seed)
    named.add_many(integers())
    private.add_many(integers())
    for again in (named.copy(), from_bytes(named.to_bytes()), pickle.loads(pickle.dumps(named.copy()))):
        assert (again.hash, again.seed, again.arena) == (private.hash, private.seed, None)
        assert again.to_bytes() == named.to_bytes()
        again.merge(named)
    assert foreign_bytes_of(named) == foreign_bytes_of(cls.open(shared, "s"))
    assert repr(named).endswith(f", hash {arguments['hash']!r}, 's'>")
    if cls is not CountMin:
        assert foreign_bytes_of(named) == foreign_bytes_of(private)
    cls.unlink(shared, "s")


def test_two_processes_add_to_one(shared, maker):
    cls, arguments = maker
    named, whole = cls.create(shared, "s", **arguments), cls(**arguments)
    whole.add_many(texts())
    whole.add_many(integers())

    def other():
        opened = cls.open(shared, "s")
        opened.add_many(pa.array(integers()))
        return opened.hash == arguments["hash"]

    named.add_many(pa.array(texts()))
    in_child(other)
    assert named.to_bytes() == whole.to_bytes()


def test_threads_lose_nothing(maker):
    cls, arguments = maker
    shared, whole = cls(**arguments), cls(**arguments)
    parts = np.array_split(np.arange(40_000), 4)
    threads = [Thread(target=shared.add_many, args=(part,)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    whole.add_many(np.arange(40_000))
    assert shared.to_bytes() == whole.to_bytes()


def test_info_and_fsck(tmp_path, maker):
    cls, arguments = maker
    path = tmp_path / "arena"
    with Arena.create(path=path, capacity=8 << 20) as arena:
        made = cls.create(arena, "s", **arguments)
        made.add_many(texts())
        root = made._place.root
    (found,) = inspect(path=path).structures
    assert (found.name, found.keys, found.kind) == ("s", arguments["hash"], cls.__name__)
    assert not fsck(path=path).damage
    for word, value in ((SHAPE, 0), (SHAPE + np.uint64(3), 999), (VERSION, 1), (VERSION, 3)):
        with Arena.open(path) as arena:
            before, arena.words[root + int(word)] = arena.words[root + int(word)], value
            with pytest.raises(ArenaInvalid, match=r"is damaged|of version"):
                cls.open(arena, "s")
        assert fsck(path=path).damage
        with Arena.open(path) as arena:
            arena.words[root + int(word)] = before
    assert not fsck(path=path).damage
    if arguments["hash"] != "datasketches" or cls is HyperLogLog:
        with Arena.open(path) as arena:
            arena.words[root + int(SEED)] = 1 << 40
            with pytest.raises(ArenaInvalid, match="has no seed 1099511627776"):
                cls.open(arena, "s")
        assert fsck(path=path).damage


def test_a_register_that_is_too_high(tmp_path):
    """A coupon has ranks up to 63, where a hash of 64 bits ends at 61 for 16 registers."""
    path = tmp_path / "arena"
    for rank, damaged in ((63, False), (64, True)):
        with Arena.create(path=path, capacity=8 << 20) as arena:
            made = HyperLogLog.create(arena, "s", 0.26, hash="datasketches")
            arena.words[made._place.root + int(FIRST_CELL)] = rank
            if damaged:
                with pytest.raises(SketchInvalid, match="a register holds 64, the most is 63"):
                    made.copy()
            else:
                assert made.copy().estimate() > 0
        assert bool(fsck(path=path).damage) == damaged
        path.unlink()


@pytest.mark.parametrize("own", [False, True])
def test_another_hash_is_not_merged(maker, own):
    cls, arguments = maker
    others = [kind for kind in MAKERS.values() if kind[0] is cls and kind[1]["hash"] != arguments["hash"]]
    if own:
        others = [(cls, {key: value for key, value in arguments.items() if key not in ("hash", "seed")})]
    sketch = cls(**arguments)
    sketch.add("tea")
    before = sketch.to_bytes()
    for _, other in others:
        with pytest.raises(
            SketchMismatch, match=rf"one by '{arguments['hash']}', the other by .*make both with the same"
        ):
            sketch.merge(cls(**other))
    assert sketch.to_bytes() == before


def test_our_own_hash_is_what_it_was():
    """No shape, record or bytes of ours have changed: these are the heads of sketches that were stored before."""
    for sketch, head in (
        (HyperLogLog(0.25), "4c46534b4554434801001100020000"),
        (CountMin(0.5, 0.5), "4c46534b4554434801001200020000"),
        (Bloom(10), "4c46534b4554434801001000020000"),
    ):
        assert sketch.to_bytes()[:15].hex() == head
        assert sketch.hash == "latchfree"
        assert "hash" not in repr(sketch)
    assert HyperLogLog(0.25, hash="datasketches").to_bytes()[:15].hex() == "4c46534b4554434801001100010100"
