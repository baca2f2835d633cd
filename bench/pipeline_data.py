"""Messages and subscriptions for the benchmark of jobs on Spark, as Parquet."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from topic_workload import w0_patterns, w0_topics

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
