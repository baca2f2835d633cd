"""Sketch messages, window by window and in total.

The sketches of a window do not grow with its messages: HyperLogLog counts different topics and subscribers, frequent
items name the topics seen most, Count-Min bounds the count of any topic, and KLL estimates the quantiles of sizes and
fan-outs. Sketches of windows can be merged, so the total needs no second reading of the messages.

``OUT/windows``        one row for each window, with the sketches as bytes and what they estimate
``OUT/total.parquet``  the same in one row, for all of them

HLL, KLL and frequent items are those of Apache DataSketches, which the package ``datasketches`` reads; Count-Min is
Spark's own, see `CountMin`.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from latchfree_spark import versions
from latchfree_spark.accounts import account
from latchfree_spark.errors import refuse_counts
from latchfree_spark.hadoop import is_uri, literally, reader, uri
from latchfree_spark.match.errors import BadMessages, NoMessages
from latchfree_spark.match.messages import Messages
from latchfree_spark.match.progress import shown
from latchfree_spark.match.strict import refuse_ambiguous
from latchfree_spark.match.worker import refuse_topic
from latchfree_spark.match.writing import ROWS, sums
from latchfree_spark.outputs import Work, published, refuse_existing
from latchfree_spark.probe import probe
from latchfree_spark.sketch import by_python, by_spark
from latchfree_spark.sketch.bounds import CONFIDENCE, PRECISION, SEED, SHARE, TRACKED
from latchfree_spark.sketch.count_min import CountMin

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ORDER: Final = (
    "start", "end", "windows", "messages", "topics_hll", "heavy_items", "topics_count_min", "sizes_kll",
    "fan_outs_kll", "subscribers_hll", "topics", "subscribers", "heavy", "sizes", "fan_outs",
)  # fmt: skip
"""The columns of the output, windows' and total's."""


@dataclass(frozen=True)
class Columns:
    """The columns of messages to sketch.

    Parameters
    ----------
    time : str, optional
        When a message was sent: a timestamp. Without it everything is one window.
    window : str
        The width of windows, as Spark writes it.
    size : str, optional
        The payload (text or bytes, of which the bytes count), or its size.
    subscribers : str, optional
        The list of subscribers, as matching adds it, or one subscriber.
    """

    time: str | None = None
    window: str = "1 hour"
    size: str | None = None
    subscribers: str | None = None


@dataclass(frozen=True)
class Total:
    """The estimates of the sketches of all windows together.

    Parameters
    ----------
    windows, messages : int
        Exact numbers.
    topics, subscribers : int or None
        How many there are.
    heavy : tuple of (str, int)
        The topics seen most, and how often; only those that are certain to stand out of what the sketch may miscount.
    sizes, fan_outs : tuple of int or None
        Quantiles `QUANTILES` of payload sizes in bytes, and of subscribers of a message.
    """

    windows: int
    messages: int
    topics: int
    subscribers: int | None
    heavy: tuple[tuple[str, int], ...]
    sizes: tuple[int, ...] | None
    fan_outs: tuple[int, ...] | None


def sketch_messages(
    spark: SparkSession,
    messages: Messages,
    out: Path | str,
    columns: Columns | None = None,
    *,
    heavy: int = 10,
    report: Callable[[str], None] | None = None,
) -> Total:
    """Sketch messages and write the sketches.

    Parameters
    ----------
    spark : SparkSession
        The session that runs the job.
    messages : Messages
        What `find` found; rows without a topic are left out.
    out : path or str
        A folder that is not there yet; on a cluster one that all workers share, or a URI.
    columns : Columns, optional
        The columns with times, sizes and subscribers; by default topics alone are sketched.
    heavy : int
        How many of the topics seen most are named.
    report : function, optional
        Gets a line each second: how far the job is.

    Raises
    ------
    OutputExists, BadOutput, BadMessages, NoMessages
    NotShared, RowsLost
        If workers do not write where the driver reads; nothing is published.
    """
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    if not is_uri(out):
        refuse_existing(Path(out))
    windows = sketched(messages.read(spark), messages.topic, columns, heavy)
    with published(spark, out) as work, shown(spark, report, "sketching", messages.total):
        probe(spark, work.home, messages.files)
        refuse_ambiguous(spark, messages)
        made = Observation("sketched")
        counted = windows.observe(
            made, F.count(F.lit(1)).alias("windows"), F.coalesce(F.sum(ROWS), F.lit(0)).alias(ROWS)
        )
        folder = f"{work.home}/windows"
        counted.write.parquet(uri(folder))
        there = sums(spark, folder, {ROWS: "bigint"}, {"all": ROWS})
        found = {"windows": there[ROWS], ROWS: there["all"]}
        account(spark, folder, {name: int(value) for name, value in made.get.items()}, found)
        return _total(spark, work, heavy)


def sketched(frame: DataFrame, topic: str = "topic", columns: Columns | None = None, heavy: int = 10) -> DataFrame:
    """Return the sketches of a table of messages, one row for each window; nothing runs before the table is read.

    Parameters
    ----------
    frame : DataFrame
        Rows without a topic are left out. Rows without a time make a window of their own, whose start is null.
    topic : str
        The column with the topics.
    columns : Columns, optional
        The columns with times, sizes and subscribers; by default topics alone are sketched.
    heavy : int
        How many of the topics seen most are named.

    Raises
    ------
    BadMessages
        If there is no such column, or it is of another type.
    TypeError, ValueError
        If `heavy` is no number from 1 to `TRACKED`.
    """
    refuse_counts(TRACKED, heavy=heavy)
    return _windows(_chosen(frame, topic, columns or Columns()), heavy)


def _chosen(frame: DataFrame, topic: str, columns: Columns) -> DataFrame:
    """Return the window, topic, size, subscribers and their number of messages, under fixed names."""
    from pyspark.sql import functions as F

    refuse_topic(frame, topic)
    kinds = dict(frame.dtypes)
    for option, name in (("time", columns.time), ("size", columns.size), ("subscribers", columns.subscribers)):
        if name is not None and name not in kinds:
            raise BadMessages(f"the messages have no column {name} for --{option}-column, only {', '.join(kinds)}")
    nothing = F.lit(None)
    start = end = nothing.cast("timestamp")
    if columns.time is not None:
        if not kinds[columns.time].startswith("timestamp"):
            raise BadMessages(f"the column {columns.time} must be a timestamp, not {kinds[columns.time]}")
        time = F.col(f"`{columns.time}`")
        # Spark leaves out rows whose time is null; they get any time first, and lose it again.
        window = F.window(F.coalesce(time, F.lit(0).cast("timestamp").cast(kinds[columns.time])), columns.window)
        start, end = (F.when(time.isNotNull(), window[name]) for name in ("start", "end"))
    size = nothing.cast("bigint")
    if columns.size is not None:
        given = F.col(f"`{columns.size}`")
        size = (F.octet_length(given) if kinds[columns.size] in ("string", "binary") else given).cast("bigint")
    subscribers = nothing.cast("array<string>")
    if columns.subscribers is not None:
        given = F.col(f"`{columns.subscribers}`")
        subscribers = given if kinds[columns.subscribers].startswith("array") else F.array_compact(F.array(given))
    chosen = frame.select(
        F.col(f"`{topic}`").alias("topic"), start.alias("start"), end.alias("end"), size.alias("size"),
        subscribers.alias("subscribers"),
    )  # fmt: skip
    listed = F.col("subscribers").isNotNull()
    chosen = chosen.withColumn("fan_out", F.when(listed, F.size("subscribers").cast("bigint")))
    return chosen.where(F.col("topic").isNotNull())


def _windows(frame: DataFrame, heavy: int) -> DataFrame:
    """Return one row for each window."""
    from pyspark.sql import functions as F

    native = versions.has_sketches(frame.sparkSession)
    counted = frame.groupBy("start", "end").agg(
        F.count(F.lit(1)).alias("messages"),
        F.hll_sketch_agg("topic", PRECISION).alias("topics_hll"),
        F.count_min_sketch("topic", F.lit(SHARE), F.lit(CONFIDENCE), F.lit(SEED)).alias("topics_count_min"),
        *(by_spark.accumulated() if native else ()),
    )
    each = frame.select("start", "end", F.explode("subscribers").alias("subscriber"))
    subscribers = each.groupBy("start").agg(F.hll_sketch_agg("subscriber", PRECISION).alias("subscribers_hll"))
    joined = _beside(counted, subscribers)
    made = by_spark.estimated(joined, heavy) if native else _beside(joined, by_python.accumulated(frame, heavy))
    return _ordered(made).orderBy("start")


def _beside(windows: DataFrame, more: DataFrame) -> DataFrame:
    """Return windows with more columns, null where `more` has no row."""
    more = more.withColumnRenamed("start", "s")
    return windows.join(more, windows["start"].eqNullSafe(more["s"]), "left").drop("s")


def _ordered(frame: DataFrame) -> DataFrame:
    """Return the sketches and the estimates in the order of the output."""
    from pyspark.sql import functions as F

    made = frame.withColumn("topics", F.hll_sketch_estimate("topics_hll")).withColumn(
        "subscribers",
        F.when(F.col("fan_outs").isNotNull(), F.coalesce(F.hll_sketch_estimate("subscribers_hll"), F.lit(0))),
    )
    return made.select(*(name for name in ORDER if name in made.columns))


def _total(spark: SparkSession, work: Work, heavy: int) -> Total:
    """Merge the sketches of the windows, and write the total."""
    import pyarrow.parquet as pq
    from pyspark.sql import functions as F

    windows = reader(spark).parquet(literally(uri(f"{work.home}/windows")))
    native = versions.has_sketches(spark)
    united = windows.agg(
        F.count(F.lit(1)).alias("windows"),
        F.sum("messages").alias("messages"),
        F.min("start").alias("start"),
        F.max("end").alias("end"),
        F.hll_union_agg("topics_hll").alias("topics_hll"),
        F.hll_union_agg("subscribers_hll").alias("subscribers_hll"),
        *(by_spark.combined() if native else ()),
    )
    if native:
        made = by_spark.estimated(united, heavy)
    else:
        made = united.join(by_python.combined(windows, heavy).drop("start"), how="cross")
    table = versions.arrow_of(_ordered(made))
    row: dict[str, Any] = table.to_pylist()[0]
    if not row["messages"]:
        raise NoMessages("there are no messages with a topic")
    counts = (CountMin.of(bytes(each[0])) for each in windows.select("topics_count_min").toLocalIterator())
    merged = functools.reduce(CountMin.merge, counts)
    held = io.BytesIO()
    pq.write_table(table.append_column("topics_count_min", [[bytes(merged)]]), held)
    work.write("total.parquet", held.getvalue())
    return Total(
        windows=row["windows"],
        messages=row["messages"],
        topics=row["topics"],
        subscribers=row["subscribers"],
        heavy=tuple((each["item"], each["count"]) for each in row["heavy"]),
        sizes=tuple(row["sizes"]) if row["sizes"] else None,
        fan_outs=tuple(row["fan_outs"]) if row["fan_outs"] else None,
    )
