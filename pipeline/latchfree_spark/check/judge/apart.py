"""Judge histories that are suspected of killing their worker: one by one, in a child process.

A worker judges many histories at a time, in its own process. If it dies or hangs, Spark starts the task again, and the
number of the attempt says so. Then a child judges, and sends each row when it is there. A child that dies or falls
silent is lost with one history at work, which is known; the next child goes on. A history that loses `FATAL` children
is "unknown". So a task succeeds at its second attempt at the latest, whatever its histories do, and nothing has to be
noted where another attempt, on another host, would have to find it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from latchfree_spark.check.judge.batch import Batch
from latchfree_spark.check.judge.child import Child, ChildLost, Send
from latchfree_spark.check.judge.judging import Row, bare, judge_batch
from latchfree_spark.check.options import Job

FATAL: Final = 2
"""Children that a history may lose."""

T = TypeVar("T")


def judge_apart(batch: Batch, job: Job) -> Iterator[Row]:
    """Yield the row of each history, in order."""
    number = lost = 0
    while number < len(batch):
        with Child(lambda send, first=number: _judge_from(first, batch, job, send)) as child:  # type: ignore[misc]
            try:
                while number < len(batch):
                    yield child.receive(job.hang)
                    number, lost = number + 1, 0
            except ChildLost as how:
                lost += 1
                if lost == FATAL:
                    reason = f"its process {how}, {FATAL} times, while judging it alone"
                    yield _unknown(batch, number, reason)
                    number, lost = number + 1, 0


def _judge_from(first: int, batch: Batch, job: Job, send: Send) -> None:
    for number in range(first, len(batch)):
        alone = batch.part(number, number + 1)
        try:
            (row,) = judge_batch(alone, job)
        except Exception as failure:
            row = _unknown(alone, 0, f"judging it failed: {type(failure).__name__}: {failure}")
        send(row)


def _unknown(batch: Batch, number: int, reason: str) -> Row:
    count = int(batch.bounds[number + 1] - batch.bounds[number])
    return bare(batch.names[number], "unknown", reason, count, batch.sources[number])


def within(seconds: float, work: Callable[[], T]) -> T:
    """Return what a child finds in so many seconds.

    Raises
    ------
    ChildLost
        If it finds nothing in that time, or dies.
    """
    with Child(lambda send: send(work())) as child:
        found: T = child.receive(seconds)
        return found
