"""Match a stream of messages: each message exactly once, also across restarts.

Spark's checkpoint names the files of batch N, or the offsets of another source, before the batch runs. A batch is
written under a private name, brought to disk, and renamed to ``batch=N`` when complete; a batch that is complete is
skipped (`stream_batches`). So a crash before the rename repeats the batch, and a crash after the rename finds the batch
done. Before each batch the stream looks for changed subscriptions.

``OUT/matches/batch=N``   the messages, with ``subscribers``, ``fan_out`` and ``index``; ``_batch.json`` lists the files
``OUT/_indexes.jsonl``    the versions of the index: their files, and from which batch on they are in use
``OUT/_checkpoint``       Spark's; ``OUT/_stream.json`` what the stream was started with
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from latchfree_spark.match.batch import kind_of, refuse_columns
from latchfree_spark.match.claim import BATCH, claimed
from latchfree_spark.match.errors import BadMessages
from latchfree_spark.match.source import described
from latchfree_spark.match.stream_batches import INDEX, Batches, Progress
from latchfree_spark.match.table import SubscriptionTable
from latchfree_spark.probe import probe
from latchfree_spark.shipping import is_remote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOOK: Final = 1
"""Seconds between looks at whether to stop."""


def match_stream(
    spark: SparkSession,
    table: SubscriptionTable,
    source: str,
    out: Path | str,
    *,
    topic: str = "topic",
    schema: str | None = None,
    format: str | None = None,
    options: Mapping[str, str] | None = None,
    select: Sequence[str] = (),
    available_now: bool = False,
    every: float = 1.0,
    max_files: int | None = None,
    keep_going: bool = False,
    stopped: Callable[[], bool] = lambda: False,
    report: Callable[[Progress], None] = lambda progress: None,
    warn: Callable[[str], None] = lambda text: None,
) -> Progress:
    """Match the files of messages that appear in a folder, or what another source brings, until stopped.

    Parameters
    ----------
    spark : SparkSession
        The session that runs the stream.
    table : SubscriptionTable
        The subscriptions. A version that cannot be read is reported and left out until the next one.
    source : str
        A folder or a glob. Files must appear complete, by a rename. With a format: what is loaded, "" for nothing.
    out : path
        A folder that is not there, or that of the same stream, which goes on where it was.
    topic, schema : str
        The column with the topics; the columns, by default as in the files that are there.
    format : str, optional
        Any source of Spark's: ``kafka``, ``rate``, ``socket``; by default files. Each message is matched once if the
        source can be read again from an offset, as Kafka can.
    options : mapping of str to str, optional
        What the source is told, as ``{"kafka.bootstrap.servers": "host:9092", "subscribe": "readings"}``.
    select : sequence of str
        Expressions of SQL, the columns of the messages; by default those of the source.
    available_now : bool
        End after all messages that are there.
    every : float
        Seconds from batch to batch.
    max_files : int, optional
        How many files make a batch at most.
    keep_going : bool
        Count messages without a valid topic instead of failing at the first.
    stopped, report, warn : function
        Says whether to stop; is called after each batch; gets warnings.

    Returns
    -------
    Progress

    Raises
    ------
    OutputExists
        If the folder is that of another job, or is in use.
    BadMessages, BadSubscriptions, NoMessages
    NotShared, RowsLost
        If workers do not write where the driver reads; the batch is not published.
    """
    if is_remote(spark):
        raise ValueError("streams need a session of their own: Spark Connect runs batches where this code is not")
    out = Path(out).absolute()
    made, columns = described(spark, source, topic, schema, format, options, select)
    refuse_columns(columns)
    for name in (INDEX, BATCH):
        if name in columns.columns:
            raise BadMessages(f"{source}: the messages have a column {name}, a name that is written; rename it")
    first = table.now()
    started = {"source": source, "topic": topic, "dialect": first[0].dialect.name, "subscribers": kind_of(first[0])}
    with claimed(out, {**started, "format": format or "files"}):
        probe(spark, out)
        batches = Batches(spark, table, made, out, keep_going, warn, report)
        batches.take(*first)
        batches.look_back()
        trigger: dict[str, Any] = {"availableNow": True} if available_now else {"processingTime": f"{every} seconds"}
        query = (
            made.reader(spark, max_files)
            .writeStream.foreachBatch(batches.each)
            .option("checkpointLocation", f"file://{out / '_checkpoint'}")
            .trigger(**trigger)
            .start()
        )
        try:
            while not query.awaitTermination(_LOOK) and not stopped():
                pass
        except Exception as error:
            raise (batches.failure or error) from None
        finally:
            query.stop()
        batches.look_back()
        return batches.progress
