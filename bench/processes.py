"""Two processes on one map, each on keys of its own: ``python bench/processes.py``.

Each process is timed alone (the other one's keys are in the map, it itself sleeps) and together with the other, in
turns; the smallest of each figure stands. Asked of latchfree: a process does not take more than 1.3 times as long
because of the other. Beside it, in the same run, other maps that processes can share.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from statistics import median
from time import perf_counter_ns
from typing import Any, NamedTuple

from measuring.soak import Figure, show
from measuring.timing import Time, time_round
from measuring.workload import random_keys
from peers import Unavailable
from peers.shared import SHARED

PROCESSES = 2
STEPS = ("put", "get", "update", "remove")
ASKED = 1.3
_LATCHFREE = "latchfree"
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


def serve(
    pipe: Connection, barrier: Any, number: int, peer: str, where: Any, bulk: bool, keys: Any, cycles: int
) -> None:
    """What a process does: open the map, then obey."""
    processors = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {processors[number % len(processors)]})
    opened = SHARED[peer].open(where, bulk)
    put, get, remove = opened.loops
    these, first, second = (opened.convert(ints) for ints in (keys, keys ^ 1, keys ^ 2))
    steps: dict[str, Callable[[], object]] = {
        "put": lambda: put(these, first),
        "get": lambda: get(these),
        "update": lambda: put(these, second),
        "remove": lambda: remove(these),
    }
    orders: dict[str, Callable[[], object]] = {"fill": steps["put"], "empty": steps["remove"]}
    pipe.send("ready")
    while (order := pipe.recv()) != "end":
        if order in orders:
            orders[order]()
            pipe.send("done")
            continue
        if order == "together":
            barrier.wait()
        begin = perf_counter_ns()
        times = time_round([steps], len(keys), cycles).times
        pipe.send((begin, perf_counter_ns(), times))


@contextmanager
def _processes(peer: str, where: Any, bulk: bool, shares: Sequence[Any], cycles: int) -> Iterator[list[Connection]]:
    barrier = _CONTEXT.Barrier(len(shares))
    pipes, processes = [], []
    try:
        for number, keys in enumerate(shares):
            ours, theirs = _CONTEXT.Pipe()
            arguments = (theirs, barrier, number, peer, where, bulk, keys, cycles)
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


def measure(peer: str, *, bulk: bool, size: int, rounds: int, seed: int) -> Result:
    """Time a kind of map."""
    where, remove = SHARED[peer].make()
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
    finally:
        remove()
    speeds = {step: [Speed(alone[k][step], together[k][step]) for k in range(PROCESSES)] for step in STEPS}
    return Result(speeds, median(overlaps))


def _mean(speeds: Sequence[Speed], figure: str) -> float:
    return sum(getattr(speed, figure).wall for speed in speeds) / len(speeds)


def own(sizes: Sequence[int], rounds: int, seed: int) -> tuple[list[Figure], dict[int, Result]]:
    """latchfree against itself: prints, and returns the figures asked for and the single calls by size."""
    figures = []
    singles = {}
    print(f"{'ns an operation, wall':<34}{'alone':>10}{'together':>10}{'ratio':>8}")
    for bulk in (True, False):
        for size in sizes:
            result = measure(_LATCHFREE, bulk=bulk, size=size, rounds=rounds, seed=seed)
            what = f"{'bulk' if bulk else 'single'}, {size:,} keys"
            for step, speeds in result.speeds.items():
                alone, together = _mean(speeds, "alone"), _mean(speeds, "together")
                worst = max(speed.ratio for speed in speeds)
                print(f"{what + ': ' + step:<34}{alone:>10.1f}{together:>10.1f}{worst:>8.2f}")
                if step != "update":
                    figures.append(Figure(f"{what}: {step} beside another process", worst, ASKED, "times"))
            print(f"{what + ': both at work':<34}{result.overlap:>20.0%}")
            if not bulk:
                singles[size] = result
    return figures, singles


def beside(names: Sequence[str], ours: Result, size: int, rounds: int, seed: int) -> None:
    """Print single calls of the peers, with their ratio to latchfree's."""
    print(f"single calls, {size:,} keys, ns an operation (ratio to latchfree)")
    print(f"{'':<16}" + "".join(f"{f'{step}, {how}':>22}" for step in ("put", "get") for how in ("alone", "together")))
    for name in [_LATCHFREE, *names]:
        try:
            result = ours if name == _LATCHFREE else measure(name, bulk=False, size=size, rounds=rounds, seed=seed)
        except (ImportError, Unavailable) as reason:
            print(f"{SHARED[name].title:<16}skipped: {reason}; pip install 'latchfree[bench]'")
            continue
        cells = []
        for step in ("put", "get"):
            for how in ("alone", "together"):
                mine, theirs = _mean(ours.speeds[step], how), _mean(result.speeds[step], how)
                cells.append(f"{theirs:,.0f} ({theirs / mine:,.2f}x)")
        print(f"{SHARED[name].title:<16}" + "".join(f"{cell:>22}" for cell in cells))


def main() -> int:
    """Run and print; 1 if something asked for was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", default="10000,300000", metavar="N[,N]", help="the first is for the peers too")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--peer-rounds", type=int, default=3)
    parser.add_argument("--peers", default="lmdb,ultradict,manager", metavar="NAMES")
    parser.add_argument("--seed", type=int, default=1, help="of the random keys (default: 1)")
    given = parser.parse_args()
    names = [name for name in given.peers.split(",") if name]
    unknown = [name for name in names if name not in SHARED]
    if unknown:
        parser.error(f"--peers: no peer called {unknown[0]!r}; there are {', '.join(SHARED)}")
    if len(os.sched_getaffinity(0)) < PROCESSES:
        raise SystemExit("processes.py needs two processors")
    sizes = [int(size) for size in given.keys.split(",")]
    figures, singles = own(sizes, given.rounds, given.seed)
    beside(names, singles[sizes[0]], sizes[0], given.peer_rounds, given.seed)
    return show(figures)


if __name__ == "__main__":
    sys.exit(main())
