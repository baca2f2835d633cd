"""Match a table of messages with subscriptions: the output appears whole or not at all.

The output is written to a hidden folder beside its final place, which is renamed when complete (`outputs`). A killed
run leaves a folder ``.latchfree-*.tmp`` that nobody reads. Before the work each executor must see that folder and the
messages (`probe`), and before the renaming each table must have the rows that were counted (`account`).

``OUT/matches``      the messages, with ``subscribers`` (a list, each once) and ``fan_out``
``OUT/deliveries``   if asked for: one row for each message and subscriber
``OUT/subscribers``  how many messages each subscriber gets
``OUT/topics``       for each topic, how many messages there are, and how many deliveries
``OUT/summary.json`` the totals, and the version of the index
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from latchfree_spark.accounts import account
from latchfree_spark.errors import ClusterError
from latchfree_spark.hadoop import is_uri, literally, reader, uri
from latchfree_spark.match.blame import blamed, first_defect
from latchfree_spark.match.errors import BadMessages, NoMessages, UnreadableFile
from latchfree_spark.match.messages import Messages
from latchfree_spark.match.progress import shown
from latchfree_spark.match.ship import ship
from latchfree_spark.match.strict import refuse_ambiguous
from latchfree_spark.match.worker import SUBSCRIBERS
from latchfree_spark.match.writing import FAN_OUT, PAIRS, ROWS, Counts, sums, write_matches
from latchfree_spark.outputs import Work, published, refuse_existing
from latchfree_spark.probe import probe

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from latchfree.topics import MaskIndex

SUBSCRIBER: Final = "subscriber"
_ALL: Final = "messages of all topics"


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
    report: Callable[[str], None] | None = None,
) -> Summary:
    """Match messages with an index and write the subscribers of each message.

    Parameters
    ----------
    spark : SparkSession
        The session that runs the job.
    index : MaskIndex
        With subscribers that are all int or all str.
    messages : Messages
        What `find` found.
    out : path or str
        A folder that is not there yet; on a cluster one that all workers share, or a URI.
    deliveries : bool
        Also write one row for each message and subscriber.
    counts : bool
        Also write the counts of subscribers and topics.
    keep_going : bool
        Count messages without a valid topic, and leave out damaged files, instead of failing at the first.
    report : function, optional
        Gets a line each second: how far the job is.

    Raises
    ------
    OutputExists, BadOutput
    BadMessages
        Naming file and row, or line.
    NoMessages
    BadSubscriptions
    NotShared, RowsLost
        If workers do not write where the driver reads; nothing is published.
    """
    if not is_uri(out):
        refuse_existing(Path(out))
    frame = messages.read(spark)
    refuse_columns(frame)
    with published(spark, out) as work:
        probe(spark, work.home, messages.files)
        shipped = ship(spark, index, None if work.folder is None else work.folder / "index")
        while True:
            try:
                with shown(spark, report, "matching", messages.total):
                    refuse_ambiguous(spark, messages)
                    done = write_matches(
                        frame, shipped, kind_of(index), messages.topic, f"{work.home}/matches",
                        keep_going=keep_going, expected=messages.total,
                    )  # fmt: skip
                break
            except ClusterError:
                raise
            except Exception as error:
                reason = blamed(error, partial(first_defect, spark, messages, index.dialect))
                if not (keep_going and isinstance(reason, UnreadableFile)):
                    raise reason from error
                fewer = messages.without(reason.file, str(reason))
                if not 0 < len(fewer.files) < len(messages.files):
                    raise reason from error
            messages = fewer
            frame = messages.read(spark)
            work.clear("matches")
        if not done.messages:
            raise NoMessages(f"{', '.join(messages.files[:3])}: there are no messages")
        with shown(spark, report, "counting", done.messages):
            _derive(spark, work, messages.topic, done, deliveries=deliveries, by=counts)
        version, dialect = shipped.version, index.dialect.name
        summary = Summary(done.messages, done.matches, done.bad, messages.unreadable, version, dialect)
        text = json.dumps({"format": "latchfree-match", "version": 1, **asdict(summary)})
        work.write("summary.json", text.encode())
        work.clear("index")
    return summary


def refuse_columns(frame: DataFrame) -> None:
    """Raise BadMessages if messages have a column of a name that is written."""
    clash = [name for name in (SUBSCRIBERS, SUBSCRIBER, FAN_OUT) if name in frame.columns]
    if clash:
        raise BadMessages(f"the messages have a column {clash[0]}, a name that is written; rename it")


def kind_of(index: MaskIndex) -> str:
    """Return the type of an index's subscribers, as Spark names it."""
    return "bigint" if str(index.match_many([]).type.value_type) == "int64" else "string"


def _derive(spark: SparkSession, work: Work, topic: str, counts: Counts, *, deliveries: bool, by: bool) -> None:
    """Write what follows from the matches, and see whether it adds up to them."""
    from pyspark.sql import functions as F

    matches = reader(spark).parquet(literally(uri(f"{work.home}/matches")))
    pairs, each = {PAIRS: counts.matches}, F.explode(SUBSCRIBERS).alias(SUBSCRIBER)
    if deliveries:
        others = [name for name in matches.columns if name not in (SUBSCRIBERS, FAN_OUT)]
        folder = f"{work.home}/deliveries"
        matches.select(*[F.col(f"`{name}`") for name in others], each).write.parquet(uri(folder))
        account(spark, folder, pairs, {PAIRS: sums(spark, folder, {SUBSCRIBER: "string"})[ROWS]})
    if by:
        folder = f"{work.home}/subscribers"
        heard = matches.select(each).groupBy(SUBSCRIBER).agg(F.count(F.lit(1)).alias(ROWS))
        heard.write.parquet(uri(folder))
        account(spark, folder, pairs, sums(spark, folder, {ROWS: "bigint"}, {PAIRS: ROWS}))
        folder = f"{work.home}/topics"
        added = F.coalesce(F.sum(FAN_OUT), F.lit(0)).alias(PAIRS)
        by_topic = matches.groupBy(F.col(f"`{topic}`").alias("topic")).agg(F.count(F.lit(1)).alias(ROWS), added)
        by_topic.write.parquet(uri(folder))
        found = sums(spark, folder, {ROWS: "bigint", PAIRS: "bigint"}, {_ALL: ROWS, PAIRS: PAIRS})
        account(spark, folder, {_ALL: counts.messages, **pairs}, found)
