"""Long histories that grow, watched by a monitor: ``python bench/watching.py``.

Feeds a monitor with the events of a register, a map and a queue, ten million operations of each unless
``--operations N`` says otherwise, and prints at each tenth how many configurations are kept and how much memory the
process has. Exits 1 if the memory at the end is a tenth more than after the first tenth, and 4 MB.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Sequence

from latchfree_lincheck.engine.resident import resident
from latchfree_lincheck.watching import Event, Monitor
from latchfree_model import UNKNOWN, Call, get_model

CLIENTS = 3
KEYS = 1000
"""Of the map, at once: every ten thousand operations, new keys take the place of the old ones."""


def _call(rng: random.Random, name: str, size: int, number: int) -> tuple[str, tuple[int, ...]]:
    """Return the next call; the queue never holds more than a few items."""
    if name == "register":
        return ("read", ()) if rng.random() < 0.5 else ("write", (number,))
    if name == "queue":
        return ("enqueue", (number,)) if size < 3 and rng.random() < 0.5 else ("dequeue", ())
    epoch, key = divmod(number, 10_000)
    if key < KEYS:  # the keys of before go
        return "remove", ((epoch - 1) * KEYS + key,)
    kind, mine = rng.random(), epoch * KEYS + rng.randrange(KEYS)
    return ("get", (mine,)) if kind < 0.5 else ("put", (mine, number)) if kind < 0.9 else ("remove", (mine,))


def watch(name: str, operations: int) -> bool:
    """Feed a monitor, print what it keeps, and return whether the memory stayed flat."""
    rng, monitor, model = random.Random(1), Monitor(name), get_model(name)
    running: dict[int, object] = {}
    # Of the map, the state of each key by itself: a model's step copies the whole map.
    states: dict[object, object] = {}
    sizes, number, begun = [], 0, time.perf_counter()
    while number < operations:
        client = rng.randrange(CLIENTS)
        if client in running:
            monitor.feed(Event("ok", client, result=running.pop(client)))
            continue
        number += 1
        key: object = None
        state = states.get(None, model.init())
        f, arguments = _call(rng, name, len(state) if isinstance(state, tuple) else 0, number)
        if name == "map":
            key = arguments[0]
            state = states.get(key, model.init())
        result, after = model.apply(state, Call(f, arguments, UNKNOWN))
        if after == model.init():
            states.pop(key, None)
        else:
            states[key] = after
        monitor.feed(Event("invoke", client, f, arguments))
        running[client] = result
        if number % (operations // 10) == 0:
            sizes.append(resident() / (1 << 20))
            spent = time.perf_counter() - begun
            print(
                f"{name:<9} {number:>11,} operations  {monitor.configurations:>6,} configurations  "
                f"{sizes[-1]:6.1f} MB  {spent:7.1f} s  {monitor.verdict}",
                flush=True,
            )
    return monitor.verdict == "ok" and sizes[-1] <= 1.1 * sizes[0] + 4


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; returns the exit code."""
    parser = argparse.ArgumentParser(prog="bench/watching.py", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--operations", type=int, default=10_000_000, metavar="N")
    parser.add_argument("--only", default="register,map,queue", metavar="NAMES")
    given = parser.parse_args(argv)
    flat = [watch(name, given.operations) for name in given.only.split(",")]
    return 0 if all(flat) else 1


if __name__ == "__main__":
    sys.exit(main())
