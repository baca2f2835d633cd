"""How the check of histories grows with their number: the part ``growth`` of ``bench/pipeline.py``.

Each size is checked by the whole command, one after the other in one run. Its cost is the time that passed, the
processor time of all processes (also of those that Spark leaves to end by themselves), the bytes that went through the
shuffle, as Spark's own log of events counts them, and the bytes of the files that were read and written. A line through
the sizes gives what a start costs and what a history costs; the power between the two largest sizes says whether a line
is right: 1 is.

Skew is what more machines do not help with: one history that cannot be divided, judged by one worker.
"""

from __future__ import annotations

import ctypes
import json
import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from jobs.data import OPERATIONS, write_giant, write_histories

_PR_SET_CHILD_SUBREAPER = 36
_IN_A_FILE = 250_000
_FEWEST_FILES = 4
_TIMEOUT = 7200


class Cost(NamedTuple):
    """What one command took: seconds that passed, those of processors, and bytes."""

    histories: int
    wall: float
    cpu: float
    shuffled: int
    read: int
    written: int

    def line(self) -> str:
        """A line of the table; all but the first two figures are of one history."""
        count = self.histories
        parts = [f"{seconds / count * 1e6:>11,.1f}" for seconds in (self.wall, self.cpu)]
        parts += [f"{size / count:>11,.1f}" for size in (self.shuffled, self.read, self.written)]
        return f"{count:>12,}{self.wall:>11,.2f}" + "".join(parts)


COLUMNS = ("seconds", "us", "cpu us", "shuffled B", "read B", "written B")
HEAD = f"{'histories':>12}" + "".join(f"{name:>11}" for name in COLUMNS)


class Growth(NamedTuple):
    """A line through points, and the power between the two largest."""

    start: float
    each: float
    power: float

    def at(self, size: float) -> float:
        """Return what the line says."""
        return self.start + self.each * size

    def beyond(self, size: float, known: tuple[float, float]) -> float:
        """Return what the power says, from a known point on."""
        return known[1] * (size / known[0]) ** self.power


def growth(points: Sequence[tuple[float, float]]) -> Growth:
    """Return the line of least squares of relative errors through some points, and the power of their growth."""
    points = sorted(points)
    size, found = (np.array(each, float) for each in zip(*points, strict=True))
    each, start = np.polyfit(size, found, 1, w=1 / found) if len(points) > 1 else (found[0] / size[0], 0.0)
    power = 1.0
    if len(points) > 1:
        power = math.log(found[-1] / found[-2]) / math.log(size[-1] / size[-2])
    return Growth(float(start), float(each), power)


def cost(command: Sequence[str], histories: int, data: Path, out: Path, log: Path) -> Cost:
    """Run the command of a check whose exit code is 0 or 1; return what it took."""
    log.mkdir(parents=True)
    settings = {"enabled": "true", "dir": f"file://{log}", "compress": "false", "rolling.enabled": "false"}
    given = [part for name, value in settings.items() for part in ("--conf", f"spark.eventLog.{name}={value}")]
    before, began = _processors(), time.perf_counter()
    done = subprocess.run(
        [sys.executable, *command, *given], capture_output=True, text=True, timeout=_TIMEOUT, check=False
    )  # fmt: skip
    wall = time.perf_counter() - began
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-2000:]}")
    return Cost(histories, wall, _processors() - before, shuffled(log), _size(data), _size(out))


def _processors() -> float:
    """Return the processor time of all children that have ended, and wait for those that were left to this process."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        pass
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def shuffled(log: Path) -> int:
    """Return the bytes that tasks wrote to be shuffled, as a log of Spark's events counts them."""
    total = 0
    for file in log.iterdir():
        with file.open() as lines:
            for line in lines:
                if line.startswith('{"Event":"SparkListenerTaskEnd"'):
                    metrics = json.loads(line).get("Task Metrics") or {}
                    total += metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
    return total


def _size(path: Path) -> int:
    return (
        sum(file.stat().st_size for file in path.rglob("*") if file.is_file()) if path.is_dir() else path.stat().st_size
    )


def growth_part(
    sizes: Sequence[int], giant: int, seed: int, folder: Path, checker: Callable[[Path, Path], list[str]]
) -> list[Cost]:
    """Measure, and print a table, the growth, and what more machines would do."""
    print(f"histories of {OPERATIONS} operations, the whole command; but for histories and seconds of one history")
    print(HEAD)
    costs = []
    for number, size in enumerate(sizes):
        data, out = folder / f"histories-{number}", folder / f"verdicts-{number}"
        write_histories(data, size, max(_FEWEST_FILES, math.ceil(size / _IN_A_FILE)), seed)
        costs.append(cost(checker(data, out), size, data, out, folder / f"events-{number}"))
        print(costs[-1].line(), flush=True)
        for file in data.iterdir():
            file.unlink()
    told(costs)
    plan(costs)
    write_giant(folder / "giant.parquet", giant, seed)
    data, out = folder / "giant.parquet", folder / "verdicts-giant"
    one = cost(checker(data, out), 1, data, out, folder / "events-giant")
    beside = one.wall - growth([(float(each.histories), each.wall) for each in costs]).start
    print(f"one history of {giant:,} operations on one key: {one.wall:,.2f} s, {one.cpu:,.2f} s of processors;")
    print(f"without what a start takes {beside / giant * 1e6:,.2f} us an operation")
    return costs


def told(costs: Sequence[Cost], beyond: int = 10_000_000) -> None:
    """Print the growth of the time that passed and of processor time, and what they come to for more histories."""
    for name in ("wall", "cpu"):
        points = [(float(each.histories), float(getattr(each, name))) for each in costs]
        found = growth(points)
        print(f"{name}: {found.start:,.1f} s + {found.each * 1e6:,.2f} us a history; power {found.power:.3f}")
        by_power = found.beyond(beyond, max(points))
        print(f"{name}: {beyond:,} histories: {found.at(beyond):,.0f} s by the line, {by_power:,.0f} s by the power")


def plan(costs: Sequence[Cost], operations: int = 10**9, workers: int = 100, cores: int = 4) -> None:
    """Print what each of some workers would do, from processor time and bytes a history."""
    count = operations // OPERATIONS
    largest = max(costs)
    each = growth([(float(one.histories), one.cpu) for one in costs]).each * count / (workers * cores)
    sizes = (largest.read, largest.shuffled, largest.written)
    read, moved, written = (size / largest.histories * count / workers / 1e9 for size in sizes)
    print(f"{operations:,} operations in {count:,} histories on {workers} workers of {cores} cores:")
    print(f"{each:,.0f} s of each core; each worker reads {read:,.2f} GB, shuffles {moved:,.2f}, writes {written:,.2f}")
