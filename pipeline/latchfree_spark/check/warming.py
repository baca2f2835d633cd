"""Compile the checker on the driver while Spark starts, so that workers load compiled code from the cache."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Final

import pyarrow as pa

from latchfree_spark.check.input.inputs import Unit
from latchfree_spark.check.input.reading import read_units
from latchfree_spark.check.judge.batch import unpack
from latchfree_spark.check.judge.judging import judge_batch
from latchfree_spark.check.options import JUDGE, Job

SAMPLE: Final = 16
"""Histories that are judged."""


def start_warming(job: Job, first: Unit) -> threading.Thread:
    """Judge a few histories of the input in a thread of its own, and ignore their verdicts."""
    thread = threading.Thread(target=_warm, args=(job, first), daemon=True)
    thread.start()
    return thread


def _warm(job: Job, first: Unit) -> None:
    if job.options.judge != JUDGE:
        return
    quick = replace(job, options=replace(job.options, timeout=1.0))
    with suppress(Exception):
        rows = pa.RecordBatch.from_pylist([asdict(first)])
        judge_batch(unpack(pa.Table.from_batches([next(read_units([rows], quick)).slice(0, SAMPLE)])), quick)
