"""Judge histories at any URI into a table of verdicts at another one, and only those that the table does not have yet.

Example: a job runs each night on ``s3a://lab/runs`` and ``s3a://lab/verdicts``. The first night judges a million
histories. The second finds 1,000 more, judges these and appends 1,000 rows under ``date=2026-11-24``. If it is killed,
the next start judges what is missing.

The invariant: a history has one row, in one file, and a file of the table is there whole or not at all. So the table
itself says what is done, and a job needs neither a lock nor a folder that workers share. At the end the histories of
the input are counted once more, from the input, and compared with the rows read back, one by one: a history without a
row, or with two, is an error.

``OUT/verdicts/date=YYYY-MM-DD``  one row a history; the date is that of the run
``OUT/failing/date=YYYY-MM-DD``   the operations of violations, a bounded number in each run
``OUT/summary.json``              a row of JSON for each run
"""

from __future__ import annotations

import datetime
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from latchfree_spark.check.options import BadInput, Options
from latchfree_spark.errors import RowsLost
from latchfree_spark.frames.checking import OUTPUT, fragments_of, verdicts_of
from latchfree_spark.frames.reading import BY, operations

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

LISTED: Final = 1000
"""Rows of a list in the summary, at most; the table has all."""

_KINDS: Final = ("ok", "violation", "unknown", "error")
_SAME: Final = "f.by0 <=> d.source AND f.by1 <=> d.history"


@dataclass(frozen=True)
class Run:
    """What one run of a job did.

    Parameters
    ----------
    out, date : str
        Where the table of verdicts is, and the part of it that this run wrote.
    histories : int
        How many there are in the input.
    known : int
        How many of them the table had already.
    operations : int
        Of the histories that were judged.
    verdicts : dict of str to int
        Histories that were judged, by verdict.
    problems : tuple of str
        What cannot be read, at most `LISTED`.
    failing, unknown : tuple of dict
        Rows of the table, at most `LISTED`.
    seconds : float
    """

    out: str
    date: str
    histories: int
    known: int
    operations: int
    verdicts: dict[str, int]
    problems: tuple[str, ...]
    failing: tuple[dict[str, Any], ...]
    unknown: tuple[dict[str, Any], ...]
    seconds: float


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
        Its Hadoop file systems read the input and write the output; the driver itself opens no file.
    inputs : sequence of str
        Files, folders or patterns.
    out : str
        A folder, which may be there with the table of earlier runs.
    options : Options
        ``by`` and ``giant`` do not count here: a history is judged by one worker.
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

    Raises
    ------
    BadInput
        If something cannot be read, unless told to keep going.
    RowsLost
        If the table has not exactly one row for each history.
    """
    started = time.monotonic()
    date = date or datetime.datetime.now(datetime.UTC).date().isoformat()
    datetime.date.fromisoformat(date)
    out = out.rstrip("/")
    report("looking at the input")
    rows = operations(spark, inputs, options.model)
    job = _Job(spark, rows, out, options, date, partitions)
    try:
        for number in range(rounds):
            report(f"judging part {number + 1} of {rounds}")
            job.judge(number, rounds, keep_going)
        report("counting")
        histories = job.account()
    finally:
        job.close()
    run = Run(
        out=out,
        date=date,
        histories=histories,
        known=histories - job.judged,
        operations=job.operations,
        verdicts=job.verdicts,
        problems=tuple(job.problems[:LISTED]),
        failing=tuple(job.failing[:LISTED]),
        unknown=tuple(job.unknown[:LISTED]),
        seconds=time.monotonic() - started,
    )
    if job.problems and not keep_going:
        raise BadInput([*job.problems, f"all else is judged, in {out}/verdicts: --keep-going writes these as errors"])
    text = json.dumps({"format": "latchfree-check-run", "version": 1, **asdict(run)})
    spark.createDataFrame([(text,)], "value string").coalesce(1).write.mode("append").text(f"{out}/summary.json")
    return run


class _Job:
    def __init__(
        self, spark: SparkSession, rows: DataFrame, out: str, options: Options, date: str, partitions: int | None
    ) -> None:
        from pyspark.sql import functions as F

        self._spark = spark
        self._rows = rows
        self._out = out
        self._options = options
        self._date = date
        self._partitions = partitions
        self._fragments = fragments_of(rows.drop("problem"), _names())
        self._counted = self._fragments.groupBy("by0", "by1").agg(F.expr("sum(size(invoke))").alias("read")).persist()
        self._damaged = self._damage()
        self._withheld = 0
        self.operations = 0
        self.verdicts = dict.fromkeys(_KINDS, 0)
        self.problems: list[str] = []
        self.failing: list[dict[str, Any]] = []
        self.unknown: list[dict[str, Any]] = []

    def judge(self, number: int, rounds: int, keep_going: bool) -> None:
        """Judge one part of the histories that the table does not have, and append their verdicts."""
        new = self._fragments.where(f"pmod(xxhash64(by0, by1), {rounds}) = {number}") if rounds > 1 else self._fragments
        done = self._done()
        if done is not None:
            from pyspark.sql import functions as F

            new = new.alias("f").join(done.alias("d"), F.expr(_SAME), "left_anti")
        found = verdicts_of(new, _names(), self._options, self._partitions).persist()
        try:
            found = self._tainted(found)
            self._tell(found, keep_going)
            kept = found if keep_going else found.where("verdict != 'error'")
            dated = kept.selectExpr("*", f"'{self._date}' AS date")
            # Last: when a folder that was read has grown, Spark computes what it holds anew, and nothing is new.
            dated.write.mode("append").partitionBy("date").parquet(f"{self._out}/verdicts")
        finally:
            found.unpersist()

    @property
    def judged(self) -> int:
        """How many histories this run judged."""
        return sum(self.verdicts.values()) + self._withheld

    def account(self) -> int:
        """Compare the rows of the table with the histories of the input; return how many histories there are."""
        from pyspark.sql import functions as F

        done = self._done("source", "history", "operations")
        assert done is not None
        rows = done.groupBy("source", "history").agg(
            F.count(F.lit(1)).alias("rows"), F.max("operations").alias("operations")
        )
        both = self._counted.alias("f").join(rows.alias("d"), F.expr(_SAME), "left")
        told: Any = both.agg(
            F.count(F.lit(1)),
            F.count_if(F.col("rows").isNull()),
            F.count_if(F.col("rows") > 1),
            F.count_if(F.col("operations") != F.col("read")),
        ).first()
        histories, missing, twice, changed = told
        if missing != self._withheld or twice:
            raise RowsLost(
                f"{self._out}/verdicts: of {histories:,} histories in the input {missing - self._withheld:,} have no"
                f" row and {twice:,} more than one; do executors see another folder than the driver, or did two jobs"
                " write at once?"
            )
        if changed:
            self.problems.append(
                f"{changed:,} histories have more or fewer operations now than when they were judged; judge them into"
                " another OUT"
            )
        return int(histories)

    def close(self) -> None:
        """Forget what Spark holds for the job."""
        self._counted.unpersist()

    def _done(self, *columns: str) -> DataFrame | None:
        """Return the table as it is now, None if there is none."""
        from pyspark.errors import AnalysisException

        kinds = ", ".join([*(f"{name} string" for name in BY), OUTPUT, "date string"])
        try:
            table = self._spark.read.schema(kinds).parquet(f"{self._out}/verdicts")
            return table.select(*(columns or BY))
        except AnalysisException as error:
            if "PATH_NOT_FOUND" in str(error):
                return None
            raise

    def _damage(self) -> DataFrame | None:
        """Return the sources of which something cannot be read, each with a problem; None if there are none."""
        from pyspark.sql import functions as F

        damaged = [row["by0"] for row in self._counted.where("by1 IS NULL").select("by0").collect()]
        if not damaged:
            return None
        first = self._rows.where("problem IS NOT NULL").groupBy("by0").agg(F.min("problem").alias("problem"))
        told = {row["by0"]: row["problem"] for row in first.collect()}
        pairs = [(source, told.get(source, f"{source}: expected a name of a history, got null")) for source in damaged]
        return self._spark.createDataFrame(pairs, "damaged string, problem string")

    def _tainted(self, found: DataFrame) -> DataFrame:
        """Return verdicts with ``error`` for all histories of a damaged source, which lacks operations of any."""
        from pyspark.sql import functions as F

        if self._damaged is None:
            return found
        joined = found.join(F.broadcast(self._damaged), F.expr("source <=> damaged"), "left")
        instead = {"verdict": "'error'", "reason": "problem", "engine": "''", "states": "0L"}
        instead |= {"failing": "NULL", "witness": "NULL"}
        columns = [
            f"CASE WHEN damaged IS NOT NULL THEN {instead[name]} ELSE {name} END AS {name}" if name in instead else name
            for name in found.columns
        ]
        return joined.selectExpr(*columns)

    def _tell(self, found: DataFrame, keep_going: bool) -> None:
        """Count verdicts, list what people look at first, and write the operations of violations."""
        from pyspark.sql import functions as F

        counts = found.groupBy("verdict").agg(F.count(F.lit(1)), F.sum("operations")).collect()
        by = {verdict: (count, size) for verdict, count, size in counts}
        for verdict, (count, size) in by.items():
            if keep_going or verdict != "error":
                self.verdicts[verdict] += count
                self.operations += size
            else:
                self._withheld += count
        for verdict, held in (("violation", self.failing), ("unknown", self.unknown)):
            if verdict in by:
                listed = found.where(f"verdict = '{verdict}'").orderBy(*BY).limit(LISTED)
                held += [row.asDict() for row in listed.select(*BY, "reason", "operations", "witness").collect()]
        if "error" in by:
            wrong = found.where("verdict = 'error'").groupBy("source", "reason").agg(F.min("history").alias("history"))
            for row in wrong.orderBy(*BY).limit(LISTED).collect():
                named = f"{row['source']}: {row['history']}: {row['reason']}"
                self.problems.append(row["reason"] if row["reason"].startswith(f"{row['source']}: ") else named)
        if "violation" in by:
            bad = found.where("verdict = 'violation'").select(*BY).orderBy(*BY).limit(self._options.saved)
            ops = self._rows.alias("f").join(bad.alias("d"), F.expr(_SAME), "left_semi").drop("problem")
            called = ops.withColumnsRenamed({"by0": "source", "by1": "history"}).withColumn("date", F.lit(self._date))
            called.write.mode("append").partitionBy("date").parquet(f"{self._out}/failing")


def _names() -> StructType:
    from pyspark.sql.types import StringType, StructField, StructType

    return StructType([StructField(name, StringType()) for name in BY])
