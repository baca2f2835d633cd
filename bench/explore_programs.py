"""How long every small program of calls on a class takes, explored completely in both models and judged.

``python bench/explore_programs.py [--shapes 2x2 3x1 2x3]``

A program of shape TxC has T threads with C calls each, drawn from the operations on two keys; programs that differ in
the order of the threads count once.
"""

import argparse
import itertools
import threading
import time
from collections.abc import Hashable

from latchfree_explore.python.calling import calls_of
from latchfree_explore.python.code import Code
from latchfree_explore.python.exploring import explore_program
from latchfree_explore.scenario import Scenario
from latchfree_model import get_model


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


CALLS = ("put(0, 1)", "put(1, 2)", "get(0)", "remove(0)")


def programs(threads: int, calls: int) -> list[str]:
    """Return the programs of a shape."""
    bodies = ["; ".join(body) for body in itertools.product(CALLS, repeat=calls)]
    return [" | ".join(chosen) for chosen in itertools.combinations_with_replacement(bodies, threads)]


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shapes", nargs="+", default=["2x2", "3x1", "2x3"])
    arguments = parser.parse_args()
    print(f"{'shape':5s} {'programs':>8s} {'explored':>8s} {'schedules':>9s} {'histories':>9s} {'processor s':>11s}")
    for shape in arguments.shapes:
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


if __name__ == "__main__":
    main()
