"""Topic tries in shared arenas: by name, from several processes, and after some of them were killed."""

import gc
import multiprocessing
import os
import pickle
import random
import re
import signal
import time

import pyarrow as pa
import pytest
import topic_bodies
from ctrie_exact import exact, parted, reached, settle
from topic_walk import check_shape

from latchfree import Arena, Ctrie
from latchfree.ctrie.kernels.shape import REGISTERED
from latchfree.errors import ArenaClosed, StructureExists, StructureMissing
from latchfree.topics import MQTT, ConcurrentTrie, UnknownSubscription

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

SPAWN = multiprocessing.get_context("spawn")
PATIENCE = 1200  # seconds, after which a child is taken for lost


@pytest.fixture(params=["name", "path"])
def shared(request, shared_name, tmp_path):
    where = {"name": shared_name} if request.param == "name" else {"path": tmp_path / "arena"}
    with Arena.create(**where, capacity=64 << 20) as arena:
        yield arena
        gc.collect()


@pytest.fixture
def trie(shared):
    return ConcurrentTrie.create(shared, "interests", "mqtt")


def test_one_by_that_name_is_found_with_what_it_holds(shared, trie):
    other = ConcurrentTrie.open(shared, "interests")
    one = trie.subscribe("a/+", 7)
    two = other.subscribe("a/#", "ann", queue="q")
    three = trie.subscribe("$share/g/a/b", b"\0\xff")
    assert other.match("a/b") == trie.match("a/b") == {7, "ann", b"\0\xff"}
    assert set(other.matching("a/b")) == set(trie.subscriptions()) == {one, two, three}
    other.unsubscribe(one)
    with pytest.raises(UnknownSubscription):
        trie.unsubscribe(one)
    assert trie.match("a") == {"ann"}
    assert trie.dialect is other.dialect is MQTT
    assert (len(trie), len(other)) == (2, 2)
    exact(shared, [trie])


def test_bulk_calls_with_any_subscribers(trie):
    trie.subscribe_column(pa.array(["a/1", "a/2"]), [1, 2])
    topics = pa.array([f"a/{k % 3}" for k in range(3000)])
    assert trie.match_many(topics).to_pylist() == [[], [1], [2]] * 1000
    trie.subscribe("+/0", "zero")
    trie.subscribe("a/0", "zero")
    with pytest.raises(TypeError, match="do not fit one Arrow array"):
        trie.match_many(topics)
    for each in list(trie.subscriptions("a/1")) + list(trie.subscriptions("a/2")):
        trie.unsubscribe(each)
    assert trie.match_many(topics).to_pylist() == [["zero"], [], []] * 1000
    with trie.snapshot() as snapshot:
        trie.unsubscribe_all("zero")
        assert snapshot.match_many(topics).to_pylist() == [["zero"], [], []] * 1000
    assert trie.match_many(topics[:3]).to_pylist() == [[], [], []]


@pytest.mark.parametrize(
    ("subscriber", "error", "text"),
    [
        ((1, 2), TypeError, "are int, str or bytes, which every process can read, not tuple"),
        (True, TypeError, "not bool"),
        (1.5, TypeError, "not float"),
        (1 << 62, ValueError, "from -2**62 to 2**62 - 1, got 4611686018427387904; use str"),
        ("x" * 65_536, ValueError, "a subscriber has 65,536 bytes, and 65,535 are allowed"),
        ("\udc80", ValueError, "a subscriber cannot be stored as UTF-8: surrogates not allowed, at character 0"),
    ],
)  # fmt: skip
def test_subscribers_that_no_other_process_could_read_are_refused(trie, subscriber, error, text):
    with pytest.raises(error, match=re.escape(text)):
        trie.subscribe("a", subscriber)
    assert len(trie) == 0
    for good in (-(1 << 62), (1 << 62) - 1, "", b"", "x" * 65_535):
        trie.subscribe("a", good)
    assert trie.match("a") == {-(1 << 62), (1 << 62) - 1, "", b"", "x" * 65_535}


def test_what_is_not_there_or_something_else_is_refused(shared, trie):
    Ctrie.create(shared, "map", keys=int, values=int)
    for act, error, text in (
        (lambda: ConcurrentTrie.open(shared, "none"), StructureMissing, "no structure 'none'; there are: 'interests'"),
        (lambda: ConcurrentTrie.create(shared, "interests"), StructureExists, "'interests' exists already"),
        (lambda: ConcurrentTrie.open(shared, "map"), ValueError, "is a Ctrie, not a ConcurrentTrie; open it with Ct"),
        (lambda: ConcurrentTrie.unlink(shared, "map"), ValueError, "is a Ctrie, not a ConcurrentTrie"),
        (lambda: Ctrie.open(shared, "interests"), ValueError, "is a ConcurrentTrie, not a Ctrie; open it with Conc"),
        (lambda: Ctrie.unlink(shared, "interests"), ValueError, "is a ConcurrentTrie, not a Ctrie"),
        (
            lambda: ConcurrentTrie.open(shared, "interests", "nats"),
            ValueError,
            "structure 'interests' was created with the dialect 'mqtt', not 'nats'; open it with 'mqtt'",
        ),
        (lambda: ConcurrentTrie.create(shared, "x", "kafka"), ValueError, "no topic dialect is called 'kafka'"),
        (
            lambda: ConcurrentTrie.create(shared, "x", topic_bodies.of_my_own()),
            ValueError,
            "a shared trie has one of the dialects amqp, nats, mqtt, which every process knows",
        ),
    ):  # fmt: skip
        with pytest.raises(error, match=re.escape(text)):
            act()
    assert set(shared.structures()) == {"interests", "map"}
    assert ConcurrentTrie.open(shared, "interests", "mqtt").dialect is MQTT


def test_unlinking_gives_the_memory_back_also_under_snapshots(shared, trie):
    empty = ConcurrentTrie.create(shared, "other", "nats")
    empty.snapshot().close()
    before = exact(shared, [trie, empty]).nodes
    for k in range(500):
        empty.subscribe(f"a.{k % 7}.*.{k % 11}", f"client {k}")
    with empty.snapshot() as snapshot:
        ConcurrentTrie.unlink(shared, "other")
        assert len(snapshot) == 500
        assert len(snapshot.match("a.1.x.1")) == 7
        assert len(empty) == 0
    assert exact(shared, [trie, empty]).nodes == before
    assert set(shared.structures()) == {"interests"}
    assert ConcurrentTrie.create(shared, "other", "amqp").match("a") == set()


def test_after_close_and_reopen(shared):
    trie = ConcurrentTrie.create(shared, "t", "amqp")
    made = [trie.subscribe(f"a.#.{k}", k) for k in range(100)]
    snapshot = trie.snapshot()
    where = shared.region.where
    shared.close()
    for use in (
        lambda: trie.match("a"),
        lambda: trie.subscribe("a", 1),
        lambda: snapshot.match("a"),
        lambda: len(trie),
    ):
        with pytest.raises(ArenaClosed):
            use()
    with Arena.open(where) as arena:
        again = ConcurrentTrie.open(arena, "t")
        assert set(again.subscriptions()) == set(made)
        again.unsubscribe(made[3])
        assert again.match("a.b.3") == set()
        again.subscribe("a.3", 3)
        exact(arena, [again])
        del again


def test_one_process_subscribes_and_another_matches(trie):
    trie.subscribe("mine/+", "parent")
    mine, theirs = SPAWN.Pipe()
    child = SPAWN.Process(target=topic_bodies.subscribe, args=(trie, theirs))
    child.start()
    try:
        assert mine.poll(PATIENCE)
        assert mine.recv() == ["parent"]
        assert mine.poll(PATIENCE)
        made = mine.recv()
        assert trie.match("theirs/5") == {5, "child"}
        trie.unsubscribe(made[5])
        assert trie.match("theirs/5") == {"child"}
        mine.send("go on")
        assert mine.poll(PATIENCE)
        assert mine.recv() == ["child"]
        child.join(PATIENCE)
        assert child.exitcode == 0
    finally:
        child.kill()
        child.join()
    exact(trie.arena, [trie])


def test_by_pickle_in_one_process(trie):
    trie.subscribe("a", 1)
    again = pickle.loads(pickle.dumps(trie))
    assert again.match("a") == {1}
    assert (again.dialect, again.arena.region.where) == (trie.dialect, trie.arena.region.where)


def test_a_forked_child_works_on_the_same_trie_and_is_refused_snapshots(trie):
    trie.subscribe("a/+", 1)
    snapshot = trie.snapshot()
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            trie.subscribe("a/b", 2)
            try:
                snapshot.match("a/b")
            except RuntimeError as error:
                os.write(write, f"{sorted(trie.match('a/b'))} {'belongs to the parent' in str(error)}".encode())
        finally:
            os._exit(0)
    os.close(write)
    assert os.read(read, 100) == b"[1, 2] True"
    os.close(read)
    os.waitpid(pid, 0)
    assert (trie.match("a/b"), snapshot.match("a/b")) == ({1, 2}, {1})
    trie.arena.adopt()
    exact(trie.arena, [trie])


def test_a_killed_process_gives_back_its_snapshots(trie):
    made = [trie.subscribe(f"{k}/#", k) for k in range(200)]
    trie.snapshot().close()
    arena = trie.arena
    mine, theirs = SPAWN.Pipe()
    child = SPAWN.Process(target=topic_bodies.hold, args=(str(arena.region.where), "interests", theirs))
    child.start()
    try:
        assert mine.poll(PATIENCE)
        assert mine.recv() == 3
        assert int(arena.words[trie._store.trie + int(REGISTERED)]) == 3
        for each in made:
            trie.unsubscribe(each)
    finally:
        child.kill()
        child.join()
    until = time.monotonic() + PATIENCE
    while int(arena.words[trie._store.trie + int(REGISTERED)]) and time.monotonic() < until:
        arena.adopt()  # the reaper may be at it, and not done
    assert int(arena.words[trie._store.trie + int(REGISTERED)]) == 0
    assert len(trie) == 0
    assert exact(arena, [trie]).limbo == 0


@pytest.mark.parametrize("turn", range(2))
def test_processes_killed_at_any_moment_leave_a_sound_trie(trie, turn):
    """What a process had in hand may be lost, no more; what others can reach is whole, and nobody is held up."""
    arena = trie.arena
    kept = [trie.subscribe(f"kept/{k}/{'+' if k % 3 else '#'}", k) for k in range(100)]
    for k in range(6):
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                topic_bodies.churn(trie, random.Random(100 * turn + k), write)
            finally:
                os._exit(1)
        assert os.read(read, 1) == b"x"
        time.sleep(0.01 * (3 * k + turn))
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        assert os.WIFSIGNALED(status), "the child failed by itself"
        os.close(read)
        os.close(write)
        arena.adopt()
        assert set(kept) <= set(trie.subscriptions())
        for each in kept:
            assert each.subscriber in trie.match(f"kept/{each.subscriber}/x")
    for each in list(trie.subscriptions()):
        if each not in kept:
            trie.unsubscribe(each)
    for pattern in topic_bodies.PATTERNS:  # tombs that were left behind are met, and cleaned
        trie.unsubscribe(trie.subscribe(pattern, 0))
    assert set(trie.subscriptions()) == set(kept)
    settle(arena)
    lost = arena.census().nodes - reached(arena, [trie]).words
    assert 0 <= lost < 6 * 2000
    assert arena.census().limbo == 0


@pytest.mark.slow
def test_processes_together_leave_nothing(trie):
    children = [
        SPAWN.Process(target=topic_bodies.work, args=(str(trie.arena.region.where), "interests", k, 150))
        for k in range(3)
    ]
    for child in children:
        child.start()
    for child in children:
        child.join(PATIENCE)
    assert [child.exitcode for child in children] == [0, 0, 0]
    assert sorted(each.pattern for each in trie.subscriptions()) == ["process/0", "process/1", "process/2"]
    for pattern in topic_bodies.PATTERNS:
        trie.unsubscribe(trie.subscribe(pattern, 0))
    assert check_shape(trie) == 3
    parted(trie.arena, [trie])
