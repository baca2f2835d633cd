"""Match a stream of files of messages: each message exactly once, also across restarts.

Spark's checkpoint names the files of batch N before the batch runs. A batch is written to a folder of its own, which is
renamed to ``batch=N`` when complete; a batch that exists is skipped. So a crash before the rename repeats the batch,
and a crash after the rename finds the batch done. Before each batch the stream looks for changed subscriptions. All
rows of a batch are matched with one version of the index, whose name the rows hold.

``OUT/matches/batch=N``   the messages, with ``subscribers``, ``fan_out`` and ``index``
``OUT/_indexes.jsonl``    the versions of the index: their files, and from which batch on they are in use
``OUT/_checkpoint``       Spark's; ``OUT/_stream.json`` what the stream was started with
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from latchfree_spark.match.batch import kind_of, refuse_columns, write_matches
from latchfree_spark.match.blame import blamed
from latchfree_spark.match.claim import BATCH, claimed
from latchfree_spark.match.errors import BadMessages, BadSubscriptions
from latchfree_spark.match.messages import FORMATS, Messages, find, uri
from latchfree_spark.match.ship import Shipped, ship
from latchfree_spark.match.table import SubscriptionTable
from latchfree_spark.match.worker import with_subscribers
from latchfree_spark.shipping import is_remote

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from latchfree.topics import MaskIndex

INDEX: Final = "index"
_LOOK: Final = 1
"""Seconds between looks at whether to stop."""


@dataclass
class Progress:
    """The counts of a stream since its start.

    Parameters
    ----------
    batches, messages, matches, bad : int
        Batches and messages, pairs of message and subscriber, and messages without a valid topic.
    indexes : list of str
        The versions of the index in use, in order.
    """

    batches: int = 0
    messages: int = 0
    matches: int = 0
    bad: int = 0
    indexes: list[str] = field(default_factory=list)


def match_stream(
    spark: SparkSession,
    table: SubscriptionTable,
    source: str,
    out: Path | str,
    *,
    topic: str = "topic",
    schema: str | None = None,
    available_now: bool = False,
    every: float = 1.0,
    max_files: int | None = None,
    keep_going: bool = False,
    stopped: Callable[[], bool] = lambda: False,
    report: Callable[[Progress], None] = lambda progress: None,
    warn: Callable[[str], None] = lambda text: None,
) -> Progress:
    """Match the files of messages that appear in a folder, until stopped.

    Parameters
    ----------
    spark : SparkSession
    table : SubscriptionTable
        The subscriptions. A version that cannot be read is reported and left out until the next one.
    source : str
        A folder or a glob. Files must appear complete, by a rename.
    out : path
        A folder that is not there, or that of the same stream, which goes on where it was.
    topic, schema : str
        The column with the topics; the columns, by default as in the files that are there.
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
    """
    if is_remote(spark):
        raise ValueError("streams need a session of their own: Spark Connect runs batches where this code is not")
    out = Path(out).absolute()
    messages = _described(spark, source, topic, schema)
    first = table.now()
    started = {"source": source, "topic": topic, "dialect": first[0].dialect.name, "subscribers": kind_of(first[0])}
    with claimed(out, started):
        stream = _Stream(spark, table, messages, source, out, keep_going, warn, report)
        stream.take(*first)
        trigger: dict[str, Any] = {"availableNow": True} if available_now else {"processingTime": f"{every} seconds"}
        query = (
            _reader(spark, messages, source, max_files)
            .writeStream.foreachBatch(stream.each)
            .option("checkpointLocation", f"file://{out / '_checkpoint'}")
            .trigger(**trigger)
            .start()
        )
        try:
            while not query.awaitTermination(_LOOK) and not stopped():
                pass
        except Exception as error:
            raise (stream.failure or error) from None
        finally:
            query.stop()
        return stream.progress


class _Stream:
    """The batches of one stream, from its start to its end."""

    def __init__(
        self,
        spark: SparkSession,
        table: SubscriptionTable,
        messages: Messages,
        source: str,
        out: Path,
        keep_going: bool,
        warn: Callable[[str], None],
        report: Callable[[Progress], None],
    ) -> None:
        self.spark = spark
        self.table = table
        self.messages = messages
        self.source = source
        self.out = out
        self.keep_going = keep_going
        self.warn = warn
        self.report = report
        self.progress = Progress()
        self.failure: Exception | None = None
        self.file = ""
        self.index: MaskIndex
        self.shipped: Shipped

    def take(self, index: MaskIndex, identity: Any) -> None:
        """Put an index into use, and remove the files of earlier versions."""
        kind = kind_of(index)
        if hasattr(self, "index") and kind != kind_of(self.index):
            raise BadSubscriptions(f"{identity.path}: subscribers were {kind_of(self.index)} and now are {kind}")
        self.shipped = ship(self.spark, index, self.out / "_index")
        self.index = index
        self.file = identity.path
        for old in (self.out / "_index").glob("*.index"):
            if str(old) != self.shipped.path:
                old.unlink()

    def look(self) -> None:
        """Take the current subscriptions; keep the subscriptions in use if the current ones are malformed."""
        try:
            newer = self.table.newer()
            if newer is not None:
                self.take(*newer)
        except Exception as error:
            self.warn(f"the subscriptions in use stay: {error}")

    def each(self, batch: DataFrame, number: int) -> None:
        """Write one batch, unless it exists."""
        try:
            self.write(batch, number)
        except Exception as error:
            with suppress(Exception):
                again = find(self.source, self.messages.topic, schema=self.messages.schema, keep_going=True)
                self.failure = blamed(error, self.spark, again, self.index.dialect)
            self.failure = self.failure or error
            raise

    def write(self, batch: DataFrame, number: int) -> None:
        """Match a batch and publish it by a rename."""
        from pyspark.sql import functions as F

        final = self.out / "matches" / f"{BATCH}={number}"
        if final.exists():
            return
        self.look()
        part = self.out / "_parts" / str(number)
        shutil.rmtree(part, ignore_errors=True)
        frame = self.messages.prepared(batch, self.source)
        kind, topic = kind_of(self.index), self.messages.topic
        found = with_subscribers(frame, self.shipped, kind, topic, keep_going=self.keep_going)
        total, matches, bad = write_matches(found.withColumn(INDEX, F.lit(self.shipped.version)), part)
        self.name_index(number)
        final.parent.mkdir(exist_ok=True)
        part.rename(final)
        done = self.progress
        done.batches, done.messages = done.batches + 1, done.messages + total
        done.matches, done.bad = done.matches + matches, done.bad + bad
        self.report(done)

    def name_index(self, number: int) -> None:
        """Note the version of the index where it is new, before rows that name it appear."""
        version = self.shipped.version
        if self.progress.indexes[-1:] != [version]:
            self.progress.indexes.append(version)
            with (self.out / "_indexes.jsonl").open("a") as file:
                file.write(json.dumps({"index": version, "file": self.file, "batch": number}) + "\n")


def _described(spark: SparkSession, source: str, topic: str, schema: str | None) -> Messages:
    """Return the messages with the format and columns given, else those of the first files."""
    if schema is None:
        messages = find(source, topic)
        frame = messages.read(spark)
        kinds = ", ".join(f"`{name}` {kind}" for name, kind in frame.dtypes)
        schema = "value string" if messages.format == "text" else kinds
        described = Messages((), messages.format, topic, schema)
    else:
        described = Messages((), FORMATS.get(Path(source).suffix, "parquet"), topic, schema)
        frame = described.prepared(spark.createDataFrame([], schema), source)
    refuse_columns(frame)
    for name in (INDEX, BATCH):
        if name in frame.columns:
            raise BadMessages(f"{source}: the messages have a column {name}, a name that is written; rename it")
    return described


def _reader(spark: SparkSession, messages: Messages, source: str, max_files: int | None) -> DataFrame:
    suffixes = ",".join(suffix for suffix, kind in FORMATS.items() if kind == messages.format)
    reader = spark.readStream.format(messages.format).options(**messages.options).schema(str(messages.schema))
    reader = reader.option("recursiveFileLookup", "true").option("pathGlobFilter", f"*{{{suffixes}}}")
    if max_files is not None:
        reader = reader.option("maxFilesPerTrigger", max_files)
    folder = Path(source)
    return reader.load(uri(source) if folder.is_dir() else f"file://{folder.absolute()}")
