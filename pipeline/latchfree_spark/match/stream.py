"""Match a stream of messages: each message exactly once, also across restarts.

Spark's checkpoint names the files of batch N, or the offsets of another source, before the batch runs. A batch is
written under a private name, brought to disk, and renamed to ``batch=N`` when complete; a batch that is complete is
skipped. So a crash before the rename repeats the batch, and a crash after the rename finds the batch done. Before each
batch the stream looks for changed subscriptions. All rows of a batch are matched with one version of the index, whose
name the rows hold.

Invariant: ``batch=N`` has as many rows as were read for batch N, and these are as many as its files have.

``OUT/matches/batch=N``   the messages, with ``subscribers``, ``fan_out`` and ``index``; ``_batch.json`` lists the files
``OUT/_indexes.jsonl``    the versions of the index: their files, and from which batch on they are in use
``OUT/_checkpoint``       Spark's; ``OUT/_stream.json`` what the stream was started with
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from latchfree_spark.errors import ClusterError
from latchfree_spark.match.batch import kind_of, refuse_columns
from latchfree_spark.match.blame import blamed, first_defect, first_defect_of
from latchfree_spark.match.checkpoint import files_of, replaced
from latchfree_spark.match.claim import BATCH, claimed
from latchfree_spark.match.errors import BadMessages, BadSubscriptions
from latchfree_spark.match.ship import Shipped, ship
from latchfree_spark.match.source import Source, described
from latchfree_spark.match.table import SubscriptionTable
from latchfree_spark.match.writing import write_matches
from latchfree_spark.probe import probe
from latchfree_spark.shipping import is_remote
from latchfree_support.publishing import published_folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from latchfree.topics import MaskIndex

INDEX: Final = "index"
LIST: Final = "_batch.json"
"""The files of a batch with their sizes, and its counts."""
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
    replaced : list of str
        Files that were written again after they were read: what they hold now was not matched.
    rate : float
        Messages a second in the last batch.
    """

    batches: int = 0
    messages: int = 0
    matches: int = 0
    bad: int = 0
    indexes: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    rate: float = 0.0


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
        stream = _Stream(spark, table, made, out, keep_going, warn, report)
        stream.take(*first)
        stream.look_back()
        trigger: dict[str, Any] = {"availableNow": True} if available_now else {"processingTime": f"{every} seconds"}
        query = (
            made.reader(spark, max_files)
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
        stream.look_back()
        return stream.progress


class _Stream:
    """The batches of one stream, from its start to its end."""

    def __init__(
        self,
        spark: SparkSession,
        table: SubscriptionTable,
        source: Source,
        out: Path,
        keep_going: bool,
        warn: Callable[[str], None],
        report: Callable[[Progress], None],
    ) -> None:
        self.spark = spark
        self.table = table
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
        for left in (out / "matches").glob(".latchfree-*.tmp"):
            shutil.rmtree(left)

    @property
    def checkpoint(self) -> Path:
        """Spark's notes."""
        return self.out / "_checkpoint"

    def look_back(self) -> None:
        """Name the files that were written again after they were read."""
        for each in replaced(self.checkpoint):
            if each.path not in self.progress.replaced:
                self.progress.replaced.append(each.path)
                self.warn(
                    f"{each.path} was written again after it was read, and what it holds now is not in the output;"
                    f" give new files new names"
                )

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
        except ClusterError as error:
            self.failure = error
            raise
        except Exception as error:
            with suppress(Exception):
                self.failure = blamed(error, lambda: self.place(batch, number))
            self.failure = self.failure or error
            raise

    def place(self, batch: DataFrame, number: int) -> str | None:
        """Return the place of the first row of a batch that is no message."""
        source, dialect = self.source, self.index.dialect
        if not source.format:
            return first_defect(self.spark, source.of(self.spark, files_of(self.checkpoint, number)), dialect)
        frame = source.prepared(batch)
        found = first_defect_of(self.spark, frame, source.messages.topic, dialect)
        return found and f"{source.format} {source.address}, batch {number:,}: {found}".replace(" ,", ",")

    def write(self, batch: DataFrame, number: int) -> None:
        """Match a batch and publish it by a rename."""
        final = self.out / "matches" / f"{BATCH}={number}"
        if final.exists():
            if is_complete(final):
                return
            self.warn(f"{final} is incomplete and is written again")
            shutil.rmtree(final)
        started = time.monotonic()
        self.look()
        source = self.source
        messages = source.of(self.spark, [] if source.format else files_of(self.checkpoint, number))
        expected = None if source.select else messages.total
        final.parent.mkdir(exist_ok=True)
        with published_folder(final) as part:
            counts = write_matches(
                source.prepared(batch), self.shipped, kind_of(self.index), messages.topic, part,
                keep_going=self.keep_going, constants={INDEX: self.shipped.version}, expected=expected,
            )  # fmt: skip
            sizes = {file.name: file.stat().st_size for file in part.glob("*.parquet")}
            (part / LIST).write_text(json.dumps({**asdict(counts), INDEX: self.shipped.version, "files": sizes}))
            self.name_index(number)
        done = self.progress
        done.batches, done.messages = done.batches + 1, done.messages + counts.messages
        done.matches, done.bad = done.matches + counts.matches, done.bad + counts.bad
        done.rate = counts.messages / max(time.monotonic() - started, 1e-9)
        self.report(done)

    def name_index(self, number: int) -> None:
        """Note the version of the index where it is new, before rows that name it appear."""
        version = self.shipped.version
        if self.progress.indexes[-1:] != [version]:
            self.progress.indexes.append(version)
            with (self.out / "_indexes.jsonl").open("a") as file:
                file.write(json.dumps({"index": version, "file": self.file, "batch": number}) + "\n")


def is_complete(folder: Path) -> bool:
    """Return whether a batch has all files that its list names, each of its size."""
    try:
        sizes = json.loads((folder / LIST).read_text())["files"]
        return all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError, LookupError, TypeError):
        return False
