"""Say how far a job on Spark is: the share of its tasks that are done, rows a second, and the time that is left.

Spark tells counts of rows when a task ends, so the rows are an estimate: the share of tasks times all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from latchfree_spark.shipping import is_remote
from latchfree_spark.watching import watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_EVERY: Final = 1.0
"""Seconds between two lines."""


@contextmanager
def shown(spark: SparkSession, report: Callable[[str], None] | None, what: str, total: int | None) -> Iterator[None]:
    """Call a function with a line each second while a job runs; Spark Connect does not say how far it is.

    Parameters
    ----------
    spark : SparkSession
        The session that runs the job.
    report : function, optional
        Without it nothing is asked.
    what : str
        What the job does, the beginning of each line.
    total : int, optional
        How many rows there are, if that is known.
    """
    if report is None or is_remote(spark):
        yield
        return
    told = report

    def look(seconds: float) -> None:
        with suppress(Exception):  # the session may be ending
            done, tasks = _tasks(spark)
            told(line(what, done, tasks, total, seconds))

    with watched(look, _EVERY):
        yield


def line(what: str, done: int, tasks: int, total: int | None, seconds: float) -> str:
    """Return what is known of a job.

    Parameters
    ----------
    what : str
        What the job does, the beginning of the line.
    done, tasks : int
        Tasks that have ended, and all.
    total : int or None
        Rows.
    seconds : float
        Since the start.
    """
    if not tasks:
        return what
    text = f"{what}: {done:,} of {tasks:,} tasks"
    if total is None or not done or not seconds:
        return text
    rows = total * done // tasks
    left = round(seconds * (tasks - done) / done)
    return f"{text}, about {rows:,} of {total:,} rows, {rows / seconds:,.0f} a second, {left // 60}:{left % 60:02} left"


def _tasks(spark: SparkSession) -> tuple[int, int]:
    tracker = spark.sparkContext.statusTracker()
    stages = [tracker.getStageInfo(number) for number in tracker.getActiveStageIds()]
    known = [stage for stage in stages if stage is not None]
    return sum(stage.numCompletedTasks for stage in known), sum(stage.numTasks for stage in known)
