"""Make trouble for the executors of a small cluster, from outside: kill them or stop them, at random moments."""

import os
import signal
import threading
from collections import defaultdict
from contextlib import suppress
from pathlib import Path

EXECUTOR = b"CoarseGrainedExecutorBackend"
PYTHON = b"pyspark.daemon"


def descendants(root):
    """Return the processes below one, with their parents and command lines."""
    children, lines = defaultdict(list), {}
    for each in Path("/proc").iterdir():
        if each.name.isdecimal():
            with suppress(OSError, IndexError):
                parent = int((each / "stat").read_text().rpartition(")")[2].split()[1])
                lines[int(each.name)] = (each / "cmdline").read_bytes()
                children[parent].append(int(each.name))
    found, left = [], [root]
    while left:
        parent = left.pop()
        found += [(child, lines.get(parent, b""), lines[child]) for child in children[parent]]
        left += children[parent]
    return found


def targets(worker):
    """Return the executors below a worker of Spark's, and their processes of Python that work."""
    below = descendants(worker.pid)
    machines = [pid for pid, _, line in below if EXECUTOR in line and b"java" in line]
    return machines, [pid for pid, above, line in below if PYTHON in line and PYTHON in above]


class Trouble(threading.Thread):
    """Trouble for some workers until `end` is called; `done` tells what was done.

    Parameters
    ----------
    rng : random.Random
    workers : list of Popen
    acts : int
        How often, at most.
    """

    def __init__(self, rng, workers, acts):
        super().__init__(daemon=True)
        self.done = []
        self._rng, self._workers, self._acts = rng, workers, acts
        self._over = threading.Event()
        self._stopped = set()

    def run(self):
        """Each time choose what to do to whom, wait for one of those, then act."""
        while len(self.done) < self._acts and not self._over.wait(self._rng.uniform(0.05, 2.0)):
            what = self._rng.choice(["kill", "stop"])
            whom = self._rng.choice(["executor", "python"])
            while not self._over.wait(0.05):
                found = targets(self._rng.choice(self._workers))[whom == "python"]
                with suppress(IndexError, ProcessLookupError):  # nobody is there yet, or has just gone
                    self._act(what, self._rng.choice(found))
                    self.done.append(f"{what} {whom}")
                    break

    def _act(self, what, pid):
        if what == "kill":
            os.kill(pid, signal.SIGKILL)
            return
        os.kill(pid, signal.SIGSTOP)
        self._stopped.add(pid)
        waking = threading.Timer(self._rng.uniform(0.5, 25.0), self._wake, [pid])
        waking.daemon = True
        waking.start()

    def _wake(self, pid):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
        self._stopped.discard(pid)

    def end(self):
        """Let everybody go on."""
        self._over.set()
        self.join()
        for pid in list(self._stopped):
            self._wake(pid)
