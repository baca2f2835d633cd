"""Processes that stop or die before each call that opening, closing, listing, adopting and attaching make.

Nobody waits for them, and nothing stays taken. A step is a call within `latchfree.arena`, or from there into C: a
process that stops between two system calls has stopped before one of them.
"""

import os
import signal
import sys
from pathlib import Path

import pytest
from threads_together import at_once

import latchfree.arena
from latchfree import Arena, Ctrie
from latchfree_fsck import fsck

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

#: Bytes that an unlinked trie leaves behind: somebody may have it open.
UNLINKED = 136
HOME = str(Path(latchfree.arena.__file__).parent)


def in_a_child(path, act, left):
    """Return a child that stops before step `left` of an act, and whether it did."""
    pid = os.fork()
    if pid:
        _, status = os.waitpid(pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            assert os.waitstatus_to_exitcode(status) == 0
        return pid, os.WIFSTOPPED(status)
    status, taken = 99, iter(range(1_000_000))

    def step(frame, event, argument):
        if event in ("call", "c_call") and frame.f_code.co_filename.startswith(HOME) and next(taken) == left:
            sys.setprofile(None)
            os.kill(os.getpid(), signal.SIGSTOP)

    try:
        then = PREPARED[act](path)
        sys.setprofile(step)
        then()
        sys.setprofile(None)
        status = 0
    finally:
        os._exit(status)


def attach(arena):
    """Attach to the trie, and use it."""
    assert Ctrie.open(arena, "old", keys=int, values=int)[1] == 1


def prepared(use):
    """Return an act on an arena that was opened before."""

    def prepare(path):
        arena = Arena.open(path)
        return lambda: use(arena)

    return prepare


PREPARED = {
    "open": lambda path: lambda: Arena.open(path),
    "close": prepared(lambda arena: arena.close()),
    "structures": prepared(lambda arena: arena.structures()),
    "adopt": prepared(lambda arena: arena.adopt()),
    "attach": prepared(attach),
}
"""Each returns what is done step by step, once all else is there."""


def everything_else(path, arena):
    """Do what others do meanwhile; all of it must end."""
    trie = Ctrie.open(arena, "old", keys=int, values=int)
    trie[2] = 2
    assert trie.pop(2) == 2
    Ctrie.create(arena, "other", keys=int, values=int)[1] = 1
    assert set(arena.structures()) == {"old", "other"}
    Ctrie.unlink(arena, "other")
    arena.adopt()
    with Arena.open(path) as again:
        assert dict(Ctrie.open(again, "old", keys=int, values=int)) == {1: 1}
        with Arena.open(path) as third:
            assert set(third.structures()) == {"old"}
    return True


def stop_at_each(path, act, stride, end):
    """Stop a child before every `stride`-th step, do everything else, and end it by a signal; return the steps."""
    left = stopped = 0
    while True:
        with Arena.create(path=path, capacity=4 << 20) as arena:
            Ctrie.create(arena, "old", keys=int, values=int)[1] = 1
            arena.adopt()  # what it needs is compiled
            child, is_stopped = in_a_child(path, act, left)
            if is_stopped:
                stopped += 1
                at_once(lambda: everything_else(path, arena))
                os.kill(child, end)
                status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
                assert status == (0 if end == signal.SIGCONT else -signal.SIGKILL), f"step {left}"
                at_once(lambda: everything_else(path, arena))
        with Arena.open(path) as arena:
            at_once(lambda: everything_else(path, arena))
        report = fsck(path=path)
        assert report.sound, f"step {left}"
        assert report.leaked <= 3 * UNLINKED, f"step {left}"
        path.unlink()
        if not is_stopped:
            return left, stopped
        left += stride


@pytest.mark.parametrize("end", [signal.SIGCONT, signal.SIGKILL], ids=["goes on", "is killed"])
@pytest.mark.parametrize("act", PREPARED)
def test_nobody_waits_for_who_stops_before_some_steps(tmp_path, act, end):
    steps, stopped = stop_at_each(tmp_path / "arena", act, 23, end)
    assert stopped >= 1
    print(f"{act}: stopped before {stopped} of {steps} steps")


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGCONT, signal.SIGKILL], ids=["goes on", "is killed"])
@pytest.mark.parametrize("act", PREPARED)
def test_nobody_waits_for_who_stops_before_each_step(tmp_path, act, end):
    steps, stopped = stop_at_each(tmp_path / "arena", act, 1, end)
    assert stopped == steps > 10
