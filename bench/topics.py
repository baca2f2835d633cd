"""Benchmark of topic matchers: ``python bench/topics.py``.

Part ``w0`` matches topics of workload W0 in bulk beside paho's MQTTMatcher and google-re2; part ``seed`` repeats the
published experiments, cold and hot, on topics that differ; part ``threads`` mixes reads and writes in threads; part
``churn`` matches while subscriptions come and go; part ``many`` puts six ``#`` in one pattern of AMQP; part ``filter``
says what a Bloom filter before a matcher saves; part ``pipe`` has topics go through `latchfree match`. Times are CPU
nanoseconds of the calling thread, the least of several rounds; of threads, wall microseconds. All engines that are
given the same topics must find as many matches, or the benchmark fails.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import tempfile
import threading
import time
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from matching.churn import churn
from matching.engines import ENGINES, OURS, maker
from matching.patterns import seed_topics, w0_patterns, w0_topics
from matching.piping import piping
from matching.prefilter import prefilter
from measuring import report

PARTS = ("w0", "seed", "threads", "churn", "many", "filter", "pipe")


def least(step: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """CPU nanoseconds of a step, the least of some rounds, and what it returned."""
    best, result = float("inf"), None
    gc.disable()
    try:
        for _ in range(rounds):
            began = time.thread_time_ns()
            result = step()
            best = min(best, time.thread_time_ns() - began)
    finally:
        gc.enable()
    return best, result


def w0(
    sizes: Sequence[int], names: Sequence[str], rounds: int, seed: int, note: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Nanoseconds to match a topic of W0 and to enter a pattern, for each engine and size."""
    rows = []
    for size in sizes:
        patterns = w0_patterns(size, seed)
        topics = w0_topics(patterns, 100_000, seed)
        for name in names:
            if ENGINES[name].topics(size):
                note(f"w0, {size:,} patterns: {name}")
                rows.append({"part": "w0", "engine": name, "size": size, **_w0_one(name, patterns, topics, rounds)})
    return rows


def _w0_one(name: str, patterns: list[str], topics: list[str], rounds: int) -> dict[str, float]:
    engine = ENGINES[name]
    chosen = topics[: engine.topics(len(patterns))]
    given = engine.prepare(chosen)
    engine.count(engine.build(patterns[:10]), engine.prepare(chosen[:10]))  # compiles
    built, matcher = least(lambda: engine.build(patterns), 1)
    engine.count(matcher, given)
    matched, found = least(lambda: engine.count(matcher, given), rounds)
    if "cached" not in name and found != (expected := _expected(patterns, chosen)):
        raise SystemExit(f"{name} found {found:,} matches of {expected:,}")
    figures = {"build": built / len(patterns), "match": matched / len(chosen)}
    if name == "mask":
        figures["index bytes"] = (matcher.nbytes - sum(map(len, set(patterns)))) / len(patterns)
    return figures


def _expected(patterns: list[str], topics: list[str]) -> int:
    """How many pairs match, by a set of patterns for each of the 32 ways to put wildcards in a topic."""
    known: dict[str, int] = {}
    for pattern in patterns:
        known[pattern] = known.get(pattern, 0) + 1
    total = 0
    for topic in topics:
        words = topic.split("/")
        for mask in range(32):
            total += known.get("/".join("+" if mask >> n & 1 else word for n, word in enumerate(words)), 0)
    return total


def published(names: Sequence[str], rounds: int, seed: int, note: Callable[[str], None]) -> list[dict[str, Any]]:
    """Nanoseconds to subscribe, unsubscribe and look up, in an empty matcher and in one with 1,000 subscriptions."""
    topics = seed_topics(2000, seed)
    rows = []
    for name in names:
        for held in (0, 1000):
            note(f"seed, {held:,} subscriptions: {name}")
            matcher = maker(name)()
            for topic in topics[:held]:
                matcher.subscribe(topic, topic)
            times = [_published_round(matcher, topics[:200], topics[1000:1200]) for _ in range(rounds)]
            best = {step: min(each[step] for each in times) for step in times[0]}
            rows.append({"part": "seed", "engine": name, "held": held, **best})
        tracemalloc.start()
        matcher = maker(name)()
        handles = [matcher.subscribe(topic, 0) for topic in topics[:1000]]
        rows[-1]["bytes"] = tracemalloc.get_traced_memory()[0] / len(handles)
        tracemalloc.stop()
    return rows


def _published_round(matcher: Any, wanted: list[str], fresh: list[str]) -> dict[str, float]:
    handles: list[Any] = []

    def subscribe() -> None:
        handles.extend([matcher.subscribe(topic, 0) for topic in fresh])

    steps: dict[str, Callable[[], object]] = {
        "lookup": lambda: [matcher.match(topic) for topic in wanted],
        "subscribe": subscribe,
        "unsubscribe": lambda: [matcher.unsubscribe(handle) for handle in handles],
    }
    return {step: least(run, 1)[0] / len(fresh) for step, run in steps.items()}


def threads(names: Sequence[str], seed: int, note: Callable[[str], None]) -> list[dict[str, Any]]:
    """Wall microseconds an operation: each thread does some, half or a tenth of them writes, of topics of its own."""
    topics = seed_topics(18_000, seed)
    rows = []
    for name in names:
        for writes in (50, 10):
            for count in (2, 4, 8, 16):
                note(f"threads, {100 - writes}-{writes}, {count} threads: {name}")
                each = 100 if name in ("naive", "bitmap") else 1000
                spent = _threads_one(name, topics, writes, count, each)
                rows.append({"part": "threads", "engine": name, "writes": writes, "threads": count, "us": spent})
    return rows


def _threads_one(name: str, topics: list[str], writes: int, count: int, each: int) -> float:
    matcher = maker(name)()
    for topic in topics[:1000]:
        matcher.subscribe(topic, 0)
    gate = threading.Barrier(count + 1)

    def work(thread: int) -> None:
        mine = topics[1000 + 1000 * thread :][:each]
        gate.wait()
        for n, topic in enumerate(mine):
            if n % 100 * 7 % 100 < writes:
                handle = matcher.subscribe(topic, thread)
                if n % 2:
                    matcher.unsubscribe(handle)
            else:
                matcher.match(topics[n])

    workers = [threading.Thread(target=work, args=(thread,)) for thread in range(count)]
    for worker in workers:
        worker.start()
    gate.wait()
    began = time.perf_counter()
    for worker in workers:
        worker.join()
    return (time.perf_counter() - began) / count / each * 1e6


def many(names: Sequence[str], rounds: int) -> list[dict[str, Any]]:
    """Nanoseconds to match a key of forty words with two patterns of up to six ``#`` in AMQP's dialect."""
    key = ".".join("abcde" * 8)
    rows = []
    for name in names:
        for wild in (4, 5, 6):
            matcher = maker(name, "amqp")()
            middle = ".".join(f"#.{word}" for word in "abcde"[: wild - 1])
            for end in ("y", "z"):
                matcher.subscribe(f"{middle}.#.{end}", end)
            matcher.match(key)
            spent, _ = least(lambda matcher=matcher: [matcher.match(key) for _ in range(200)], rounds)
            rows.append({"part": "many", "engine": name, "wildcards": wild, "match": spent / 200})
    return rows


def show(console: Console, rows: list[dict[str, Any]]) -> None:
    """Print a table for each part."""
    paho = {row["size"]: row["match"] for row in rows if row["engine"].startswith("paho") and row["part"] == "w0"}
    titles = {"w0": "W0, CPU ns", "seed": "cold and hot, CPU ns", "threads": "threads, wall us an operation"}
    titles |= {"churn": "churn, ns a topic, alone and beside so many that come and go a second"}
    titles |= {"filter": "a filter before the patterns, CPU ns a topic"}
    titles |= {"pipe": "the command latchfree match with pipes, by the clock"}
    titles |= {"many": "several # and a key of forty words, CPU ns"}
    for part, title in titles.items():
        chosen = [row for row in rows if row["part"] == part]
        if not chosen:
            continue
        columns = list(dict.fromkeys(key for row in chosen for key in row if key != "part"))
        table = Table(*columns, *(["x paho"] if part == "w0" and paho else []), title=title)
        for row in chosen:
            cells = [
                f"{row[key]:,.1f}" if isinstance(row.get(key), float) else f"{row.get(key, '')}" for key in columns
            ]
            if part == "w0" and paho:
                cells.append(f"{paho[row['size']] / row['match']:.1f}" if row["size"] in paho else "")
            table.add_row(*cells)
        console.print(table)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; returns the exit code."""
    parser = argparse.ArgumentParser(prog="bench/topics.py", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--parts", default=",".join(PARTS), help=f"comma-separated, of: {', '.join(PARTS)}")
    parser.add_argument("--only", metavar="NAMES", help=f"comma-separated, of: {', '.join([*ENGINES, *OURS])}")
    parser.add_argument("--sizes", default="1000,100000,1000000", help="numbers of patterns in W0")
    parser.add_argument("--churn-size", type=int, default=300_000, help="subscriptions that stay")
    parser.add_argument("--filter-size", type=int, default=100_000, help="patterns behind a filter")
    parser.add_argument("--pipe-size", type=int, default=100_000, help="subscriptions of the command")
    parser.add_argument("--pipe-topics", type=int, default=1_000_000, help="topics through a pipe")
    parser.add_argument("--churn-rate", type=int, default=20_000, help="that come, and that go, a second")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1, help="of patterns and topics")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every figure to FILE")
    parser.add_argument("--plot", type=Path, metavar="FOLDER", help="also draw topics-*.svg and .png there")
    given = parser.parse_args(argv)
    import latchfree.topics

    parts = given.parts.split(",")
    wanted = list(dict.fromkeys([*ENGINES, *OURS])) if given.only is None else given.only.split(",")
    wanted = [name for name in wanted if name not in OURS or hasattr(latchfree.topics, OURS[name])]
    ours = [name for name in wanted if name in OURS]
    progress = Console(stderr=True, highlight=False)
    where = report.machine()
    rows: list[dict[str, Any]] = []
    if "w0" in parts:
        sizes = [int(size) for size in given.sizes.split(",")]
        rows += w0(sizes, [name for name in wanted if name in ENGINES], given.rounds, given.seed, progress.print)
    if "seed" in parts:
        rows += published(ours, given.rounds, given.seed, progress.print)
    if "threads" in parts:
        rows += threads(ours, given.seed, progress.print)
    if "churn" in parts and "concurrent" in ours:
        progress.print("churn: concurrent")
        rows.append(churn(given.churn_size, given.churn_rate, given.rounds, given.seed))
    if "many" in parts:
        rows += many([name for name in ours if name in ("trie", "concurrent")], given.rounds)
    if "filter" in parts:
        progress.print("filter")
        rows += prefilter(given.filter_size, given.rounds, given.seed, least)
    if "pipe" in parts:
        progress.print("pipe")
        with tempfile.TemporaryDirectory() as folder:
            rows += piping(Path(folder), given.pipe_size, given.pipe_topics, given.seed)
    console = Console(highlight=False)
    load = ", ".join(f"{load:.1f}" for load in where["load_before"])
    console.print(f"{where['processor']}, {where['processors']} processors; load before: {load}; seed {given.seed}")
    show(console, rows)
    if given.json is not None:
        given.json.write_text(json.dumps({"machine": where, "seed": given.seed, "rows": rows}, indent=1))
    if given.plot is not None:
        from matching.plots import draw

        draw(rows, given.plot)
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
