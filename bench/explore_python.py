"""How many schedules of plain Python a second of processor time runs, at 20 and at 60 steps.

``python bench/explore_python.py [--profile]``
"""

import argparse
import cProfile
import pstats
import threading
import time

from latchfree_explore import explore_threads


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


def five(counter: Locked | Unlocked) -> None:
    """Take twenty steps with the lock, ten without it."""
    for _ in range(5):
        counter.increment()


PROGRAMS = {
    "2 threads, 5 unlocked increments each": (Unlocked, 2),
    "3 threads, 5 locked increments each": (Locked, 3),
}


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--profile", action="store_true", help="print where the time goes")
    parser.add_argument("--schedules", type=int, default=4_000)
    arguments = parser.parse_args()
    print(f"{'program':40s} {'strategy':9s} {'steps':>5s} {'schedules':>9s} {'a second':>9s} {'steps a second':>14s}")
    for name, (kind, threads) in PROGRAMS.items():
        for strategy in "dpor", "random":
            profile = cProfile.Profile()
            if arguments.profile:
                profile.enable()
            began = time.process_time()
            result = explore_threads(
                *[five] * threads, setup=kind, strategy=strategy, schedules=arguments.schedules, raises=False
            )
            seconds = time.process_time() - began
            profile.disable()
            runs = result.schedules + result.cut
            rate = runs / seconds
            print(
                f"{name:40s} {strategy:9s} {result.longest:5d} {runs:9,d} {rate:9,.0f} {rate * result.longest:14,.0f}",
                flush=True,
            )
            if arguments.profile:
                pstats.Stats(profile).sort_stats("tottime").print_stats(25)


if __name__ == "__main__":
    main()
