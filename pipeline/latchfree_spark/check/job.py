"""Drive a job: read, shuffle, judge, and continue an interrupted job."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from latchfree_spark.check import giants
from latchfree_spark.check.changes import changes, retract
from latchfree_spark.check.chunks import DONE_SCHEMA, publish_rows
from latchfree_spark.check.files import chunk_file, done_chunks
from latchfree_spark.check.inputs import UNIT_SCHEMA, Inputs, find
from latchfree_spark.check.manifest import describe, finish, work_folder
from latchfree_spark.check.options import BadInput, Job, Options
from latchfree_spark.check.sample import first_look
from latchfree_spark.check.summary import Summary, summarize
from latchfree_spark.check.tables import FRAGMENT_SCHEMA
from latchfree_spark.check.warming import start_warming
from latchfree_spark.shipping import is_foreign, on_workers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FRAGMENTS_AT_ONCE: Final = 4096
"""Fragments that a worker is sent at a time, at most; histories, if each is in one file."""

BYTES_AT_ONCE: Final = 32 << 20

_LOOK: Final = 0.5
"""Seconds between two looks at how far the work is."""

GIANTS: Final = 99_999
"""The number of the chunk that holds the giants' verdicts."""


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

    An interrupted job continues when it is started again with the same arguments.

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
        Seconds without a sign of life after which a worker is killed; by default twice the timeout, and a minute.
    report : callable, optional
        Told how many chunks of how many are done.

    Raises
    ------
    BadInput
        If anything cannot be read, unless told to keep going. The verdicts found so far are kept for a next start.
    JobRefused
        If the output is there already, or the unfinished work of another job.
    """
    started = time.monotonic()
    out = Path(out).absolute()
    found = find(inputs, join=options.join)
    if found.problems and not keep_going:
        raise BadInput(found.problems)
    if not keep_going:
        wrong = first_look(Job(options, "", found.files, found.formats, "", found.sources), found)
        if wrong:
            raise BadInput([*wrong, "all of the first histories are wrong: nothing was judged; --keep-going goes on"])
    manifest = describe(found, options, chunks)
    with work_folder(out, manifest) as folder:
        count = manifest["chunks"]
        job = Job(options, str(folder), found.files, found.formats, uuid.uuid4().hex[:12], found.sources, count)
        _Driver(job, found, manifest["chunks"], partitions, hang, report).run(open_session)
        seen = changes(found)
        if seen.changed:
            found = replace(found, problems=(*found.problems, *retract(folder, found, seen.changed)))
        found = replace(found, warnings=(*found.warnings, *seen.warnings()))
        summary = summarize(folder, out, options, found, time.monotonic() - started)
        if summary.problems and not keep_going:
            raise BadInput([*summary.problems, f"all else is judged: --keep-going takes it up from {folder}"])
        finish(folder, out)
    return summary


class _Driver:
    def __init__(
        self, job: Job, inputs: Inputs, chunks: int, partitions: int | None, hang: float | None, report: Report
    ) -> None:
        self._job = job
        self._inputs = inputs
        self._chunks = chunks
        self._partitions = partitions or chunks
        self._hang = int(hang or 2 * job.options.timeout + 60)
        self._report = report

    def run(self, open_session: Callable[[], Any]) -> None:
        """Judge what is not judged yet."""
        folder = self._job.folder
        if len(done_chunks(folder) - {GIANTS}) < self._chunks or not chunk_file(folder, "verdicts", GIANTS).exists():
            if self._inputs.units:
                warming = start_warming(self._job, self._inputs.units[0])
                with open_session() as session:
                    spark = prepared(session, self._hang)
                    if not is_foreign(spark):
                        warming.join()  # so that workers need not compile the same
                    self._until_done(lambda: self._judge_chunks(spark), self._missing_chunks)
                    self._until_done(lambda: self._judge_giants(spark), self._missing_groups)
            for number in self._missing_chunks():  # no history has such a name
                publish_rows([], folder, number)
            rows = [giants.fold(folder, giant) for giant in giants.groups(folder)]
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

    def _until_done(self, work: Callable[[], object], missing: Callable[[], list[Any]]) -> None:
        """Repeat the work until it succeeds; a failed attempt ends the job only if the attempt made no progress."""
        before: tuple[int, int] | None = None
        while missing():
            try:
                work()
                return
            except Exception:
                after = len(missing()), self._notes()
                if after == before:
                    raise
                before = after

    def _notes(self) -> int:
        """Return the number of notes on suspected histories: each note brings a history closer to a verdict."""
        folder = Path(self._job.folder, "attempts", self._job.run)
        return sum(file.read_text().count("judge ") for file in folder.glob("*")) if folder.exists() else 0

    def _judge_chunks(self, spark: SparkSession) -> None:
        from pyspark.sql import functions as F

        missing = self._missing_chunks()
        rows = [tuple(asdict(unit).values()) for unit in self._inputs.units]
        units = spark.createDataFrame(rows, UNIT_SCHEMA)
        tasks = 1 + max(unit.task for unit in self._inputs.units)
        fragments = units.repartitionById(tasks, "task").mapInArrow(
            on_workers(spark, "latchfree_spark.check.reading:read_units", self._job), FRAGMENT_SCHEMA
        )
        chunk = F.pmod(F.xxhash64("source", "history"), F.lit(self._chunks)).cast("int")
        numbered = fragments.withColumn("chunk", F.coalesce("for_chunk", chunk))
        if len(missing) < self._chunks:
            numbered = numbered.where(F.col("chunk").isin(missing))
        sorted_ = numbered.repartitionById(self._partitions, "chunk").sortWithinPartitions(
            "chunk", "source", "history", "file", "first"
        )
        done = sorted_.mapInArrow(
            on_workers(spark, "latchfree_spark.check.chunks:judge_chunks", self._job), DONE_SCHEMA
        )
        with self._watched("check"):
            done.collect()

    def _judge_giants(self, spark: SparkSession) -> None:
        missing = self._missing_groups()
        table = spark.createDataFrame(
            [(giant, number, at) for at, (giant, number) in enumerate(missing)], f"{giants.GROUP_SCHEMA}, at int"
        )
        work = on_workers(spark, "latchfree_spark.check.giants:judge_groups", self._job)
        done: DataFrame = (
            table.repartitionById(len(missing), "at").select("giant", "part").mapInArrow(work, giants.GROUP_SCHEMA)
        )
        with self._watched("check giants"):
            done.collect()

    @contextmanager
    def _watched(self, text: str) -> Iterator[None]:
        """Report the progress of the work from a thread of its own."""
        over = threading.Event()

        def look() -> None:
            while not over.wait(_LOOK):
                done = len(done_chunks(self._job.folder) - {GIANTS})
                self._report(text, done, self._chunks)

        watcher = threading.Thread(target=look, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()


def prepared(session: SparkSession, hang: int) -> SparkSession:
    """Return a session of the same application with the settings of these jobs."""
    spark = session.newSession()
    for name, value in {
        "spark.sql.execution.arrow.maxRecordsPerBatch": FRAGMENTS_AT_ONCE,
        "spark.sql.execution.arrow.maxBytesPerBatch": BYTES_AT_ONCE,
        "spark.sql.execution.pyspark.udf.idleTimeoutSeconds": hang,
        "spark.sql.execution.pyspark.udf.killOnIdleTimeout": "true",
    }.items():
        spark.conf.set(name, str(value))
    return spark
