"""Snapshots that compiled code takes and gives back: whole or not at all, and what goes with them goes with them."""

import gc
import queue
import sys
import threading

import pytest
from ctrie_exact import exact, registered, settle

from latchfree import Arena, Ctrie
from latchfree.ctrie.bases import COMPILED
from latchfree.ctrie.codecs import codec_for
from latchfree.ctrie.holds import Hold, NewOwner, ObjectsOwner, Owner, SharedHold
from latchfree.ctrie.kernels.shape import REGISTERED
from latchfree.ctrie.store import Store
from latchfree.ctrie.view import Snapshot

compiled = pytest.mark.skipif(not COMPILED, reason="maps are plain here")

KINDS = {"integers": {"keys": int, "values": int}, "texts": {"keys": str, "values": str}, "objects": {}}
TAKEN = {"read-only": Ctrie.readonly_snapshot, "writable": Ctrie.snapshot}


@pytest.fixture(params=KINDS)
def trie(request, arena):
    pairs = [(str(n), str(n)) if request.param == "texts" else (n, n) for n in range(100)]
    return Ctrie(pairs, arena=arena, **KINDS[request.param])


def is_exact(trie):
    """Whether the arena has lost nothing; what objects are held is not looked at."""
    if not trie._store.references:
        exact(trie.arena, [trie])
    return True


def frames_of(call):
    """The names of the Python functions that run during a call."""
    names = []
    sys.setprofile(lambda frame, event, argument: names.append(frame.f_code.co_name) if event == "call" else None)
    try:
        call()
    finally:
        sys.setprofile(None)
    return names


@compiled
def test_one_frame_for_a_readonly_snapshot_and_two_for_a_writable_one():
    trie = Ctrie({1: 2}, keys=int, values=int, arena=Arena.anonymous(4 << 20))
    trie.readonly_snapshot(), trie.snapshot()
    assert frames_of(trie.readonly_snapshot) == ["readonly_snapshot"]
    assert frames_of(trie.snapshot) == ["snapshot", "beside"]


@compiled
def test_in_a_shared_arena_python_code_takes_and_ends_them(tmp_path):
    with Arena.create(path=tmp_path / "arena", capacity=8 << 20) as arena:
        trie = Ctrie({1: 2}, keys=int, values=int, arena=arena)
        assert trie._store.view_now() is trie._store.fork_now() is NotImplemented
        assert type(trie.readonly_snapshot()._hold) is SharedHold
        assert type(trie.snapshot()._store.owner) is NewOwner
        assert registered(trie) == 0


@pytest.mark.parametrize("kind", TAKEN)
def test_what_is_taken_shows_the_contents_and_goes(trie, kind):
    contents = dict(trie.items())
    taken = TAKEN[kind](trie)
    deeper = taken.snapshot() if kind == "writable" else taken.__copy__()
    trie.clear()
    assert dict(taken.items()) == dict(deeper.items()) == contents
    assert registered(trie) == 1
    del taken
    assert registered(trie) == 1
    del deeper
    assert registered(trie) == 0
    assert is_exact(trie)


@pytest.mark.parametrize("kind", TAKEN)
def test_a_map_that_was_not_made_is_named(kind):
    with pytest.raises(AttributeError, match="_store"):
        TAKEN[kind](Ctrie.__new__(Ctrie))


@compiled
def test_a_store_that_no_map_has_refuses(trie):
    blob = codec_for(bytes)
    for store in (Store.__new__(Store), Store(trie.arena, trie._store.trie, blob, blob, 0)):
        for call in (store.view_now, store.fork_now):
            with pytest.raises(SystemError):
                call()


@compiled
@pytest.mark.parametrize("cls", [Hold, SharedHold, Owner, NewOwner, ObjectsOwner])
def test_one_that_was_not_filled_in_ends_in_silence(cls):
    empty = cls.__new__(cls)
    assert gc.get_referents(empty) in ([], [cls])
    empty.end()
    empty.__del__()


def test_an_owner_ends_a_snapshot_that_has_no_hold(trie):
    """As after a signal handler that raises when the snapshot was taken, and no hold was made yet."""
    copy = trie.snapshot()
    copy._store.take_now()
    copy.put(*next(iter(trie.items())))
    assert registered(copy) == 1
    del copy
    assert registered(trie) == 0
    assert is_exact(trie)


def test_an_exception_on_its_way_stays_as_it_is(trie):
    def fails():
        copy = trie.snapshot()
        copy._store.take_now()
        kept = trie.readonly_snapshot(), trie.snapshot(), copy
        raise LookupError(len(kept))

    with pytest.raises(LookupError, match="3"):
        fails()
    gc.collect()
    assert registered(trie) == 0


def test_a_cycle_through_a_codec_is_collected():
    class Text(type(codec_for(str))):
        """A codec that refers to a snapshot of the map it serves."""

        name = "text"

    arena = Arena.anonymous(8 << 20)
    codec = Text()
    trie = Ctrie({"tea": 1}, keys=codec, values=int, arena=arena)
    codec.taken = trie.readonly_snapshot()
    where = trie._store.trie
    del codec
    gc.collect()
    assert int(arena.words[where + int(REGISTERED)]) == 1
    del trie
    gc.collect()
    settle(arena)
    exact(arena, [])


def test_a_cycle_with_the_arena_of_a_named_map_is_collected(arena):
    """Such a map has no owner, and the collector finalizes in any order."""
    for _ in range(5):
        arena = Arena.anonymous(8 << 20)
        trie = Ctrie.create(arena, "stock", keys=int, values=int)
        trie.update((n, n) for n in range(50))
        cycle = [arena, trie, trie.readonly_snapshot(), trie.snapshot(), trie.snapshot().readonly_snapshot()]
        cycle += [cycle, iter(cycle[2].items())]
        assert next(cycle[-1])
        trie[1] = 5
        del arena, trie, cycle
        gc.collect()


@pytest.mark.parametrize("kind", ["integers", "objects"])
def test_many_threads_take_what_others_drop(kind):
    arena = Arena.anonymous(128 << 20)
    trie = Ctrie({n: n for n in range(500)}, arena=arena, **KINDS[kind])
    taken, wrong = queue.SimpleQueue(), []

    def take():
        for n in range(600):
            each = trie.snapshot() if n % 3 == 0 else trie.readonly_snapshot()
            if n % 5 == 0:
                each = [each, each.snapshot() if n % 3 == 0 else iter(each)]
                each.append(each)
            taken.put(each)
            trie[n % 500] = n
            if n % 100 == 0:
                gc.collect()

    def drop():
        while (each := taken.get()) is not None:
            if not isinstance(each, list) and 499 not in each:
                wrong.append(each)
            del each

    droppers, takers = ([threading.Thread(target=target) for _ in range(2)] for target in (drop, take))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for each in droppers + takers:
            each.start()
        for each in takers:
            each.join()
        for _ in droppers:
            taken.put(None)
        for each in droppers:
            each.join()
    finally:
        sys.setswitchinterval(interval)
    gc.collect()
    assert (wrong, registered(trie)) == ([], 0)
    trie.clear()
    assert is_exact(trie)


def test_a_chain_of_copies_goes_without_a_deep_stack():
    trie = Ctrie({1: 1}, keys=int, values=int, arena=Arena.anonymous(64 << 20))
    copy = trie
    for n in range(3000):
        copy = copy.snapshot()
        copy[1] = n
    assert copy[1] == 2999
    del copy
    gc.collect()
    assert registered(trie) == 0


def test_the_classes_are_the_documented_ones(trie):
    assert type(trie.readonly_snapshot()) is Snapshot
    assert type(trie.snapshot()) is Ctrie
