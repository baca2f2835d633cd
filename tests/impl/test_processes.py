"""Several processes on one arena: what they share, and what becomes of what one held that was killed or stopped."""

import gc
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time

import numpy as np
import process_bodies
import pytest
from ctrie_exact import exact, reached, registered, settle

from latchfree import Arena, Ctrie
from latchfree.arena.kernels.epochs import pin
from latchfree.arena.layout import P_PID, PARTICIPANT_WORDS, PARTICIPANTS

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

SPAWN = multiprocessing.get_context("spawn")
PATIENCE = 1200  # seconds, after which a child is taken for lost


@pytest.fixture
def shared(shared_name):
    with Arena.create(name=shared_name, capacity=64 << 20) as arena:
        yield arena
        gc.collect()


@pytest.fixture
def trie(shared):
    trie = Ctrie.create(shared, "numbers", keys=int, values=int)
    trie.update({k: k for k in range(100)})
    trie.put_many([0], [0])  # compiled now, not in a child
    trie.remove_many([-1])
    assert len(trie.snapshot()) == 100
    return trie


class Child:
    """A forked child that runs a function and then waits to be killed; it says when it has got so far."""

    def __init__(self, body):
        read, write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                os.write(write, repr(body()).encode() + b".")
                while True:
                    signal.pause()
            except BaseException as error:
                os.write(write, repr(error).encode() + b".")
            finally:
                os._exit(1)
        os.close(write)
        self.pipe = read
        self.said = ""
        while not self.said.endswith("."):
            part = os.read(read, 1000)
            assert part, "the child has died"
            self.said += part.decode()

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.pipe)


def participants(arena):
    """Process ids of the owners of claimed slots."""
    table = arena.words[PARTICIPANTS:][: 256 * PARTICIPANT_WORDS].reshape(256, PARTICIPANT_WORDS)
    return [int(slot[int(P_PID)]) for slot in table if slot[0]]


def until(condition):
    """Wait for something that must come to be."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def test_a_forked_child_works_on_the_same_trie(trie):
    def body():
        trie[1000] = 1
        trie.put_many([1001, 1002], [1, 1])
        trie.remove(0)
        with trie.readonly_snapshot() as snapshot:
            return len(snapshot)

    child = Child(body)
    assert child.said == "102."
    assert (trie[1000], trie[1001], trie.get(0)) == (1, 1, None)
    assert child.pid in participants(trie.arena)
    child.kill()
    trie.arena.adopt()
    assert child.pid not in participants(trie.arena)
    exact(trie.arena, [trie])


def test_a_forked_child_is_refused_the_snapshots_of_its_parent(trie):
    snapshot = trie.readonly_snapshot()
    fork = trie.snapshot()

    def body():
        refused = []
        for use in (lambda: snapshot[1], lambda: list(snapshot), lambda: len(snapshot)):
            try:
                use()
            except RuntimeError as error:
                refused.append("belongs to the parent process" in str(error))
        return refused

    child = Child(body)
    assert child.said == "[True, True, True]."
    child.kill()
    trie.arena.adopt()
    assert dict(snapshot.items()) == dict(fork.items()) == {k: k for k in range(100)}
    assert registered(trie) == 2


def test_a_forked_child_that_lets_go_of_what_it_inherits_changes_nothing(trie):
    held = [trie.readonly_snapshot(), trie.snapshot()]

    def body():
        held.clear()
        gc.collect()
        return registered(trie)

    child = Child(body)
    assert child.said == "2."
    child.kill()
    trie.arena.adopt()
    assert registered(trie) == 2
    assert all(dict(thing.items()) == {k: k for k in range(100)} for thing in held)


@pytest.mark.parametrize("how", ["adopt", "reaper"])
def test_what_a_killed_process_held_comes_back(trie, how):
    arena = trie.arena

    def body():
        held = [trie.readonly_snapshot() for _ in range(3)]
        fork = trie.snapshot()
        fork.update({k: -k for k in range(200)})
        deeper = fork.snapshot()
        deeper.clear()
        deeper[1] = 1
        held += [fork, deeper, fork.readonly_snapshot(), deeper.readonly_snapshot()]
        body.held = held
        return registered(trie)

    before = exact(arena, [trie]).nodes
    child = Child(body)
    assert child.said == "4."
    for k in range(100):
        trie[k] = k + 1
    settle(arena)
    assert registered(trie) == 4
    assert arena.census().nodes > before + 300
    child.kill()
    if how == "adopt":
        arena.adopt()
    else:
        until(lambda: registered(trie) == 0 and child.pid not in participants(arena))
    assert registered(trie) == 0
    assert child.pid not in participants(arena)
    assert exact(arena, [trie]).nodes <= before
    assert dict(trie.items()) == {k: k + 1 for k in range(100)}


def test_a_process_killed_while_pinned_holds_nothing_up_any_more(trie):
    arena = trie.arena

    def body():
        pin(np.uint64(arena.base), np.uint64(arena.lend().__enter__()))
        return "pinned"

    child = Child(body)
    assert child.said == "'pinned'."
    for turn in range(30):
        for k in range(100):
            trie[k] = turn
    for _ in range(10):
        arena.collect()
    assert arena.census().limbo > 2000
    child.kill()
    arena.adopt()
    assert exact(arena, [trie]).limbo == 0


def test_a_stopped_process_delays_memory_and_nothing_else(trie):
    arena = trie.arena

    def body():
        pin(np.uint64(arena.base), np.uint64(arena.lend().__enter__()))
        return "pinned"

    child = Child(body)
    os.kill(child.pid, signal.SIGSTOP)
    try:
        for turn in range(20):
            trie.put_many(range(200), range(turn, 200 + turn))
            with trie.readonly_snapshot() as snapshot, trie.readonly_snapshot() as other:
                assert snapshot == other
            fork = trie.snapshot()
            fork.clear()
            assert trie.pop(5) == 5 + turn
            assert trie.put(5, 0) is None
        arena.adopt()
        assert child.pid in participants(arena), "it may go on at any time"
        settle(arena)
        assert arena.census().limbo > 0
    finally:
        child.kill()
    arena.adopt()
    fork = snapshot = other = None
    gc.collect()
    assert exact(arena, [trie]).limbo == 0


@pytest.mark.parametrize("turn", range(3))
def test_processes_killed_at_any_moment_leave_a_sound_trie(trie, turn):
    """The word a process had in hand may be lost, no more; and what others can reach is whole."""
    arena = trie.arena
    arena.collect()

    def body():
        os.write(body.pipe, b"x")
        keys = list(range(1000, 1050))
        while True:
            trie.put_many(keys, keys)
            with trie.readonly_snapshot() as snapshot:
                assert len(snapshot) >= 50
            for k in keys:
                trie[k] = k
            trie.remove_many(keys)

    for k in range(6):
        read, body.pipe = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                body()
            finally:
                os._exit(1)
        assert os.read(read, 1) == b"x"
        time.sleep(0.01 * (3 * k + turn))
        os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        assert os.WIFSIGNALED(status), "the child failed by itself"
        os.close(read)
        os.close(body.pipe)
        arena.adopt()
        assert pid not in participants(arena)
        for key in range(100):
            assert trie[key] == key
        assert all(key == value for key, value in trie.items())
    trie.remove_many(list(range(1000, 1050)))
    assert dict(trie.items()) == {k: k for k in range(100)}
    settle(arena)
    lost = arena.census().nodes - reached(arena, [trie]).words
    assert 0 <= lost < 6 * 2000
    assert arena.census().limbo == 0


def test_a_trie_by_pickle_in_a_spawned_process(trie):
    mine, theirs = SPAWN.Pipe()
    child = SPAWN.Process(target=process_bodies.work, args=(trie, theirs))
    child.start()
    try:
        assert mine.poll(PATIENCE)
        pid, contents = mine.recv()
        assert pid != os.getpid()
        assert contents == {k: k for k in range(100)}
        assert mine.poll(PATIENCE)
        assert mine.recv() == 200
        assert trie[1199] == 199
        assert 0 not in trie
        mine.send("end")
        child.join(PATIENCE)
        assert child.exitcode == 0
    finally:
        child.kill()
        child.join()
    assert pid not in participants(trie.arena), "a process that ends gives its slots back"
    exact(trie.arena, [trie])


def test_a_spawned_process_killed_with_all_it_held(trie):
    arena = trie.arena
    mine, theirs = SPAWN.Pipe()
    before = exact(arena, [trie]).nodes
    child = SPAWN.Process(target=process_bodies.hold, args=(str(arena.region.where), "numbers", theirs))
    child.start()
    try:
        assert mine.poll(PATIENCE)
        assert mine.recv() == 6
        assert registered(trie) == 4
    finally:
        child.kill()
        child.join()
    arena.adopt()
    assert registered(trie) == 0
    assert exact(arena, [trie]).nodes <= before


def test_pickling_opens_an_arena_once(trie):
    arena = trie.arena
    first, second = pickle.loads(pickle.dumps([arena, trie]))
    assert second.arena is first
    assert pickle.loads(pickle.dumps(arena)) is first
    second[5] = 55
    assert trie[5] == 55
    first.close()
    assert not arena.closed
    assert trie[5] == 55


def test_the_end_of_an_interpreter_gives_back_what_it_held(trie, tmp_path):
    program = tmp_path / "held.py"
    program.write_text(
        "import sys\nfrom latchfree import Arena, Ctrie\n"
        "trie = Ctrie.open(Arena.open(sys.argv[1]), 'numbers')\n"
        "held = [trie.readonly_snapshot(), trie.snapshot(), iter(trie)]\n"
        "held[1][7] = 70\nprint(len(trie))\n"
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    where = str(trie.arena.region.where)
    ran = subprocess.run(
        [sys.executable, str(program), where], env=environment, capture_output=True, text=True, timeout=PATIENCE
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "100\n", "")
    assert registered(trie) == 0
    assert set(participants(trie.arena)) == {os.getpid()}
    exact(trie.arena, [trie])


@pytest.mark.slow
def test_processes_together_leave_nothing(trie):
    arena = trie.arena
    where = str(arena.region.where)
    children = [
        SPAWN.Process(target=process_bodies.churn, args=(where, "numbers", 1000 * (k + 1), 300)) for k in range(3)
    ]
    for child in children:
        child.start()
    for child in children:
        child.join(PATIENCE)
    assert [child.exitcode for child in children] == [0, 0, 0]
    expected = {k: k for k in range(100)}
    expected |= {1000 * c + k: 1000 * c + k for c in (1, 2, 3) for k in range(0, 100, 2)}
    assert dict(trie.items()) == expected
    exact(arena, [trie])
