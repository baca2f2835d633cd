"""Drive a job: read, shuffle, judge, and continue an interrupted job."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from latchfree_spark.check import reports
from latchfree_spark.check.files import GIANTS, chunk_file, done_chunks, publish
from latchfree_spark.check.input.changes import changes, retract
from latchfree_spark.check.input.finding import find
from latchfree_spark.check.input.inputs import UNIT_SCHEMA, Inputs
from latchfree_spark.check.input.resuming import remember, resumed
from latchfree_spark.check.judge import giants
from latchfree_spark.check.judge.chunks import publish_rows
from latchfree_spark.check.judge.judging import function_of
from latchfree_spark.check.meters import Meters, remaining
from latchfree_spark.check.options import TOLD, BadInput, Job, JobRefused, Options, refuse_pieces
from latchfree_spark.check.output.manifest import describe, finish, partial_folder, work_folder
from latchfree_spark.check.output.summary import Summary, summarize
from latchfree_spark.check.reports import Reports
from latchfree_spark.check.sample import first_look
from latchfree_spark.check.tables import FRAGMENT_SCHEMA, MARKS
from latchfree_spark.check.warming import start_warming
from latchfree_spark.errors import RowsLost
from latchfree_spark.hadoop import is_below, whole
from latchfree_spark.probe import probe
from latchfree_spark.shipping import is_foreign, on_workers
from latchfree_spark.versions import dealt
from latchfree_spark.watching import watched

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FRAGMENTS_AT_ONCE: Final = 4096
"""Fragments that a worker is sent at a time, at most; histories, if each is in one file."""

BYTES_AT_ONCE: Final = 32 << 20


class Report(Protocol):
    """A function that a job calls to report its progress."""

    def __call__(self, text: str, done: int, total: int) -> None:
        """Report that `done` of `total` pieces of work are done."""


def check_files(
    inputs: Sequence[str | Path],
    out: str | Path,
    options: Options,
    *,
    open_session: Callable[[], Any],
    chunks: int | None = None,
    partitions: int | None = None,
    keep_going: bool = False,
    hang: float | None = None,
    report: Report = lambda text, done, total: None,
) -> Summary:
    """Judge all histories of some files; write the verdicts and the failing histories to a folder.

    An interrupted job continues when it is started again with the same arguments, on the input that it began with.

    Parameters
    ----------
    inputs : sequence of str or Path
        Files, folders or patterns. Workers see files at the same paths as the driver.
    out : str or Path
        A folder that is not there yet; it appears when everything is done.
    options : Options
        What decides the verdicts.
    open_session : callable
        Returns a context with a Spark session; called when there is something to do.
    chunks : int, optional
        How many pieces the work is cut into; by default one for every 4 MB of input. An interruption costs the chunks
        that were being judged.
    partitions : int, optional
        How many tasks the chunks are dealt out to; by default one task a chunk. Makes no difference to the output.
    keep_going : bool
        Judge what can be judged, and count the rest in the summary.
    hang : float, optional
        Seconds that the judging of a few histories may take; then the worker counts as hanging, and ends. By default
        twice the timeout, and a minute.
    report : callable, optional
        Told how many chunks of how many are done.

    Raises
    ------
    BadInput
        If anything cannot be read, unless told to keep going. The verdicts found so far are kept for a next start.
    RowsLost
        If workers report more than this program sees; see `latchfree_spark.check.reports`.
    JobRefused
        If the output is there already, or the unfinished work of another job.
    """
    started = time.monotonic()
    refuse_pieces(chunks=chunks, partitions=partitions)
    function_of(options.judge)  # raises if there is none
    out = whole(out)
    found = resumed(partial_folder(out), find(inputs, join=options.join))
    holders = [is_below(str(out), str(whole(each))) for each in inputs]
    if any(holders) or any(is_below(each, str(out)) for each in found.files):
        raise JobRefused(f"{out} is among the inputs: choose an OUT that no IN holds")
    if found.problems and not keep_going:
        raise BadInput(found.problems)
    if not keep_going:
        wrong = first_look(Job(options, "", found.files, found.formats, found.sources), found)
        if wrong:
            goes_on = "all of the first histories are wrong: nothing was judged; --keep-going goes on"
            raise BadInput(wrong[:TOLD], [*wrong[TOLD:], goes_on])  # what is beyond is a line that counts the others
    manifest = describe(found, options, chunks)
    with work_folder(out, manifest) as folder:
        remember(folder, found)
        count = manifest["chunks"]
        patience = hang or 2 * options.timeout + 60
        job = Job(options, str(folder), found.files, found.formats, found.sources, count, patience)
        driver = _Driver(job, found, count, partitions, report)
        driver.run(open_session)
        seen = changes(found)
        if seen.changed:
            found = replace(found, problems=(*found.problems, *retract(folder, found, seen.changed)))
        found = replace(found, warnings=(*found.warnings, *seen.warnings()))
        summary = summarize(folder, out, options, found, time.monotonic() - started)
        if driver.reports.units and summary.operations != driver.reports.operations:
            raise RowsLost(
                f"{driver.reports.operations:,} operations were read, and the verdicts are on {summary.operations:,}; "
                f"nothing was published: remove {folder} and start again"
            )
        if summary.problems and not keep_going:
            goes_on = f"all else is judged: --keep-going takes it up from {folder}"
            raise BadInput(summary.problems[:TOLD], [*summary.problems[TOLD:], goes_on])
        finish(folder, out)
    return summary


class _Driver:
    def __init__(self, job: Job, inputs: Inputs, chunks: int, partitions: int | None, report: Report) -> None:
        self._job = job
        self._inputs = inputs
        self._chunks = chunks
        self._partitions = partitions or chunks
        self._report = report
        self.reports = Reports()

    def run(self, open_session: Callable[[], Any]) -> None:
        """Judge what is not judged yet."""
        folder = self._job.folder
        if self._missing_chunks() or not chunk_file(folder, "verdicts", GIANTS).exists():
            if self._inputs.units:
                warming = start_warming(self._job, self._inputs.units[0])
                with open_session() as session:
                    spark = prepared(session)
                    if is_foreign(spark):
                        probe(spark, Path(folder), self._job.files)
                    else:
                        warming.join()  # so that workers need not compile the same
                    if self._missing_chunks():
                        self._judge_chunks(spark)
                    if self._missing_groups():
                        self._judge_groups(spark)
            for number in self._missing_chunks():  # no history has such a name
                publish_rows([], folder, number)
            rows = [giants.fold(folder, giant, self._job.options) for giant in giants.groups(folder)]
            publish_rows(sorted(rows, key=lambda row: (row["source"], row["history"].encode())), folder, GIANTS)

    def _missing_chunks(self) -> list[int]:
        return sorted({*range(self._chunks)} - done_chunks(self._job.folder))

    def _missing_groups(self) -> list[tuple[str, int]]:
        folder = self._job.folder
        return [
            (giant, number)
            for giant, count in giants.groups(folder).items()
            for number in range(count)
            if not giants.group_file(folder, giant, number).exists()
        ]

    def _judge_chunks(self, spark: SparkSession) -> None:
        from pyspark.sql import functions as F

        missing = self._missing_chunks()
        meters = Meters.of(spark)
        rows = [tuple(asdict(unit).values()) for unit in self._inputs.units]
        units = spark.createDataFrame(rows, UNIT_SCHEMA)
        tasks = 1 + max(unit.task for unit in self._inputs.units)
        fragments = dealt(units, tasks, "task").mapInArrow(
            on_workers(spark, "latchfree_spark.check.input.reading:read_units", self._job), FRAGMENT_SCHEMA
        )
        hashed = F.pmod(F.xxhash64("history"), F.lit(self._chunks)).cast("int")
        numbered = fragments.withColumn("chunk", F.coalesce("for_chunk", hashed))
        if len(missing) < self._chunks:
            numbered = numbered.where(F.col("chunk").isin([*missing, MARKS]))
        sorted_ = dealt(numbered, self._partitions, "chunk").sortWithinPartitions(
            "chunk", "source", "history", "file", "first"
        )
        done = sorted_.mapInArrow(
            on_workers(spark, "latchfree_spark.check.judge.chunks:judge_chunks", self._job, meters), reports.DDL
        )
        with self._watched("check", meters):
            self.reports.add(row.asDict() for row in done.collect())
        self.reports.settle(self._inputs.units, self._job.folder)

    def _judge_groups(self, spark: SparkSession) -> None:
        missing = self._missing_groups()
        table = spark.createDataFrame(
            [(giant, number, at) for at, (giant, number) in enumerate(missing)], f"{giants.GROUP_SCHEMA}, at int"
        )
        work = on_workers(spark, "latchfree_spark.check.judge.giants:judge_groups", self._job)
        done = dealt(table, len(missing), "at").select("giant", "part").mapInArrow(work, reports.DDL)
        with self._watched("check giants", Meters()):
            self.reports.add(row.asDict() for row in done.collect())
        for giant, number in missing:
            if (giant, number) not in self.reports.groups:
                raise RowsLost(f"part {number} of {giant} was dealt out and not reported as judged")
            publish(giants.group_file(self._job.folder, giant, number), self.reports.groups[giant, number].encode())

    def _watched(self, what: str, meters: Meters) -> AbstractContextManager[None]:
        """Report the progress of the work while it is done."""
        before = len(done_chunks(self._job.folder))

        def look(seconds: float) -> None:
            done = len(done_chunks(self._job.folder))
            left = remaining(seconds, done - before, self._chunks - before)
            self._report(", ".join(filter(None, [what, meters.told(seconds), left])), done, self._chunks)

        return watched(look)


def prepared(session: SparkSession) -> SparkSession:
    """Return a session of the same application with the settings of these jobs."""
    spark = session.newSession()
    for name, value in {
        "spark.sql.execution.arrow.maxRecordsPerBatch": FRAGMENTS_AT_ONCE,
        "spark.sql.execution.arrow.maxBytesPerBatch": BYTES_AT_ONCE,
    }.items():
        spark.conf.set(name, str(value))
    return spark
