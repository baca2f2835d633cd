"""Two threads doing the same bulk operation at the same time, each on its half of the keys.

`ctrie.py` lets its threads drift, so that one reads while the other removes. Here they meet at a compiled barrier
before every step, pinned to different processors, so that each figure is of one operation. Only for the Ctrie: where
a peer holds the interpreter lock there is nothing to keep in step.

    python bench/in_step.py [--keys 10000] [--rounds 300] [--seed 1]
"""

from __future__ import annotations

import argparse
import os
import statistics
import threading
import time
from typing import Any

import numpy as np

from latchfree import Arena, Ctrie
from latchfree.atomics import fetch_add, load
from latchfree.jit import kernel
from latchfree.kinds import Word

TARGETS = {"put": 70, "get": 25, "get again": 25, "update": None, "remove": 110}
_WARM = 2


@kernel
def meet(counter: Word, target: Word) -> None:
    """Arrive, and spin until `target` arrivals."""
    fetch_add(counter, np.uint64(0), np.uint64(1))
    while load(counter, np.uint64(0)) < target:
        pass


def measure(size: int, rounds: int, seed: int) -> dict[str, list[tuple[float, float, float]]]:
    """Per operation and round, in nanoseconds an operation: processor time of its thread, wall time of the step over
    all operations of both threads; and the share of the step that they spent together.
    """
    trie: Ctrie[int, int] = Ctrie(keys=int, values=int, arena=Arena.anonymous(16 << 30))
    trie.arena.words[: (rounds + _WARM) * size * 80 : 512] += np.uint64(
        0
    )  # the first touch of a page is not the trie's
    keys = np.random.default_rng(seed).choice(1 << 62, size, replace=False)
    counter = np.zeros(8, np.uint64)
    address = np.uint64(counter.ctypes.data)
    spans: dict[tuple[int, str], list[tuple[int, int, int]]] = {}

    def body(number: int) -> None:
        os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[number]})
        mine = np.ascontiguousarray(keys[number * size // 2 : (number + 1) * size // 2])
        steps: dict[str, Any] = {
            "put": lambda: trie.put_many(mine, mine),
            "get": lambda: trie.get_many(mine),
            "get again": lambda: trie.get_many(mine),
            "update": lambda: trie.put_many(mine, mine),
            "remove": lambda: trie.remove_many(mine),
        }
        target = 0
        for _ in range(rounds + _WARM):
            for name, step in steps.items():
                target += 2
                meet(address, np.uint64(target))
                begin, cpu = time.perf_counter_ns(), time.thread_time_ns()
                step()
                cpu, end = time.thread_time_ns() - cpu, time.perf_counter_ns()
                spans.setdefault((number, name), []).append((begin, end, cpu))

    meet(address, np.uint64(0))
    counter[:] = 0
    trie.put_many(keys, keys)
    trie.get_many(keys)
    trie.remove_many(keys)
    threads = [threading.Thread(target=body, args=(number,)) for number in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    result: dict[str, list[tuple[float, float, float]]] = {}
    for name in TARGETS:
        pairs = list(zip(spans[0, name], spans[1, name], strict=True))[_WARM:]
        result[name] = []
        for a, b in pairs:
            whole = max(a[1], b[1]) - min(a[0], b[0])
            both = max(0, min(a[1], b[1]) - max(a[0], b[0]))
            result[name].append(((a[2] + b[2]) / size, whole / size, both / whole))
    return result


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keys", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if len(os.sched_getaffinity(0)) < 2:
        raise SystemExit("in_step.py needs two processors")
    print(
        f"two threads in step, {options.keys:,} keys, nanoseconds per operation, minimum / median, seed {options.seed}"
    )
    print(f"{'operation':<11}{'cpu of its thread':>19}{'wall over both':>18}{'target':>9}{'together':>10}")
    for name, rounds in measure(options.keys, options.rounds, options.seed).items():
        cpu, wall, together = (sorted(column) for column in zip(*rounds, strict=True))
        target = f"<= {TARGETS[name]}" if TARGETS[name] else ""
        figures = [f"{column[0]:.1f} / {statistics.median(column):.1f}" for column in (cpu, wall)]
        print(f"{name:<11}{figures[0]:>19}{figures[1]:>18}{target:>9}{statistics.median(together):>10.0%}")


if __name__ == "__main__":
    main()
