"""Matching while subscriptions come and go: how much slower it gets.

One thread matches topics of W0 in bulk, in rounds; in every other round a second thread subscribes and unsubscribes at
a given rate. Rounds alternate so that what else the machine does falls on both.
"""

from __future__ import annotations

import threading
import time
from statistics import median
from typing import Any

import pyarrow as pa

from matching.engines import concurrent
from matching.patterns import w0_patterns, w0_topics

#: Subscriptions that come, or go, in one bulk call of the churning thread.
_BATCH = 200
_TOPICS = 50_000


class _Churner:
    """A thread that subscribes and unsubscribes at a rate, from the beginning of a ``with`` block to its end."""

    def __init__(self, matcher: Any, patterns: list[str], rate: int) -> None:
        self._matcher = matcher
        self._batches = [pa.array(patterns[k : k + _BATCH]) for k in range(0, len(patterns), _BATCH)]
        self._rate = rate
        self.done = 0
        self.seconds = 0.0

    def __enter__(self) -> _Churner:
        self._stop = threading.Event()
        self._began = time.perf_counter()
        self._thread = threading.Thread(target=self._work)
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop.set()
        self._thread.join()
        self.seconds += time.perf_counter() - self._began

    def _work(self) -> None:
        numbers, turn = range(_BATCH), 0
        while not self._stop.is_set():
            batch = self._batches[turn % len(self._batches)]
            self._matcher.unsubscribe_column(batch, self._matcher.subscribe_column(batch, numbers))
            turn += 1
            self.done += _BATCH
            ahead = turn * _BATCH / self._rate - (time.perf_counter() - self._began)
            if ahead > 0:
                time.sleep(ahead)


def churn(size: int, rate: int, rounds: int, seed: int) -> dict[str, Any]:
    """Nanoseconds to match a topic, alone and beside `rate` subscriptions that come and as many that go a second.

    Of CPU time of the matching thread, and of wall time; the medians of some rounds.
    """
    patterns = w0_patterns(size + 20 * _BATCH, seed)
    topics = pa.array(w0_topics(patterns[:size], _TOPICS, seed))
    matcher = concurrent(patterns[:size])
    churner = _Churner(matcher, patterns[size:], rate)
    matcher.unsubscribe_column(pa.array(["a"]), matcher.subscribe_column(pa.array(["a"]), [0]))
    matcher.match_many(topics)

    def measured() -> tuple[float, float]:
        cpu, wall = time.thread_time_ns(), time.perf_counter_ns()
        for _ in range(4):
            matcher.match_many(topics)
        each = 4 * _TOPICS
        return (time.thread_time_ns() - cpu) / each, (time.perf_counter_ns() - wall) / each

    alone, beside = [], []
    for _ in range(rounds):
        alone.append(measured())
        with churner:
            beside.append(measured())
    if len(matcher) != size:
        raise SystemExit(f"{len(matcher):,} subscriptions are left of {size:,}")
    figures: dict[str, Any] = {
        "part": "churn",
        "engine": "concurrent",
        "size": size,
        "rate": churner.done / churner.seconds,
    }
    for n, clock in enumerate(("CPU", "wall")):
        figures[f"{clock} alone"] = median(times[n] for times in alone)
        figures[f"{clock} beside"] = median(times[n] for times in beside)
        # Of throughput: the rest of what is done in the same time.
        figures[f"{clock} fall %"] = 100 * (1 - median(a[n] / b[n] for a, b in zip(alone, beside, strict=True)))
    return figures
