"""Match a table of messages with subscriptions: the output appears whole or not at all.

The output is written to a hidden folder beside its final place, which is renamed when complete. A killed run leaves a
folder ``.latchfree-*.tmp`` that nobody reads.

``OUT/matches``      the messages, with ``subscribers`` (a list, each once) and ``fan_out``
``OUT/deliveries``   if asked for: one row for each message and subscriber
``OUT/subscribers``  how many messages each subscriber gets
``OUT/topics``       for each topic, how many messages there are, and how many deliveries
``OUT/summary.json`` the totals, and the version of the index
"""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from latchfree_spark.match.blame import blamed
from latchfree_spark.match.errors import BadMessages, NoMessages, OutputExists, UnreadableFile
from latchfree_spark.match.messages import Messages, uri
from latchfree_spark.match.ship import ship
from latchfree_spark.match.worker import SUBSCRIBERS, with_subscribers
from latchfree_support.publishing import published_folder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from latchfree.topics import MaskIndex

FAN_OUT: Final = "fan_out"
SUBSCRIBER: Final = "subscriber"


@dataclass(frozen=True)
class Summary:
    """What a job did.

    Parameters
    ----------
    messages, matches : int
        How many messages there were, and pairs of message and subscriber.
    bad : int
        Messages without a valid topic; they are in the output with null for subscribers.
    unreadable : tuple of str
        Files that were left out, each with the reason.
    index : str
        The version of the index: a digest of it.
    dialect : str
    """

    messages: int
    matches: int
    bad: int
    unreadable: tuple[str, ...]
    index: str
    dialect: str


def match_messages(
    spark: SparkSession,
    index: MaskIndex,
    messages: Messages,
    out: Path | str,
    *,
    deliveries: bool = False,
    counts: bool = True,
    keep_going: bool = False,
) -> Summary:
    """Match messages with an index and write the subscribers of each message.

    Parameters
    ----------
    spark : SparkSession
    index : MaskIndex
        With subscribers that are all int or all str.
    messages : Messages
        What `find` found.
    out : path
        A folder that is not there yet; on a cluster one that all workers share.
    deliveries : bool
        Also write one row for each message and subscriber.
    counts : bool
        Also write the counts of subscribers and topics.
    keep_going : bool
        Count messages without a valid topic, and leave out damaged files, instead of failing at the first.

    Raises
    ------
    OutputExists
    BadMessages
        Naming file and row, or line.
    NoMessages
    BadSubscriptions
    """
    out = Path(out).absolute()
    refuse_existing(out)
    frame = messages.read(spark)
    refuse_columns(frame)
    out.parent.mkdir(parents=True, exist_ok=True)
    with published_folder(out) as work:
        shipped = ship(spark, index, work / "index")
        while True:
            found = with_subscribers(frame, shipped, kind_of(index), messages.topic, keep_going=keep_going)
            try:
                total, matches, bad = write_matches(found, work / "matches")
                break
            except Exception as error:
                reason = blamed(error, spark, messages, index.dialect)
                if not (keep_going and isinstance(reason, UnreadableFile)):
                    raise reason from error
                fewer = messages.without(reason.file, str(reason))
                if not 0 < len(fewer.files) < len(messages.files):
                    raise reason from error
            messages = fewer
            frame = messages.read(spark)
            shutil.rmtree(work / "matches", ignore_errors=True)
        if not total:
            raise NoMessages(f"{', '.join(messages.files[:3])}: there are no messages")
        if deliveries or counts:
            _derive(spark, work, messages.topic, deliveries, counts)
        summary = Summary(total, matches, bad, messages.unreadable, shipped.version, index.dialect.name)
        (work / "summary.json").write_text(json.dumps({"format": "latchfree-match", "version": 1, **asdict(summary)}))
        shutil.rmtree(work / "index")
    return summary


def refuse_existing(out: Path) -> None:
    """Raise OutputExists if a folder is there."""
    if out.exists():
        raise OutputExists(f"{out} exists; name another folder, or remove it")


def refuse_columns(frame: DataFrame) -> None:
    """Raise BadMessages if messages have a column of a name that is written."""
    clash = [name for name in (SUBSCRIBERS, SUBSCRIBER, FAN_OUT) if name in frame.columns]
    if clash:
        raise BadMessages(f"the messages have a column {clash[0]}, a name that is written; rename it")


def kind_of(index: MaskIndex) -> str:
    """Return the type of an index's subscribers, as Spark names it."""
    return "bigint" if str(index.match_many([]).type.value_type) == "int64" else "string"


def write_matches(found: DataFrame, folder: Path) -> tuple[int, int, int]:
    """Write messages with their subscribers; return how many there are, how many pairs, and how many had no topic."""
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    seen = Observation("matches")
    fan_out = found.withColumn(FAN_OUT, F.size(SUBSCRIBERS))
    observed = fan_out.observe(
        seen,
        F.count(F.lit(1)).alias("messages"),
        F.coalesce(F.sum(FAN_OUT), F.lit(0)).alias("matches"),
        F.count_if(F.col(SUBSCRIBERS).isNull()).alias("bad"),
    )
    observed.write.parquet(uri(str(folder)))
    return seen.get["messages"], seen.get["matches"], seen.get["bad"]


def _derive(spark: SparkSession, work: Path, topic: str, deliveries: bool, counts: bool) -> None:
    """Write what follows from the matches."""
    from pyspark.sql import functions as F

    matches = spark.read.parquet(uri(str(work / "matches")))
    if deliveries:
        others = [name for name in matches.columns if name not in (SUBSCRIBERS, FAN_OUT)]
        rows = matches.select(*[F.col(f"`{name}`") for name in others], F.explode(SUBSCRIBERS).alias(SUBSCRIBER))
        rows.write.parquet(uri(str(work / "deliveries")))
    if counts:
        each = matches.select(F.explode(SUBSCRIBERS).alias(SUBSCRIBER)).groupBy(SUBSCRIBER)
        each.agg(F.count(F.lit(1)).alias("messages")).write.parquet(uri(str(work / "subscribers")))
        by_topic = matches.groupBy(F.col(f"`{topic}`").alias("topic")).agg(
            F.count(F.lit(1)).alias("messages"), F.coalesce(F.sum(FAN_OUT), F.lit(0)).alias("deliveries")
        )
        by_topic.write.parquet(uri(str(work / "topics")))
