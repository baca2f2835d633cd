"""The command `latchfree match` with pipes: how soon an answer comes, and how many topics go through.

`soon` writes one topic into a pipe that stays open, and waits for its answer, again and again. `through` writes many
topics at once; the time of a topic is that of all, from the first byte until the command has ended, without the time
that the command takes for one topic: starting Python, reading the subscriptions and indexing them.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from matching.patterns import w0_patterns, w0_topics


def _command(subscriptions: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "latchfree_cli", "match", str(subscriptions), *options]


def _subscriptions(folder: Path, size: int, seed: int) -> tuple[Path, list[str]]:
    patterns = w0_patterns(size, seed)
    file = folder / "subscriptions.csv"
    file.write_text("pattern,subscriber\n" + "".join(f"{pattern},{n}\n" for n, pattern in enumerate(patterns)))
    return file, patterns


def soon(subscriptions: Path, topics: Sequence[str]) -> list[float]:
    """Return the seconds from each topic's line to its answer, in a pipe that stays open; the first waits longest."""
    found = []
    with subprocess.Popen(_command(subscriptions, "-"), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for topic in topics:
            begun = time.perf_counter()
            process.stdin.write(f"{topic}\n".encode())
            process.stdin.flush()
            answer = process.stdout.readline()
            found.append(time.perf_counter() - begun)
            if topic.encode() not in answer:
                raise SystemExit(f"latchfree match answered {answer!r} to {topic!r}")
        process.stdin.close()
    return found


def through(subscriptions: Path, topics: Path, *options: str) -> float:
    """Return the seconds in which a file of topics goes through a pipe, all answers to a pipe that is read."""
    begun = time.perf_counter()
    with (
        topics.open("rb") as given,
        subprocess.Popen(_command(subscriptions, "-", *options), stdin=given, stdout=subprocess.PIPE) as process,
    ):
        assert process.stdout is not None
        while process.stdout.read(1 << 20):
            pass
    if process.returncode:
        raise SystemExit(f"latchfree match ended with {process.returncode}")
    return time.perf_counter() - begun


def piping(folder: Path, size: int, count: int, seed: int) -> list[dict[str, Any]]:
    """Milliseconds until an answer, and microseconds a topic, against `size` subscriptions."""
    subscriptions, patterns = _subscriptions(folder, size, seed)
    topics = w0_topics(patterns, count, seed)
    one, all_ = folder / "one.txt", folder / "all.txt"
    one.write_text(topics[0] + "\n")
    all_.write_text("\n".join(topics) + "\n")
    seconds = soon(subscriptions, topics[:51])[1:]
    rows: list[dict[str, Any]] = [
        {"part": "pipe", "engine": "answer, ms: median", "found": 1e3 * median(seconds)},
        {"part": "pipe", "engine": "answer, ms: longest of 50", "found": 1e3 * max(seconds)},
    ]
    for what, options in (("lines", ()), ("columns", ("--to", str(folder / "matches.parquet")))):
        spent = through(subscriptions, all_, *options) - through(subscriptions, one, *options)
        rows.append({"part": "pipe", "engine": f"a topic, us: {what}", "found": 1e6 * spent / count})
    return rows
