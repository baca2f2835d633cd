"""Judge histories at any URI into a table of verdicts at another one, and only those that the table does not have yet.

Example: a job runs each night on ``s3a://lab/runs`` and ``s3a://lab/verdicts``. The first night judges a million
histories. The second finds 1,000 more, judges these and appends 1,000 rows under ``date=2026-11-24``. If it is killed,
the next start judges what is missing.

The invariant: a history has one row, in one file, and a file of the table is there whole or not at all (`table`). So
the table itself says what is done, and a job needs no folder that workers share. One job writes at a time (`claims`),
and with the options of all others. At the end all histories are accounted for (`rounds`).
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

from latchfree_spark.check.options import BadInput, Options, refuse_pieces
from latchfree_spark.errors import RowsLost
from latchfree_spark.frames.claims import claimed
from latchfree_spark.frames.pages import with_page
from latchfree_spark.frames.reading import operations
from latchfree_spark.frames.rounds import Rounds
from latchfree_spark.frames.run import LISTED, Run
from latchfree_spark.frames.table import Table
from latchfree_spark.hadoop import is_below
from latchfree_spark.match.blame import blamed
from latchfree_spark.match.errors import UnreadableFile

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def refuse_options(options: Options) -> None:
    """Raise ValueError, naming the option, for one that makes no difference at a URI."""
    plain = Options()
    for name in ("by", "giant"):
        if getattr(options, name) != getattr(plain, name):
            raise ValueError(f"--{name} is for paths; with URIs one worker judges a history, however long it is")


@contextmanager
def _files_named(out: str) -> Iterator[None]:
    """Turn the error of a task that could not read a file into one that names it: an input, or one of the table."""
    try:
        yield
    except Exception as error:
        reason = blamed(error, lambda: None)
        if not isinstance(reason, UnreadableFile):
            raise
        if is_below(reason.file, out):
            raise RowsLost(
                f"{reason}. It was written by this job or one before: do all executors read and write {out} on the same"
                " file system? No verdict is lost: start again where they do"
            ) from error
        raise BadInput([str(reason), "mend the file or take it away, and start again"]) from error


def check_uris(
    spark: SparkSession,
    inputs: Sequence[str],
    out: str,
    options: Options,
    *,
    date: str | None = None,
    rounds: int = 1,
    partitions: int | None = None,
    keep_going: bool = False,
    report: Callable[[str], None] = lambda text: None,
) -> Run:
    """Judge the histories at some URIs that a table of verdicts does not have, and append their verdicts.

    Parameters
    ----------
    spark : SparkSession
        Its Hadoop file systems read the input and write the output; the driver opens none of these files by path.
    inputs : sequence of str
        Files, folders or patterns.
    out : str
        A folder, which may be there with the table of earlier runs.
    options : Options
        Those that decide a verdict must be the same for all runs on one table.
    date : str, optional
        ``YYYY-MM-DD``; by default today, in UTC.
    rounds : int
        In how many parts the verdicts are written; an interruption costs the part that was being judged. Each part
        reads the input again.
    partitions : int, optional
        How many tasks judge.
    keep_going : bool
        Write the verdict ``error`` for histories that cannot be judged. By default they are left out of the table, so
        that a later run takes them up when the input is mended, and the job ends with an error after all others.
    report : function, optional
        Gets a line for each step of the job: what it does now.

    Raises
    ------
    BadInput
        If something cannot be read, unless told to keep going.
    JobRefused
        If another job writes there, the table was made with other options, or the output is among the inputs.
    RowsLost
        If the table has not exactly one row for each history.
    ValueError
        If an option is for paths only.
    """
    started = time.monotonic()
    refuse_options(options)
    refuse_pieces(chunks=rounds, partitions=partitions)
    date = date or datetime.datetime.now(datetime.UTC).date().isoformat()
    datetime.date.fromisoformat(date)
    out = out.rstrip("/")
    report("looking at the input")
    rows = operations(spark, inputs, options.model, join=options.join, out=out)
    table = Table(spark, out, date, options)
    with claimed(spark, out) as still, _files_named(out):
        table.refuse_others()
        work = Rounds(spark, rows, table, options, partitions=partitions, keep_going=keep_going, still=still)
        try:
            work.run(rounds, report)
            report("counting")
            histories = work.account()
        finally:
            work.close()
        run = Run(
            out=out,
            date=date,
            histories=histories,
            known=histories - work.judged,
            operations=work.operations,
            verdicts=work.verdicts,
            problems=tuple(work.problems[:LISTED]),
            failing=tuple(work.failing[:LISTED]),
            unknown=tuple(work.unknown[:LISTED]),
            slowest=tuple(work.slowest),
            page="",
            seconds=time.monotonic() - started,
        )
        still()
        report("drawing")
        run = with_page(spark, run, table, options)
        if work.problems and not keep_going:
            rest = [f"all else is judged, in {out}/verdicts: --keep-going writes these as errors"]
            rest += [f"failing histories and a page: {run.page}"] if run.verdicts["violation"] and run.page else []
            raise BadInput([*work.problems, *rest])
        still()
        table.append_run(asdict(run))
    return run
