"""Messages, subscriptions and histories for the benchmark of jobs on Spark, as Parquet."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from matching.patterns import w0_patterns, w0_topics

OPERATIONS = 20
"""Of a history."""
_PROCESSES = 4
_KEYS = 3
_VALUES = 5
_STEP = 1000
"""Time from the effect of an operation to that of the next."""
_DIFFERENT = 200_000
"""Topics that differ; messages are drawn from them."""


def write_messages(folder: Path, messages: int, subscriptions: int, files: int, seed: int) -> list[str]:
    """Write messages on topics of W0, and return the patterns they are for."""
    patterns = w0_patterns(subscriptions, seed)
    topics = pa.array(w0_topics(patterns, min(messages, _DIFFERENT), seed))
    drawn = np.random.default_rng(seed).integers(0, len(topics), messages)
    folder.mkdir(parents=True)
    for part, rows in enumerate(np.array_split(np.arange(messages), files)):
        table = pa.table({"id": pa.array(rows), "topic": topics.take(pa.array(drawn[rows]))})
        pq.write_table(table, folder / f"part{part:03d}.parquet")
    return patterns


def write_histories(folder: Path, histories: int, files: int, seed: int, wrong: float = 0.001) -> None:
    """Write histories of a map that are linearizable, but for a share of about `wrong` with a result changed.

    All histories are made together, one operation of each at a time. The operation takes effect at its place in the
    order; its call and return lie up to almost half the processes' turns before and after, so operations overlap, and
    those of one process do not. Rows of all histories are mixed.
    """
    folder.mkdir(parents=True)
    for part, numbers in enumerate(np.array_split(np.arange(histories), files)):
        table = _histories(numbers, np.random.default_rng((seed, part)), wrong)
        pq.write_table(table, folder / f"part{part:03d}.parquet")


def write_giant(path: Path, operations: int, seed: int) -> None:
    """Write one linearizable history of a map, all of its operations on one key, by processes that overlap."""
    rng = np.random.default_rng(seed)
    puts = rng.random(operations) < 0.4
    values = rng.integers(0, _VALUES, operations)
    last = np.maximum.accumulate(np.where(puts, np.arange(operations), -1))
    before = np.append(-1, last[:-1])
    results = np.where(before < 0, _VALUES, values[before])
    reach = _STEP * _PROCESSES // 2
    effect = np.arange(operations) * _STEP + reach
    table = pa.table(
        {
            "history": pa.array(["giant"]).take(pa.array(np.zeros(operations, np.int64))),
            "process": _coded(np.arange(operations) % _PROCESSES, list(range(_PROCESSES))),
            "f": _coded(puts.astype(int), ["get", "put"], plain=True),
            "arguments": _coded(np.where(puts, values, _VALUES), [*(["k", value] for value in range(_VALUES)), ["k"]]),
            "result": _coded(results, [*range(_VALUES), None]),
            "invoke": pa.array(effect - rng.integers(1, reach, operations)),
            "return": pa.array(effect + rng.integers(1, reach, operations)),
        }
    )
    pq.write_table(table, path)


def _histories(numbers: np.ndarray, rng: np.random.Generator, share: float) -> pa.Table:
    count = len(numbers)
    state = np.full((count, _KEYS), _VALUES)  # the last code stands for none
    rows = np.arange(count)
    shape = (OPERATIONS, count)
    puts = rng.random(shape) < 0.4
    keys, values = rng.integers(0, _KEYS, shape), rng.integers(0, _VALUES, shape)
    results = np.empty(shape, np.int64)
    for step in range(OPERATIONS):
        results[step] = state[rows, keys[step]]
        state[rows, keys[step]] = np.where(puts[step], values[step], results[step])
    wrong = np.flatnonzero(rng.random(count) < share)
    at = rng.integers(0, OPERATIONS, len(wrong))
    results[at, wrong] = (results[at, wrong] + 1) % (_VALUES + 1)
    reach = _STEP * _PROCESSES // 2
    effect = np.arange(OPERATIONS)[:, None] * _STEP + reach
    invoke, done = effect - rng.integers(1, reach, shape), effect + rng.integers(1, reach, shape)
    order = rng.permutation(OPERATIONS * count)
    names = pa.array([f"h{number:09d}" for number in numbers])
    return pa.table(
        {
            "history": names.take(pa.array(np.tile(rows, OPERATIONS)[order])),
            "process": _coded(np.repeat(np.arange(OPERATIONS) % _PROCESSES, count)[order], list(range(_PROCESSES))),
            "f": _coded(puts.ravel()[order].astype(int), ["get", "put"], plain=True),
            "arguments": _coded(
                np.where(puts, keys * _VALUES + values, _KEYS * _VALUES + keys).ravel()[order],
                [[f"k{key}", value] for key in range(_KEYS) for value in range(_VALUES)]
                + [[f"k{key}"] for key in range(_KEYS)],
            ),
            "result": _coded(results.ravel()[order], [*range(_VALUES), None]),
            "invoke": pa.array(invoke.ravel()[order]),
            "return": pa.array(done.ravel()[order]),
        }
    )


def _coded(codes: np.ndarray, texts: list[object], *, plain: bool = False) -> pa.Array:
    """Return a column of few different texts, JSON unless plain."""
    return pa.array(texts if plain else [json.dumps(each) for each in texts], pa.string()).take(pa.array(codes))
