"""Processes that stop or die before each step of creating and removing: nobody waits for them, nothing stays taken."""

import os
import signal
import threading
import time
from contextlib import suppress

import pytest
from threads_together import PATIENCE, at_once

from latchfree import Arena, ArenaClosed, Ctrie, StructureExists, StructureMissing
from latchfree.arena import directory as module
from latchfree.arena.entry import OWNED, entries_of, state_of
from latchfree.ctrie.codecs import IntCodec
from latchfree.ctrie.store import Store
from latchfree.structures import CTRIE

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

ALL = (1 << 64) - 1


@pytest.fixture
def path(tmp_path):
    return tmp_path / "arena"


def forked(body):
    """Return the process id of a child that runs `body` and exits with what it returns."""
    pid = os.fork()
    if pid:
        return pid
    status = 99
    try:
        status = body()
    finally:
        os._exit(status)


def stopping(left, act):
    """Return a body that does `act`, and stops its process before step number `left` of the directory."""
    calls = module.ARENA

    class Stopping:
        def __init__(self):
            self.taken = iter(range(1_000_000))

        def __getattr__(self, step):
            if threading.current_thread() is threading.main_thread() and next(self.taken) == left:
                os.kill(os.getpid(), signal.SIGSTOP)
            return getattr(calls, step)

    def body():
        module.ARENA = Stopping()
        try:
            act()
        except (StructureExists, StructureMissing):
            return 1
        return 0

    return body


def refused(act):
    """Return whether `act` finds the name taken, or missing."""
    try:
        act()
    except (StructureExists, StructureMissing):
        return True
    return False


def owned(arena):
    return [word for word in entries_of(arena.words)[:, 0].tolist() if state_of(word) in OWNED]


def opened_and_closed(path):
    with Arena.open(path) as arena:
        return set(arena.structures())


ACTS = {
    "create": lambda arena: Ctrie.create(arena, "x", keys=int, values=int),
    "remove": lambda arena: Ctrie.unlink(arena, "old"),
}


def stopped_at(path, act, left):
    """Yield an arena and a child that has stopped before its step number `left`; nothing if it ends before."""
    with Arena.create(path=path, capacity=4 << 20) as arena:
        Ctrie.create(arena, "old", keys=int, values=int)[1] = 1
        arena.adopt()  # what it needs is compiled
        child = forked(stopping(left, lambda: ACTS[act](arena)))
        _, status = os.waitpid(child, os.WUNTRACED)
        if os.WIFSTOPPED(status):
            yield arena, child
        else:
            assert os.waitstatus_to_exitcode(status) == 0
    path.unlink()


@pytest.mark.parametrize(("act", "least"), [("create", 8), ("remove", 5)])
def test_nobody_waits_for_a_stopped_process(path, act, least):
    came = 0
    for left in range(40):
        for arena, child in stopped_at(path, act, left):
            came += 1
            assert at_once(lambda: set(arena.structures()) <= {"old", "x"})  # noqa: B023
            assert at_once(lambda: refused(lambda: arena.directory.find("none")))  # noqa: B023
            assert at_once(lambda: Ctrie.create(arena, "other", keys=int, values=int)) == {}  # noqa: B023
            taken = at_once(lambda: refused(lambda: ACTS["create"](arena)))  # noqa: B023
            gone = at_once(lambda: refused(lambda: ACTS["remove"](arena)))  # noqa: B023
            held = owned(arena)
            assert at_once(arena.adopt) == 0
            assert owned(arena) == held, "it is alive"
            assert at_once(lambda: Ctrie.unlink(arena, "other")) is None  # noqa: B023
            assert at_once(lambda: opened_and_closed(path)) == {"x"}
            os.kill(child, signal.SIGCONT)
            lost = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
            assert lost == (not taken if act == "create" else not gone)
            assert owned(arena) == []
            assert set(arena.structures()) == {"x"}
        if came == left:
            break
    assert came >= least


@pytest.mark.parametrize(("act", "least"), [("create", 8), ("remove", 5)])
def test_what_a_killed_process_had_taken_comes_back(path, act, least):
    came = 0
    for left in range(40):
        for arena, child in stopped_at(path, act, left):
            came += 1
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            arena.adopt()
            assert owned(arena) == []
            for name in ("x", "old"):
                with suppress(StructureMissing):
                    Ctrie.unlink(arena, name)
                Ctrie.create(arena, name, keys=int, values=int)[2] = 2
            assert set(arena.structures()) == {"x", "old"}
        if came == left:
            break
    assert came >= least


def create_with(arena, store, name):
    arena.directory.create(
        name,
        kind=CTRIE,
        keys="int",
        values="int",
        hash_mask=ALL,
        build=store.new_trie,
        dismantle=lambda root: store.destroy(root, maker=arena.identity),
    )


def compete(arena, store, rounds):
    """Have two children create the same name, again and again, and remove the structure each time."""

    def child(orders, answers):
        for k in range(rounds):
            assert os.read(orders, 1) == b"."
            os.write(answers, b"01"[refused(lambda: create_with(arena, store, f"n{k}")) :][:1])  # noqa: B023
        arena.close()
        return 0

    orders, answers = [os.pipe(), os.pipe()], [os.pipe(), os.pipe()]
    children = [forked(lambda k=k: child(orders[k][0], answers[k][1])) for k in range(2)]
    for k in range(rounds):
        for _, order in orders:
            os.write(order, b".")
        said = [os.read(answer, 1) for answer, _ in answers]
        assert sorted(said) == [b"0", b"1"], f"round {k}: {said}"
        assert list(arena.structures()) == [f"n{k}"]
        arena.directory.remove(f"n{k}", lambda entry: store.destroy(entry.root, maker=arena.identity))
    for pid in children:
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    for fd in (fd for pipe in (*orders, *answers) for fd in pipe):
        os.close(fd)
    assert owned(arena) == []


def test_of_two_processes_that_create_one_name_one_wins(path):
    with Arena.create(path=path, capacity=4 << 20) as arena:
        store = Store(arena, 0, IntCodec(), IntCodec(), ALL)
        compete(arena, store, 100)  # each participant keeps some blocks for what it may have to free
        before = settled(arena)
        compete(arena, store, 500)
        deadline = time.monotonic() + PATIENCE
        while settled(arena) > before:
            assert time.monotonic() < deadline, f"{settled(arena) - before} bytes have leaked"


def test_an_arena_is_not_closed_in_the_midst_of_creating(path):
    arena = Arena.create(path=path, capacity=4 << 20)
    store = Store(arena, 0, IntCodec(), IntCodec(), ALL)

    def build():
        arena.close()
        assert not arena.closed
        return store.new_trie()

    arena.directory.create("x", kind=CTRIE, keys="int", values="int", hash_mask=ALL, build=build)
    assert arena.closed
    for use in (lambda: arena.directory, arena.structures):
        with pytest.raises(ArenaClosed):
            use()
    with Arena.open(path) as again:
        assert list(again.structures()) == ["x"]
        assert owned(again) == []


def settled(arena):
    for _ in range(4):
        arena.collect()
    return arena.allocated


@pytest.mark.parametrize("callback", ["build", "dismantle"])
def test_nobody_waits_while_a_structure_is_built_or_freed(path, callback):
    with Arena.create(path=path, capacity=4 << 20) as arena:
        Ctrie.create(arena, "old", keys=int, values=int)
        arena.adopt()

        def body():
            def stop(*_):
                os.kill(os.getpid(), signal.SIGSTOP)
                return 200_000

            if callback == "build":
                arena.directory.create("x", kind=CTRIE, keys="int", values="int", hash_mask=ALL, build=stop)
            else:
                arena.directory.remove("old", stop)
            return 0

        child = forked(body)
        assert os.WIFSTOPPED(os.waitpid(child, os.WUNTRACED)[1])
        try:
            assert at_once(arena.structures).keys() == ({"old"} if callback == "build" else set())
            assert at_once(lambda: Ctrie.create(arena, "new", keys=int, values=int)) == {}
            assert at_once(arena.adopt) == 0
        finally:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        arena.adopt()
        assert owned(arena) == []
