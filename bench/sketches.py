"""Benchmark of the sketches beside other packages, all in one run: ``python bench/sketches.py``.

Prints nanoseconds an item for adding many items and for asking for many, the best of some rounds, with one thread and
with two. Items are 64-bit integers and strings of decimal numbers; KLL takes numbers only. A peer that is not installed
is left out, and said.

A second table has nanoseconds an item of `add` in a loop of Python, to the sketch and to a buffer of 256, in turns. A
third one has what the first has, of sketches that hash as another library does.
With ``--bursts N`` there is another one instead of both: see `measuring.bursts`.
"""

from __future__ import annotations

import argparse
import importlib
import json
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

from latchfree.sketches import (
    KLL,
    Bloom,
    CountingBloom,
    CountMin,
    HyperLogLog,
    InverseBloom,
    MinHash,
    PartitionedBloom,
    ScalableBloom,
    StableBloom,
    TopK,
)
from measuring.bursts import ratios

Add = Callable[[Any], Any]


def _ours(items: int) -> dict[str, Callable[[], Any]]:
    return {
        "Bloom": lambda: Bloom(items, 0.01),
        "PartitionedBloom": lambda: PartitionedBloom(items, 0.01),
        "CountingBloom": lambda: CountingBloom(items, 0.01),
        "ScalableBloom": lambda: ScalableBloom(items // 100, 0.01, most=items),
        "StableBloom": lambda: StableBloom(8 * items, 0.01),
        "InverseBloom": lambda: InverseBloom(items),
        "HyperLogLog": lambda: HyperLogLog(0.01),
        "CountMin": lambda: CountMin(0.001, 0.99),
        "CountMin, conservative": lambda: CountMin(0.001, 0.99, conservative=True),
        "TopK": lambda: TopK(10),
        "MinHash, 128 hashes": lambda: MinHash(128),
        "KLL": lambda: KLL(0.01),
    }


def _foreign(items: int) -> dict[str, Callable[[], Any]]:
    return {
        "Bloom, spark-v1": lambda: Bloom(items, 0.01, hash="spark-v1"),
        "Bloom, spark-v2": lambda: Bloom(items, 0.01, hash="spark-v2"),
        "HyperLogLog, datasketches": lambda: HyperLogLog(0.01, hash="datasketches"),
        "CountMin, datasketches": lambda: CountMin(0.001, 0.99, hash="datasketches"),
        "CountMin, spark": lambda: CountMin(0.001, 0.99, hash="spark"),
    }


def _rbloom(items: int) -> dict[str, Callable[[], tuple[Add, Add | None]]]:
    rbloom = importlib.import_module("rbloom")

    def make() -> tuple[Add, Add | None]:
        made = rbloom.Bloom(items, 0.01)
        return made.update, lambda given: [item in made for item in given]

    return {"rbloom": make}


def _datasketches(items: int) -> dict[str, Callable[[], tuple[Add, Add | None]]]:
    ds = importlib.import_module("datasketches")

    def one_by_one(update: Callable[[Any], Any]) -> Add:
        def add(given: Any) -> None:
            for item in given:
                update(item)

        return add

    return {
        "datasketches HLL": lambda: (one_by_one(ds.hll_sketch(14).update), None),
        "datasketches Count-Min": lambda: (one_by_one(ds.count_min_sketch(5, 2719).update), None),
        "datasketches KLL": lambda: (lambda given: ds.kll_doubles_sketch(200).update(given), None),
        "datasketches frequent items": lambda: (one_by_one(ds.frequent_strings_sketch(10).update), None),
    }


def _pyprobables(items: int) -> dict[str, Callable[[], tuple[Add, Add | None]]]:
    probables = importlib.import_module("probables")

    def make(kind: str, *arguments: Any) -> Callable[[], tuple[Add, Add | None]]:
        def made() -> tuple[Add, Add | None]:
            filled = getattr(probables, kind)(*arguments)

            def add(given: Any) -> None:
                for item in given:
                    filled.add(item)

            return add, lambda given: [filled.check(item) for item in given]

        return made

    return {
        "pyprobables Bloom": make("BloomFilter", items, 0.01),
        "pyprobables expanding Bloom": make("ExpandingBloomFilter", items // 100, 0.01),
        "pyprobables Count-Min": make("CountMinSketch", 2719, 5),
    }


#: Of which the second table has rows, and how many items a loop has.
LOOPED = ("Bloom", "HyperLogLog", "CountMin", "TopK", "KLL")
LOOP = 50_000


def _in_a_loop(add: Callable[[Any], None], items: Sequence[Any]) -> None:
    for item in items:
        add(item)


def _measure_loops(make: Callable[[], Any], items: Sequence[Any], rounds: int) -> dict[str, float]:
    found: dict[str, list[float]] = {"to the sketch": [], "to a buffer": []}
    for _ in range(rounds):
        plain, through = make(), make()
        found["to the sketch"].append(_nanoseconds(lambda a=plain.add: _in_a_loop(a, items), len(items)))
        buffer = through.buffered()

        def buffered(b: Any = buffer) -> None:
            _in_a_loop(b.add, items)
            b.close()

        found["to a buffer"].append(_nanoseconds(buffered, len(items)))
    return {name: min(times) for name, times in found.items()}


PEERS = {"rbloom": _rbloom, "datasketches": _datasketches, "pyprobables": _pyprobables}
#: Items that a peer in plain Python is given: it is a hundred times slower.
FEW = 20_000


def _nanoseconds(call: Callable[[], Any], items: int) -> float:
    begun = time.perf_counter_ns()
    call()
    return (time.perf_counter_ns() - begun) / items


def _together(calls: Sequence[Callable[[], Any]]) -> None:
    threads = [threading.Thread(target=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _measure_ours(make: Callable[[], Any], items: Any, rounds: int) -> dict[str, float | None]:
    count, half = len(items), len(items) // 2
    found: dict[str, list[float]] = {"add": [], "two threads": [], "ask": []}
    for _ in range(rounds):
        sketch = make()
        found["add"].append(_nanoseconds(lambda s=sketch: s.add_many(items), count))
        ask = getattr(sketch, "contains_many", None) or getattr(sketch, "estimate_many", None)
        if ask is not None:
            found["ask"].append(_nanoseconds(lambda a=ask: a(items), count))
        both = make()
        halves = [lambda b=both: b.add_many(items[:half]), lambda b=both: b.add_many(items[half:])]
        found["two threads"].append(_nanoseconds(lambda h=halves: _together(h), count))
    return {name: min(times) if times else None for name, times in found.items()}


def _measure_peer(make: Callable[[], tuple[Add, Add | None]], items: Any, rounds: int) -> dict[str, float | None]:
    adds, asks = [], []
    for _ in range(rounds):
        add, ask = make()
        adds.append(_nanoseconds(lambda a=add: a(items), len(items)))
        if ask is not None:
            asks.append(_nanoseconds(lambda a=ask: a(items), len(items)))
    return {"add": min(adds), "two threads": None, "ask": min(asks) if asks else None}


def _show_bursts(console: Console, given: argparse.Namespace, wanted: tuple[str, ...] | None) -> None:
    """Print of each sketch how two threads that run at the same time compare with one."""
    table = Table(
        "sketch", "one thread", "two", "ratio", "bursts", title="nanoseconds an item, medians of short bursts"
    )
    for name, make in _ours(given.items).items():
        if wanted is None or name.startswith(wanted):
            found = ratios(name, make, given.bursts)
            if found is None:
                table.add_row(name, "", "", "", "too few: the machine is too busy")
            else:
                one, two, count = found
                table.add_row(name, f"{one:,.1f}", f"{two:,.1f}", f"{two / one:.2f}", f"{count:,}")
    console.print(table)


def main(argv: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="bench/sketches.py", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--items", type=int, default=1_000_000, help="different items (default: 1,000,000)")
    parser.add_argument("--rounds", type=int, default=5, help="of which the best counts (default: 5)")
    parser.add_argument("--only", metavar="NAMES", help="comma-separated beginnings of names")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every figure to FILE")
    parser.add_argument("--bursts", type=int, metavar="N", help="only compare two threads with one, in short bursts")
    given = parser.parse_args(argv)
    if given.items < 1000 or given.rounds < 1:
        parser.error("--items: at least 1,000; --rounds: at least 1")
    wanted = None if given.only is None else tuple(given.only.split(","))
    numbers = np.random.default_rng(1).permutation(given.items).astype(np.int64)
    texts = pa.array(numbers).cast(pa.string())
    console, figures = Console(), []
    if not console.is_terminal:
        console.width = 100  # of a recorded table
    table = Table("sketch", "items", "add", "two threads", "ask", title="nanoseconds an item")
    foreign = Table("sketch, hash", "items", "add", "two threads", "ask", title="nanoseconds an item, foreign hashes")

    def show(name: str, kind: str, row: dict[str, float | None], table: Table = table) -> None:
        figures.append({"sketch": name, "items": kind, **row})
        table.add_row(name, kind, *["" if value is None else f"{value:,.1f}" for value in row.values()])

    if given.bursts:
        _show_bursts(console, given, wanted)
        return
    for name, make in _ours(given.items).items():
        if wanted is None or name.startswith(wanted):
            show(name, "integers", _measure_ours(make, numbers, given.rounds))
            if name != "KLL":
                show(name, "strings", _measure_ours(make, texts, given.rounds))
    looped = Table("add in a loop", "items", "to the sketch", "to a buffer", title="nanoseconds an item")
    count = min(LOOP, given.items)
    for name, make in _ours(given.items).items():
        if name not in LOOPED or (wanted is not None and not name.startswith(wanted)):
            continue
        kinds = {"integers": numbers[:count].tolist(), "strings": texts.slice(0, count).to_pylist()}
        for kind in ("integers",) if name == "KLL" else kinds:
            row = _measure_loops(make, kinds[kind], given.rounds)
            figures.append({"sketch": f"{name}, in a loop", "items": kind, **row})
            looped.add_row(name, kind, *[f"{value:,.0f}" for value in row.values()])
    for name, make in _foreign(given.items).items():
        if wanted is None or name.startswith(wanted):
            for kind, items in (("integers", numbers), ("strings", texts)):
                show(name, kind, _measure_ours(make, items, given.rounds), foreign)
    few = min(FEW, given.items)
    for package, makers in PEERS.items():
        if wanted is not None and not package.startswith(wanted):
            continue
        try:
            found = makers(given.items)
        except ImportError as error:
            console.print(f"{package}: left out: {error}")
            continue
        for name, peer in found.items():
            if name.endswith("KLL"):
                show(name, "floats, in bulk", _measure_peer(peer, numbers.astype(np.float64), given.rounds))
                continue
            short = texts.slice(0, few if package != "rbloom" else given.items).to_pylist()
            show(name, "strings", _measure_peer(peer, short, given.rounds))
    console.print(table)
    for more in (looped, foreign):
        if more.row_count:
            console.print(more)
    if given.json is not None:
        given.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
