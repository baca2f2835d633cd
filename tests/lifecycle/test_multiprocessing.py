"""`multiprocessing` on one map, started by fork, spawn and forkserver: workers end, are stopped, and are killed."""

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor

import pytest
import workers
from programs import PATIENCE, wait_for

from latchfree import Arena, Ctrie
from latchfree_fsck import fsck, inspect

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@pytest.fixture(params=["fork", "spawn", "forkserver"])
def context(request):
    return multiprocessing.get_context(request.param)


@pytest.fixture
def numbers(path):
    with Arena.open(path) as arena:
        yield Ctrie.open(arena, "numbers")
    assert inspect(path=path).sealed
    assert not fsck(path=path, repair=True).damage


def test_a_pool_works_on_a_map_that_is_sent_by_pickle(context, numbers):
    with ProcessPoolExecutor(3, mp_context=context) as pool:
        jobs = [pool.submit(workers.fill, numbers, first) for first in range(1000, 3000, 100)]
        ran = {job.result(PATIENCE) for job in jobs}
    assert os.getpid() not in ran
    assert dict(numbers) == {k: k for k in [*range(100), *range(1000, 3000)]}


def test_workers_that_are_stopped_and_killed_leave_nothing_held(context, numbers):
    arena = numbers.arena
    numbers.update({k: k for k in range(1000, 1500)})
    before = arena.census().nodes
    mine, theirs = context.Pipe()
    stopped = [context.Process(target=workers.fill_and_wait, args=(numbers, 1000, theirs)) for _ in range(2)]
    killed = [context.Process(target=workers.fill_and_die, args=(numbers, 1000 + 100 * k)) for k in (1, 2)]
    for process in [*stopped, *killed]:
        process.start()
    for _ in stopped:
        assert mine.poll(PATIENCE)
        mine.recv()
    stopped[0].terminate()
    stopped[1].kill()
    for process in [*stopped, *killed]:
        process.join(PATIENCE)
    assert sorted(process.exitcode for process in [*stopped, *killed]) == [-15, -9, -9, -9]
    for k in range(1000, 1500):
        numbers[k] = -k

    def free():
        arena.adopt()
        arena.collect()
        now = arena.census()
        return now.limbo < 100 and now.nodes < before + 500

    wait_for(free)
    assert dict(numbers) == {k: k if k < 100 else -k for k in [*range(100), *range(1000, 1500)]}
