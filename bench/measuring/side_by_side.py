"""Two processes on one map: each has keys and a processor of its own, and is timed alone and beside the other.

`measure` starts them, and has them go through rounds of put, get, update and remove. In the end each process must find
the other's keys, and after they were removed none.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from statistics import median
from time import perf_counter_ns
from typing import Any, NamedTuple

from measuring.timing import Time, time_round
from measuring.workload import random_keys
from peers.base import Ints
from peers.on_disk import ON_DISK
from peers.shared import SHARED, Opened

KINDS = {**SHARED, **ON_DISK}

PROCESSES = 2
STEPS = ("put", "get", "update", "remove")
#: Operations of a step in a round, so that rounds last milliseconds.
_OPERATIONS = 40_000
_CONTEXT = multiprocessing.get_context("spawn")


class Speed(NamedTuple):
    """One process's times of a step, alone and beside the other."""

    alone: Time
    together: Time

    @property
    def ratio(self) -> float:
        return self.together.wall / self.alone.wall


class Result(NamedTuple):
    """Times by step of each process, and the median share of a round in which both were at work."""

    speeds: dict[str, list[Speed]]
    overlap: float


class Wrong(Exception):
    """A map does not hold what the processes have put there."""


def wrong(opened: Opened, keys: Ints, *, full: bool) -> int:
    """Count the keys that a process does not find as they were filled, or that it still finds."""
    expected = (keys ^ 1).tolist() if full else [None] * len(keys)
    return sum(found != value for found, value in zip(opened.look(keys.tolist()), expected, strict=True))


def serve(
    pipe: Connection, barrier: Any, number: int, peer: str, where: Any, bulk: bool, shares: Sequence[Ints], cycles: int
) -> None:
    """What a process does: open the map, then obey."""
    processors = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {processors[number % len(processors)]})
    opened = KINDS[peer].open(where, bulk)
    keys = shares[number]
    put, get, remove = opened.loops
    these, first, second = (opened.convert(ints) for ints in (keys, keys ^ 1, keys ^ 2))
    steps: dict[str, Callable[[], object]] = {
        "put": lambda: put(these, first),
        "get": lambda: get(these),
        "update": lambda: put(these, second),
        "remove": lambda: remove(these),
    }
    orders: dict[str, Callable[[], object]] = {
        "fill": steps["put"],
        "empty": steps["remove"],
        "count what is wrong": lambda: sum(wrong(opened, share, full=True) for share in shares),
        "count what is left": lambda: sum(wrong(opened, share, full=False) for share in shares),
    }
    pipe.send("ready")
    while (order := pipe.recv()) != "end":
        if order in orders:
            pipe.send(orders[order]())
            continue
        if order == "together":
            barrier.wait()
        begin = perf_counter_ns()
        times = time_round([steps], len(keys), cycles).times
        pipe.send((begin, perf_counter_ns(), times))


@contextmanager
def _processes(peer: str, where: Any, bulk: bool, shares: Sequence[Ints], cycles: int) -> Iterator[list[Connection]]:
    barrier = _CONTEXT.Barrier(len(shares))
    pipes, processes = [], []
    try:
        for number in range(len(shares)):
            ours, theirs = _CONTEXT.Pipe()
            arguments = (theirs, barrier, number, peer, where, bulk, shares, cycles)
            process = _CONTEXT.Process(target=serve, args=arguments, daemon=True)
            process.start()
            theirs.close()
            pipes.append(ours)
            processes.append(process)
        for pipe in pipes:
            pipe.recv()
        yield pipes
        for pipe in pipes:
            pipe.send("end")
        for process in processes:
            process.join()
    finally:
        for process in processes:
            process.kill()


def _ask(pipes: Sequence[Connection], order: str) -> list[Any]:
    for pipe in pipes:
        pipe.send(order)
    return [pipe.recv() for pipe in pipes]


def _expect_none(peer: str, pipes: Sequence[Connection], order: str) -> None:
    if any(found := _ask(pipes, order)):
        raise Wrong(f"{KINDS[peer].title}: asked to {order}, the processes say {found}")


def measure(peer: str, *, bulk: bool, size: int, rounds: int, seed: int, folder: str = "") -> Result:
    """Time a kind of map; one that has files has them in a folder.

    Raises
    ------
    Wrong
        If in the end a process does not find all that the processes have put there, or still finds it when removed.
    """
    where, remove = KINDS[peer].make(folder)
    keys = random_keys(size, seed)
    shares = [keys[number::PROCESSES] for number in range(PROCESSES)]
    cycles = max(1, _OPERATIONS // size) if bulk else 1
    alone: list[dict[str, Time]] = [{} for _ in shares]
    together: list[dict[str, Time]] = [{} for _ in shares]
    overlaps = []
    try:
        with _processes(peer, where, bulk, shares, cycles) as pipes:
            for turn in range(rounds + 1):
                answers = []
                for number, pipe in enumerate(pipes):
                    others = [*pipes[:number], *pipes[number + 1 :]]
                    _ask(others, "fill")
                    answers += _ask([pipe], "alone")
                    _ask(others, "empty")
                both = _ask(pipes, "together")
                if turn == 0:  # the first touch of memory, and compiling
                    continue
                for best, answer in zip([*alone, *together], [*answers, *both], strict=True):
                    for step, time in answer[2].items():
                        best[step] = time.least(best.get(step, time))
                shared = min(end for _, end, _ in both) - max(begin for begin, _, _ in both)
                whole = max(end for _, end, _ in both) - min(begin for begin, _, _ in both)
                overlaps.append(max(0.0, shared / whole))
            _ask(pipes, "fill")
            _expect_none(peer, pipes, "count what is wrong")
            _ask(pipes, "empty")
            _expect_none(peer, pipes, "count what is left")
    finally:
        remove()
    speeds = {step: [Speed(alone[k][step], together[k][step]) for k in range(PROCESSES)] for step in STEPS}
    return Result(speeds, median(overlaps))
