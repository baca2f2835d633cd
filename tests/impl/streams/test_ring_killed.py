"""Processes killed with a cell of a ring claimed: others pass the cell on, and what was acknowledged is not lost."""

import os
import signal
import struct
import time
from contextlib import suppress

import numpy as np
import pytest

from latchfree import Arena, RingBuffer, kernel
from latchfree.atomics import load, pause, peek, store
from latchfree.kinds import Handle, Word
from latchfree.streams import RingStalled
from latchfree.streams.kernels.layout import CELLS, DEQ, ENQ, MASK, TURN, VALUE
from latchfree.streams.kernels.mending import announce, mend
from latchfree.streams.kernels.positions import cell_of, turn_to_get, turn_to_put_again
from latchfree.streams.kernels.ring import claim
from latchfree.streams.kernels.roster import leave
from latchfree_fsck import fsck

PATIENCE = 1200

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

_0 = np.uint64(0)
_1 = np.uint64(1)

loans = []

#: How far an operation comes.
ANNOUNCED, CLAIMED, WRITTEN, PASSED = (np.uint64(k) for k in range(4))


@kernel
def put_until(mem: Handle, ring: Word, me: Word, value: Word, step: Word, idle: Word) -> Word:
    """Put a value and come as far as `step`; wait a while between two steps."""
    mask, position = peek(mem, ring + MASK), load(mem, ring + ENQ)
    cell = cell_of(peek(mem, ring + CELLS), position, mask)
    if load(mem, cell + TURN) != position:
        return _0
    announce(mem, me, cell)
    if step == ANNOUNCED or not claim(mem, ring + ENQ, position):
        return _0
    for _ in range(idle):
        pause(mem)
    if step >= WRITTEN:
        store(mem, cell + VALUE, value)
    for _ in range(idle):
        pause(mem)
    if step >= PASSED:
        store(mem, cell + TURN, turn_to_get(position))
    return _1


@kernel
def get_until(mem: Handle, ring: Word, me: Word, step: Word, idle: Word) -> Word:
    """Get a value and come as far as `step`; return the value, or 0."""
    mask, position = peek(mem, ring + MASK), load(mem, ring + DEQ)
    cell = cell_of(peek(mem, ring + CELLS), position, mask)
    if load(mem, cell + TURN) != turn_to_get(position):
        return _0
    announce(mem, me, cell)
    if step == ANNOUNCED or not claim(mem, ring + DEQ, position):
        return _0
    for _ in range(idle):
        pause(mem)
    value = load(mem, cell + VALUE)
    for _ in range(idle):
        pause(mem)
    if step >= PASSED:
        store(mem, cell + TURN, turn_to_put_again(position, mask))
    return value


@pytest.fixture(autouse=True, scope="module")
def _compiled():
    """Compile here what the children call."""
    ring = RingBuffer(2)
    put_until(*where(ring), _0, _1, PASSED, _0)
    get_until(*where(ring), _0, PASSED, _0)
    mend(*where(ring), _0)
    leave(np.uint64(ring._base), _0)


@pytest.fixture
def shared(shared_name):
    with Arena.create(name=shared_name, capacity=64 << 20) as arena:
        yield arena


def killed(body):
    """Run a function in a forked child that is killed right after it."""
    child = os.fork()
    if child == 0:
        try:
            body()
            os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL


def where(ring):
    return np.uint64(ring._base), np.uint64(ring._ring)


def lent(arena):
    """Borrow a participant for the rest of the process."""
    loans.append(arena.lend())
    return np.uint64(loans[-1].__enter__())


def eventually(condition, step):
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until
        step()
        time.sleep(0.005)


@pytest.mark.parametrize("weak", [False, True])
@pytest.mark.parametrize("step", [ANNOUNCED, CLAIMED, WRITTEN, PASSED])
def test_a_put_killed_at_each_step_blocks_nobody(shared, step, weak):
    ring = RingBuffer(4, arena=shared, weak=weak, stall_timeout=PATIENCE)
    ring.put_many([1, 2])
    killed(lambda: put_until(*where(ring), lent(shared), np.uint64(3), step, _0))
    assert ring.try_put(4)
    expected = [1, 2, 3, 4] if step == PASSED else [1, 2, 4]
    assert [ring.get(timeout=PATIENCE) for _ in expected] == expected
    assert len(ring) == 0
    assert ring.counts().mended == (step in (CLAIMED, WRITTEN))
    for _ in range(3):
        assert ring.put_many(range(9)) == 4
        assert ring.get_many(9).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("weak", [False, True])
@pytest.mark.parametrize("step", [ANNOUNCED, CLAIMED, PASSED])
def test_a_get_killed_at_each_step_blocks_nobody(shared, step, weak):
    ring = RingBuffer(4, arena=shared, weak=weak, stall_timeout=PATIENCE)
    ring.put_many([1, 2, 3, 4])
    killed(lambda: get_until(*where(ring), lent(shared), step, _0))
    expected = [1, 2, 3, 4] if step == ANNOUNCED else [2, 3, 4]
    if step != ANNOUNCED:
        assert ring.put(5, timeout=PATIENCE)
        expected.append(5)
    assert ring.get_many(9).tolist() == expected
    assert ring.counts().mended == (step == CLAIMED)
    for _ in range(3):
        assert ring.put_many(range(9)) == 4
        assert ring.get_many(9).tolist() == [0, 1, 2, 3]


def test_every_cell_claimed_by_the_dead_is_passed_on(shared):
    ring = RingBuffer(4, arena=shared, stall_timeout=PATIENCE)
    for value in range(4):
        killed(lambda value=value: put_until(*where(ring), lent(shared), np.uint64(value), CLAIMED, _0))
    eventually(lambda: ring.counts().mended == 4, shared.adopt)
    assert (ring.try_get(), len(ring)) == (None, 0)
    assert ring.put_many([1, 2, 3, 4]) == 4
    for _ in range(4):
        killed(lambda: get_until(*where(ring), lent(shared), CLAIMED, _0))
    assert len(ring) == 0
    for value in range(4):
        assert ring.put(value, timeout=PATIENCE)
    assert ring.get_many(9).tolist() == [0, 1, 2, 3]


def test_a_shut_ring_is_mended_too(shared):
    ring = RingBuffer(4, arena=shared, stall_timeout=PATIENCE)
    killed(lambda: put_until(*where(ring), lent(shared), np.uint64(1), CLAIMED, _0))
    ring.put(2)
    ring.shutdown()
    assert ring.get(timeout=PATIENCE) == 2
    assert len(ring) == 0


def test_what_a_living_process_has_claimed_is_left_to_it(shared):
    """A put that is stopped between claim and write, and goes on, has put its value."""
    ring, (here, there) = RingBuffer(4, arena=shared, stall_timeout=0.02), os.pipe()
    child = os.fork()
    if child == 0:
        try:
            me = lent(shared)
            mem, at = where(ring)
            assert put_until(mem, at, me, np.uint64(7), CLAIMED, _0)
            os.write(there, b"!")
            signal.pause()
        finally:
            os._exit(1)
    os.read(here, 1)
    with shared.lend() as me:
        for _ in range(5):
            shared.adopt()
            assert mend(*where(ring), np.uint64(me)) == 0
    with pytest.raises(RingStalled, match="continue it, or end its process"):
        ring.try_get()
    assert ring.counts().mended == 0
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    ring.try_put(8)
    eventually(lambda: ring.counts().mended == 1, shared.adopt)
    assert ring.get() == 8
    os.close(here)
    os.close(there)


def test_the_arena_is_whole_afterwards(tmp_path):
    path = tmp_path / "arena"
    with Arena.create(path=path, capacity=8 << 20) as arena:
        ring = RingBuffer(4, arena=arena, stall_timeout=PATIENCE)
        killed(lambda: put_until(*where(ring), lent(arena), np.uint64(1), CLAIMED, _0))
        ring.put(2)
        assert ring.get(timeout=PATIENCE) == 2
        ring.close()
    report = fsck(path=path)
    assert report.clean, report


@pytest.mark.slow
@pytest.mark.parametrize("weak", [False, True])
def test_200_killed_at_random_lose_nothing_acknowledged(shared, weak, rng):
    """Most are killed between claim and turn, where they spend their time; whoever is killed is replaced."""
    ring, idle = RingBuffer(8, arena=shared, weak=weak, stall_timeout=PATIENCE), np.uint64(2_000)
    acknowledged, told = os.pipe()
    taken, took = os.pipe()

    def produce(first):
        me, value = lent(shared), first
        while True:
            if put_until(*where(ring), me, np.uint64(value), PASSED, idle):
                os.write(told, struct.pack("q", value))
                value += 1
            leave(np.uint64(shared.base), me)

    def consume():
        me = lent(shared)
        while True:
            value = get_until(*where(ring), me, PASSED, idle)
            if value:
                os.write(took, struct.pack("q", value))
            leave(np.uint64(shared.base), me)

    def start(body):
        child = os.fork()
        if child == 0:
            try:
                body()
            finally:
                os._exit(1)
        return child

    def read(pipe):
        found = []
        while chunk := os.read(pipe, 1 << 16):
            found += np.frombuffer(chunk, np.int64).tolist()
            if len(chunk) < 1 << 16:
                return found
        return found

    acks, values, first, losses = [], [], 1, 0
    children = {}
    for kind in ("put", "put", "get", "get"):
        children[start((lambda f=first: produce(f)) if kind == "put" else consume)] = kind
        first += 10**9
    for pipe in (acknowledged, taken):
        os.set_blocking(pipe, False)

    def collect():
        for pipe, into in ((acknowledged, acks), (taken, values)):
            with suppress(BlockingIOError):
                into.extend(read(pipe))

    for _ in range(200):
        time.sleep(rng.uniform(0, 0.01))
        collect()
        victim = rng.choice(list(children))
        os.kill(victim, signal.SIGKILL)
        os.waitpid(victim, 0)
        kind = children.pop(victim)
        losses += kind == "get"
        children[start((lambda f=first: produce(f)) if kind == "put" else consume)] = kind
        first += 10**9
        before = len(values)
        eventually(lambda before=before: len(values) > before, collect)  # no wedge
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        losses += children[child] == "get"
    collect()

    def drain():
        while (value := ring.try_get()) is not None:
            values.append(value)

    eventually(lambda: len(ring) == 0, drain)
    assert len(set(values)) == len(values)
    assert len(set(acks) - set(values)) <= losses, "a value that a dead get had taken, and no other"
    assert ring.counts().mended > 0
