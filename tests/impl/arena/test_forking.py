"""A signal handler that raises in the midst of a fork, or of the hooks around it, leaves parent and child whole."""

import contextlib
import os
import sys
import threading
from pathlib import Path

import pytest
from children import in_child
from stepping import AtStep, interrupt

from latchfree import Arena, Ctrie, RingBuffer
from latchfree.arena import forking
from latchfree.jit import start

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

HOOKS = {"_before", "_after_in_parent", "once", "_inherit", "_finish", "_empty", "bequeath", "inherit", "reopen"}


@pytest.fixture
def hooks_may_be_interrupted(monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", lambda told: None)


def descriptors(*arenas):
    """How many descriptors this process has of the file of each arena; those of other tests may come and go."""
    files = []
    for each in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # the descriptor of the listing itself
            files.append(each.stat())
    return [sum(os.path.samestat(file, Path(arena.region.where).stat()) for file in files) for arena in arenas]


def assert_free_locks():
    found = []

    def take():
        for lock in forking._locks:
            found.append(lock.acquire(timeout=60))
            lock.release()

    thread = threading.Thread(target=take)
    thread.start()
    thread.join()
    assert found == [True, True]  # the compiler's, and that of forks
    assert forking._thread.levels == []


@pytest.mark.usefixtures("hooks_may_be_interrupted")
@pytest.mark.parametrize("finely", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_an_interrupt_at_any_step_of_a_fork(tmp_path, finely):
    start()
    with (
        Arena.create(path=tmp_path / "one", capacity=32 << 20) as one,
        Arena.create(path=tmp_path / "two", capacity=32 << 20) as two,
    ):
        tries = [Ctrie.create(arena, "stock", keys=int, values=int) for arena in (one, two)]
        ring = RingBuffer(8, arena=one)
        for trie in tries:
            trie[0] = 0
        identities = {one.identity, two.identity}

        def child():
            sys.settrace(None)
            assert_free_locks()
            assert identities.isdisjoint({one.identity, two.identity})
            for trie in tries:
                trie[os.getpid()] = 1
                assert trie.arena.region.others()
            assert not ring._owner.mine, "the ring is the parent's"
            assert descriptors(one, two) == [1, 1]
            return True

        steps, interrupted = 0, True
        while interrupted:
            with AtStep(interrupt, steps, within=HOOKS if finely else (), calls=True) as handler:
                in_child(child)
            assert_free_locks()
            assert descriptors(one, two) == [1, 1]
            interrupted = handler.acted
            steps += 1
        assert steps > 100
        assert ring.try_put(1)
        assert not one.collect()
        assert len(tries[0]) == len(tries[1]) == steps + 1


def test_a_child_for_which_no_hook_came_to_its_end_does_not_pass_for_its_parent(tmp_path):
    with Arena.create(path=tmp_path / "one", capacity=32 << 20) as one:

        def child():
            left = forking._thread.forks[1]
            assert left.child == os.getpid()
            left.child = os.getppid()  # as what this process finds that a child of its own left so
            forking._ascend()
            forking._inherit()
            forking._descend()
            return one.closed

        in_child(child)
        assert not one.closed
