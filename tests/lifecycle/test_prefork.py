"""A master opens an arena and forks workers, as gunicorn does: workers are killed, the master reloads itself."""

import os
import signal
from collections import Counter

import pytest
from programs import Program, wait_for

from latchfree import Arena, Ctrie
from latchfree_fsck import fsck, inspect

MASTER = """
    import os, signal, sys, time
    from pathlib import Path
    from latchfree import Arena, Ctrie

    SIGNALS = {signal.SIGCHLD, signal.SIGHUP, signal.SIGUSR2, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    path, log = Path(sys.argv[1]), os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    arena = Arena.open(path)  # before the fork
    numbers = Ctrie.open(arena, "numbers")
    held = numbers.readonly_snapshot()
    workers = set()

    def work():
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        first = os.getpid() << 20
        for n in range(0, 1 << 20, 10):
            keys = [first + n + k for k in range(10)]
            numbers.put_many(keys[:9], keys[:9])
            numbers[keys[9]] = keys[9]
            with numbers.readonly_snapshot() as snapshot:
                assert snapshot[keys[4]] == keys[4]
            os.write(log, b"%d %d\\n" % (os.getpid(), n))  # acknowledged
            time.sleep(0.005)  # however long the test takes, the keys fit

    def fork():
        child = os.fork()
        if child == 0:
            try:
                work()
            finally:
                os._exit(3)
        workers.add(child)
        print("worker", child, flush=True)

    def stop(number):
        for worker in workers:
            os.kill(worker, number)
        for worker in workers:
            os.waitpid(worker, 0)

    def run_again():
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])

    print("master", os.getpid(), flush=True)
    while True:
        while len(workers) < 3:
            fork()
        match signal.sigwait(SIGNALS):
            case signal.SIGCHLD:
                for worker in list(workers):
                    ended, status = os.waitpid(worker, os.WNOHANG)
                    if ended:
                        assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL, status
                        workers.discard(worker)
            case signal.SIGHUP:
                stop(signal.SIGKILL)
                run_again()
            case signal.SIGUSR2:
                if os.fork() == 0:
                    run_again()
            case signal.SIGTERM:
                stop(signal.SIGTERM)
                assert all(held[k] == k for k in range(100)), "the snapshot of the master has changed"
                arena.close()
                sys.exit()
"""


class Service:
    """A running master, and what its workers have acknowledged."""

    def __init__(self, master, log):
        self.master = master
        self.log = log
        self.pid = int(master.until("master"))

    def acknowledged(self):
        text = self.log.read_text() if self.log.exists() else ""
        return [tuple(map(int, line.split())) for line in text.splitlines()]

    def busy_workers(self):
        """Wait for three new workers, and until each has done something."""
        workers = [int(self.master.until("worker")) for _ in range(3)]
        self.busy(workers)
        return workers

    def busy(self, workers):
        wait_for(lambda: set(workers) <= {worker for worker, _ in self.acknowledged()})

    def kill_one(self, workers, which):
        os.kill(workers.pop(which), signal.SIGKILL)
        workers.append(int(self.master.until("worker")))
        self.busy(workers)


@pytest.fixture
def service(path, tmp_path):
    with Program(MASTER, path, tmp_path / "log") as master:
        yield Service(master, tmp_path / "log")


def nothing_is_lost(path, service):
    """The arena was closed in good order, and has everything that a worker acknowledged."""
    assert inspect(path=path).sealed
    acknowledged = service.acknowledged()
    with Arena.open(path) as arena:
        numbers = Ctrie.open(arena, "numbers")
        for worker, n in acknowledged:
            keys = [(worker << 20) + n + k for k in range(10)]
            assert list(numbers.get_many(keys)) == keys
    report = fsck(path=path, repair=True)
    assert not report.damage
    assert fsck(path=path).clean
    return Counter(worker for worker, _ in acknowledged)


def test_workers_are_killed_and_replaced(path, service, rng):
    workers = service.busy_workers()
    for _ in range(6):
        service.kill_one(workers, rng.randrange(3))
    os.kill(service.pid, signal.SIGTERM)
    service.master.ended()
    assert len(nothing_is_lost(path, service)) == 9


def test_a_master_that_runs_itself_again(path, service, rng):
    for _ in range(3):
        service.kill_one(service.busy_workers(), rng.randrange(3))
        os.kill(service.pid, signal.SIGHUP)
        assert int(service.master.until("master")) == service.pid, "exec keeps the process"
    service.busy_workers()
    os.kill(service.pid, signal.SIGTERM)
    service.master.ended()
    assert len(nothing_is_lost(path, service)) == 3 * 4 + 3


def test_a_new_master_beside_the_old_one(path, service):
    service.busy_workers()
    old, service.pid = service.pid, None
    os.kill(old, signal.SIGUSR2)
    service.pid = int(service.master.until("master"))
    assert service.pid != old
    service.busy_workers()
    os.kill(old, signal.SIGTERM)
    assert service.master.process.wait() == 0
    before = len(service.acknowledged())
    wait_for(lambda: len(service.acknowledged()) > before + 100)
    os.kill(service.pid, signal.SIGTERM)
    service.master.ended()
    assert len(nothing_is_lost(path, service)) == 6
