"""How fast plain Python is explored: ``python bench/explore_python.py [--profile] [--shapes 2x2 3x1 2x3]``.

Prints how many schedules of plain Python a second of processor time runs, at 20 and at 60 steps. With ``--shapes`` it
prints instead how long every small program of calls on a class takes, explored completely in both models and judged: a
program of shape TxC has T threads with C calls each, drawn from the operations on two keys; programs that differ in the
order of the threads count once.
"""

from __future__ import annotations

import argparse
import cProfile
import itertools
import pstats
import threading
import time
from collections.abc import Hashable, Sequence

from latchfree_explore import explore_threads
from latchfree_explore.python.calling import calls_of
from latchfree_explore.python.code import Code
from latchfree_explore.python.exploring import explore_program
from latchfree_explore.scenario import Scenario
from latchfree_model import get_model


class Locked:
    """A counter with a lock: four steps an increment."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.n = 0

    def increment(self) -> None:
        """Add one."""
        with self.lock:
            before = self.n
            self.n = before + 1


class Unlocked:
    """A counter without a lock: two steps an increment."""

    def __init__(self) -> None:
        self.n = 0

    def increment(self) -> None:
        """Add one, or lose an addition."""
        before = self.n
        self.n = before + 1


class LockedMap:
    """A map with a lock, and a count of its changes."""

    def __init__(self) -> None:
        self.items: dict[int, int] = {}
        self.changes = 0
        self.lock = threading.Lock()

    def put(self, key: int, value: int) -> int | None:
        """Set a key; return the value before."""
        with self.lock:
            old = self.items.get(key)
            self.items[key] = value
            self.changes += 1
            return old

    def get(self, key: int) -> int | None:
        """Return a value."""
        with self.lock:
            if key in self.items:
                return self.items[key]
            return None

    def remove(self, key: int) -> int | None:
        """Take a key out; return the value before."""
        with self.lock:
            if key not in self.items:
                return None
            self.changes += 1
            return self.items.pop(key)


def five(counter: Locked | Unlocked) -> None:
    """Take twenty steps with the lock, ten without it."""
    for _ in range(5):
        counter.increment()


COUNTERS = {
    "2 threads, 5 unlocked increments each": (Unlocked, 2),
    "3 threads, 5 locked increments each": (Locked, 3),
}
CALLS = ("put(0, 1)", "put(1, 2)", "get(0)", "remove(0)")


def programs(threads: int, calls: int) -> list[str]:
    """Return the programs of a shape."""
    bodies = ["; ".join(body) for body in itertools.product(CALLS, repeat=calls)]
    return [" | ".join(chosen) for chosen in itertools.combinations_with_replacement(bodies, threads)]


def speed(schedules: int, *, profiled: bool) -> None:
    """Print schedules a second."""
    print(f"{'program':40s} {'strategy':9s} {'steps':>5s} {'schedules':>9s} {'a second':>9s} {'steps a second':>14s}")
    for name, (kind, threads) in COUNTERS.items():
        for strategy in "dpor", "random":
            profile = cProfile.Profile()
            if profiled:
                profile.enable()
            began = time.process_time()
            result = explore_threads(
                *[five] * threads, setup=kind, strategy=strategy, schedules=schedules, raises=False
            )
            seconds = time.process_time() - began
            profile.disable()
            runs = result.schedules + result.cut
            rate = runs / seconds
            print(
                f"{name:40s} {strategy:9s} {result.longest:5d} {runs:9,d} {rate:9,.0f} {rate * result.longest:14,.0f}",
                flush=True,
            )
            if profiled:
                pstats.Stats(profile).sort_stats("tottime").print_stats(25)


def small_programs(shapes: Sequence[str]) -> None:
    """Print how long all programs of each shape take."""
    print(f"{'shape':5s} {'programs':>8s} {'explored':>8s} {'schedules':>9s} {'histories':>9s} {'processor s':>11s}")
    for shape in shapes:
        threads, calls = map(int, shape.split("x"))
        found = programs(threads, calls)
        schedules = complete = judged = 0
        began = time.process_time()
        code, model, known = Code(), get_model("map"), set[Hashable]()
        with code.rewritten(lambda: [LockedMap, LockedMap()]):
            for text in found:
                for switches in "free", "gil":
                    program = calls_of(LockedMap, Scenario.parse(text), model, known=known)
                    result = explore_program(program, switches=switches, strategy="dpor", code=code)
                    assert result.verdict == "ok", result.explain()
                    complete += result.complete
                    schedules += result.schedules + result.cut
                    judged += program.judged
        seconds = time.process_time() - began
        print(f"{shape:5s} {len(found):8,d} {complete:8,d} {schedules:9,d} {judged:9,d} {seconds:11.1f}", flush=True)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", action="store_true", help="print where the time goes")
    parser.add_argument("--schedules", type=int, default=4_000)
    parser.add_argument("--shapes", nargs="+", metavar="TxC", help="of programs: time these instead")
    given = parser.parse_args()
    if given.shapes:
        small_programs(given.shapes)
    else:
        speed(given.schedules, profiled=given.profile)


if __name__ == "__main__":
    main()
