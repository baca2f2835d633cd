"""Judge the histories at some URIs round by round, and account for each of them at the end.

The invariant: the account compares the histories of the input, counted before anything is judged, with the rows read
back from the table, one by one: a history without a row, or with two, is an error, and so is one whose operations are
not those that the row is about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from latchfree_spark.check.meters import Meters, remaining
from latchfree_spark.check.options import Options
from latchfree_spark.errors import RowsLost
from latchfree_spark.frames.checking import fragments_of, verdicts_of
from latchfree_spark.frames.reading import BY
from latchfree_spark.frames.run import LISTED, SLOWEST
from latchfree_spark.frames.table import DIGEST, Table
from latchfree_spark.watching import watched

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_LISTED: Final = (*BY, "reason", "operations", "failing", "object", "key", "witness")
_SLOW: Final = (*BY, "verdict", "engine", "operations", "states", "seconds")
_KINDS: Final = ("ok", "violation", "unknown", "error")
_SAME: Final = "f.by0 <=> d.source AND f.by1 <=> d.history"
_NAMELESS: Final = "collect_list(by0) FILTER (WHERE by1 IS NULL)"
"""The sources with operations of nobody."""

_CONTENT: Final = (
    "xxhash64(process, f, arguments, result, invoke, `return`, object, model,"
    " isnull(result), isnull(`return`), isnull(object))"
)
"""A number for an operation; those of a history, in any order, give its digest."""


class Rounds:
    """The work of one run.

    Parameters
    ----------
    spark : SparkSession
    rows : DataFrame
        The operations, as `latchfree_spark.frames.reading.operations` returns them.
    table : Table
    options : Options
    partitions : int, optional
        How many tasks judge.
    keep_going : bool
        Write the verdict ``error`` for histories that cannot be judged; by default they get no row.
    still : callable
        Raises if another job has taken the table over; called before anything is written.
    """

    def __init__(
        self,
        spark: SparkSession,
        rows: DataFrame,
        table: Table,
        options: Options,
        *,
        partitions: int | None,
        keep_going: bool,
        still: Callable[[], None],
    ) -> None:
        from pyspark.sql import functions as F

        self._spark = spark
        self._rows = rows
        self._table = table
        self._options = options
        self._partitions = partitions
        self._keep_going = keep_going
        self._still = still
        self._fragments = fragments_of(rows.drop("problem"), _names())
        each = rows.groupBy("by0", "by1")
        self._counted = each.agg(
            F.count(F.lit(1)).alias("read"), F.expr(f"bit_xor({_CONTENT})").alias(DIGEST)
        ).persist()
        self._told: set[str] = set()
        read: Any = self._counted.agg(F.count("by1"), F.expr(_NAMELESS)).first()
        self._named, damaged = read
        self._damaged = self._damage(damaged)
        self._meters = Meters.of(spark)
        self._withheld = 0
        self.operations = 0
        self.verdicts = dict.fromkeys(_KINDS, 0)
        self.problems: list[str] = []
        self.failing: list[dict[str, Any]] = []
        self.unknown: list[dict[str, Any]] = []
        self.slowest: list[dict[str, Any]] = []

    def run(self, rounds: int, report: Callable[[str], None]) -> None:
        """Judge the histories that the table does not have, in parts, and append their verdicts."""
        new = max(0, self._named - self._table.known)  # for people: the table may have other inputs
        part = 0

        def look(seconds: float) -> None:
            done = self._meters.count
            told = [f"judging part {part + 1} of {rounds}", self._meters.told(seconds)]
            report(", ".join(filter(None, [*told, remaining(seconds, done, new)])))

        with watched(look):
            for part in range(rounds):
                report(f"judging part {part + 1} of {rounds}")
                self._judge(part, rounds)

    def _judge(self, number: int, rounds: int) -> None:
        from pyspark.sql import functions as F

        new = self._fragments.where(f"pmod(xxhash64(by0, by1), {rounds}) = {number}") if rounds > 1 else self._fragments
        new = new.alias("f").join(self._table.rows(*BY).alias("d"), F.expr(_SAME), "left_anti")
        found = verdicts_of(new, _names(), self._options, self._partitions, self._meters).persist()
        try:
            found = self._tainted(found)
            before = sum(self.verdicts.values())
            self._tell(found)
            if sum(self.verdicts.values()) > before:
                self._still()
                # Last: when a folder that was read has grown, Spark computes what it holds anew, and nothing is new.
                kept = found if self._keep_going else found.where("verdict != 'error'")
                digests = self._counted.select("by0", "by1", DIGEST).alias("f")
                self._table.append(kept.alias("d").join(digests, F.expr(_SAME), "left").drop("by0", "by1"))
        finally:
            found.unpersist()

    @property
    def judged(self) -> int:
        """How many histories this run judged."""
        return sum(self.verdicts.values()) + self._withheld

    def account(self) -> int:
        """Compare the rows of the table with the histories of the input; return how many histories there are."""
        from pyspark.sql import functions as F

        rows = (
            self._table.rows(*BY, DIGEST)
            .groupBy(*BY)
            .agg(F.count(F.lit(1)).alias("rows"), F.max(DIGEST).alias("judged"))
        )
        both = self._counted.alias("f").join(rows.alias("d"), F.expr(_SAME), "left")
        told: Any = both.agg(
            F.count(F.lit(1)),
            F.count_if(F.col("rows").isNull()),
            F.count_if(F.col("rows") > 1),
            F.count_if(F.col(DIGEST) != F.col("judged")),
        ).first()
        histories, missing, twice, changed = told
        if missing != self._withheld or twice:
            raise RowsLost(
                f"{self._table.verdicts}: of {histories:,} histories in the input {missing - self._withheld:,} have no"
                f" row and {twice:,} more than one; do executors see another folder than the driver, or did two jobs"
                " write at once?"
            )
        if changed:
            self.problems.append(
                f"{changed:,} histories have other operations than those that were judged under their names: the files"
                " were changed, or are those of another IN; judge them into another OUT"
            )
        return int(histories)

    def close(self) -> None:
        """Forget what Spark holds for the job."""
        self._counted.unpersist()

    def _damage(self, damaged: Sequence[str]) -> DataFrame | None:
        """Return the sources of which something cannot be read, each with a problem; None if there are none."""
        from pyspark.sql import functions as F

        if not damaged:
            return None
        first = self._rows.where("problem IS NOT NULL").groupBy("by0").agg(F.min("problem").alias("problem"))
        told = {row["by0"]: row["problem"] for row in first.collect()}
        pairs = [(source, told[source]) for source in damaged]
        self._told = {problem for _, problem in pairs}
        return self._spark.createDataFrame(pairs, "damaged string, problem string")

    def _tainted(self, found: DataFrame) -> DataFrame:
        """Return verdicts with ``error`` for all histories of a damaged source, which lacks operations of any."""
        from pyspark.sql import functions as F

        if self._damaged is None:
            return found
        joined = found.join(F.broadcast(self._damaged), F.expr("source <=> damaged"), "left")
        instead = {"verdict": "'error'", "reason": "problem", "engine": "''", "states": "0L"}
        instead |= dict.fromkeys(("failing", "object", "key", "witness", "reproduce"), "NULL")
        columns = [
            f"CASE WHEN damaged IS NOT NULL THEN {instead[name]} ELSE {name} END AS {name}" if name in instead else name
            for name in found.columns
        ]
        return joined.selectExpr(*columns)

    def _tell(self, found: DataFrame) -> None:
        """Count verdicts, list what people look at first, and write the operations of violations."""
        from pyspark.sql import functions as F

        counts = found.groupBy("verdict").agg(F.count(F.lit(1)), F.sum("operations")).collect()
        by = {verdict: (count, size) for verdict, count, size in counts}
        for verdict, (count, size) in by.items():
            if self._keep_going or verdict != "error":
                self.verdicts[verdict] += count
                self.operations += size
            else:
                self._withheld += count
        for verdict, held in (("violation", self.failing), ("unknown", self.unknown)):
            if verdict in by:
                listed = found.where(f"verdict = '{verdict}'").orderBy(*BY).limit(LISTED)
                rows = [row.asDict() for row in listed.select(*_LISTED).collect()]
                # The first ones are those that are copied below.
                copied = self._options.saved if verdict == "violation" else 0
                held += [row | {"copied": at < copied} for at, row in enumerate(rows)]
                held.sort(key=lambda row: (not row["copied"], *(row[name].encode() for name in BY)))
        slowest = found.where("verdict != 'error'").orderBy(F.desc("seconds")).limit(SLOWEST).select(*_SLOW)
        self.slowest += [row.asDict() for row in slowest.collect()]
        self.slowest.sort(key=lambda row: -row["seconds"])
        del self.slowest[SLOWEST:]
        if "error" in by:
            wrong = found.where("verdict = 'error'").groupBy("source", "reason").agg(F.min("history").alias("history"))
            for row in wrong.orderBy(*BY).limit(LISTED).collect():
                named = ": ".join(filter(None, (row["source"], row["history"], row["reason"])))
                self.problems.append(row["reason"] if row["reason"] in self._told else named)
        if "violation" in by:
            bad = found.where("verdict = 'violation'").select(*BY).orderBy(*BY).limit(self._options.saved)
            operations = self._rows.alias("f").join(bad.alias("d"), F.expr(_SAME), "left_semi").drop("problem")
            self._still()
            self._table.append_failing(operations.withColumnsRenamed({"by0": "source", "by1": "history"}))


def _names() -> StructType:
    from pyspark.sql.types import StringType, StructField, StructType

    return StructType([StructField(name, StringType()) for name in BY])
