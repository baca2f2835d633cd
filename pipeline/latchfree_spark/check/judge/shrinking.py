"""Shrink a failing history in bounded time, whatever becomes of the shrinking.

A history of 50 operations is shrunk in the worker's own process. One of 5,000 is shrunk in a child that is killed when
its time is over: a single judgement of a long history may take longer than the time that shrinking has. If a task is
started again, something has killed its worker, or hung in it; then every history is shrunk in a child.

Invariant: a task whose shrinking dies or hangs succeeds at its second attempt at the latest. The first may end by the
worker's own clock (`ends_after`), the second loses a child only.
"""

from __future__ import annotations

from typing import Final

from latchfree_lincheck import shrink
from latchfree_lincheck.formats.record import dumps, records
from latchfree_spark.check.judge.apart import within
from latchfree_spark.check.judge.batch import Batch
from latchfree_spark.check.judge.child import ChildLost
from latchfree_spark.check.judge.judging import model_of
from latchfree_spark.check.judge.single import history_of
from latchfree_spark.check.options import Job
from latchfree_spark.task import attempt, ends_after

SECONDS: Final = 5.0
"""Seconds that shrinking one history may take; a child is killed after twice as many."""

LONG: Final = 2_000
"""Operations of a history that is shrunk in a child process."""


class NotShrunk(Exception):
    """A history has no small copy; the text is a sentence that says why."""


def shrunk(batch: Batch, number: int, job: Job, seconds: float | None = None) -> str:
    """Return a small history that shows why a history is not linearizable, as JSON Lines.

    Raises
    ------
    NotShrunk
        If there is none within the time.
    """
    seconds = SECONDS if seconds is None else seconds
    if attempt() == 0 and batch.bounds[number + 1] - batch.bounds[number] <= LONG:
        with ends_after(job.hang):
            text = _shrunk(batch, number, job, seconds)
    else:
        try:
            text = within(2 * seconds, lambda: _shrunk(batch, number, job, seconds))
        except ChildLost as how:
            raise NotShrunk(f"the process that shrank it {how}") from None
    if text is None:
        raise NotShrunk(f"it was not shown to be a violation again in {seconds:g} s")
    return text


def _shrunk(batch: Batch, number: int, job: Job, seconds: float) -> str | None:
    model = str(model_of(batch, number, job))
    try:
        history = history_of(batch, number, model, job)
        small = shrink(history, model, timeout=seconds, memory=job.options.memory)
    except ValueError:  # not shown to be a violation in that time
        return None
    return "".join(f"{dumps(record)}\n" for record in records(small))
