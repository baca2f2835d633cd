"""Write messages with their subscribers, and count them three times: as read, as matched, and as written.

``read``     rows of the messages: those that their files say they have, else counted before they go to Python
``matched``  rows and subscribers that came back from Python
``there``    rows and subscribers that can be read from what was written

Spark counts rows on their way in the task that writes them, and keeps the counts of the one attempt of
a task that it commits. All three are equal, or nothing is published.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from latchfree_spark.accounts import account
from latchfree_spark.errors import RowsLost, in_a_line
from latchfree_spark.hadoop import literally, reader, uri
from latchfree_spark.match.ship import Shipped
from latchfree_spark.match.worker import SUBSCRIBERS, with_subscribers

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

FAN_OUT: Final = "fan_out"
ROWS: Final = "messages"
PAIRS: Final = "deliveries"


@dataclass(frozen=True)
class Counts:
    """How many messages were written, pairs of message and subscriber, and messages without a valid topic."""

    messages: int
    matches: int
    bad: int


def write_matches(
    frame: DataFrame,
    shipped: Shipped,
    kind: str,
    topic: str,
    folder: Path | str,
    *,
    keep_going: bool = False,
    constants: Mapping[str, str] | None = None,
    expected: int | None = None,
) -> Counts:
    """Match a table and write it.

    Parameters
    ----------
    frame, shipped, kind, topic, keep_going
        As `with_subscribers` takes them.
    folder : path or str
        Where to write; empty, or not there yet.
    constants : mapping of str to str, optional
        Columns that are the same in each row.
    expected : int, optional
        How many messages there are, if that is known.

    Raises
    ------
    RowsLost
        If what can be read afterwards is not what was read and matched.
    """
    from pyspark.sql import Observation
    from pyspark.sql import functions as F

    spark = frame.sparkSession
    read, matched = Observation("read"), Observation("matched")
    # Counting costs tens of nanoseconds a row; who knows the number from footers does not count.
    entered = frame.observe(read, F.count(F.lit(1)).alias(ROWS)) if expected is None else frame
    found = with_subscribers(entered, shipped, kind, topic, keep_going=keep_going)
    found = found.withColumns({FAN_OUT: fan_out(), **{name: F.lit(text) for name, text in (constants or {}).items()}})
    left = found.observe(
        matched,
        F.count(F.lit(1)).alias(ROWS),
        F.coalesce(F.sum(FAN_OUT), F.lit(0)).alias(PAIRS),
        F.count_if(F.col(SUBSCRIBERS).isNull()).alias("bad"),
    )
    left.write.mode("append").parquet(uri(str(folder)))
    done = {name: int(value) for name, value in matched.get.items()}
    if expected is None:
        account(spark, folder, {ROWS: int(read.get[ROWS])}, done, "Python gave back other rows than it got")
    else:
        why = "the files were changed while they were read, or are not the same on all hosts"
        account(spark, folder, {ROWS: expected}, done, why)
    there = sums(spark, folder, {FAN_OUT: "int"}, {PAIRS: FAN_OUT})
    account(spark, folder, {name: done[name] for name in there}, there)
    return Counts(done[ROWS], done[PAIRS], done["bad"])


def fan_out() -> Column:
    """Return the number of subscribers of each row, null where there is no list of them."""
    from pyspark.sql import functions as F

    listed = F.col(SUBSCRIBERS)
    return F.when(listed.isNotNull(), F.size(listed))


def sums(
    spark: SparkSession, folder: Path | str, kinds: Mapping[str, str], summed: Mapping[str, str] | None = None
) -> dict[str, int]:
    """Return how many rows a written table has, under `ROWS`, and the sums of columns.

    Parameters
    ----------
    spark : SparkSession
        The session that reads the table.
    folder : path or str
        Where the table was written.
    kinds : mapping of str to str
        The columns that are read, with their types; Spark cannot find them out where no file is left.
    summed : mapping of str to str
        Columns to sum, by the name of the sum.

    Raises
    ------
    RowsLost
        If a file that the driver sees cannot be read.
    """
    from pyspark.sql import functions as F

    schema = ", ".join(f"{name} {kind}" for name, kind in kinds.items())
    try:
        table = reader(spark).schema(schema).parquet(literally(uri(str(folder))))
        added = [F.coalesce(F.sum(column), F.lit(0)).alias(name) for name, column in (summed or {}).items()]
        row: Any = table.agg(F.count(F.lit(1)).alias(ROWS), *added).first()
    except Exception as error:
        raise RowsLost(
            f"{folder}: what was written cannot be read, {in_a_line(error)}. Nothing was published"
        ) from error
    return {name: int(row[name]) for name in (ROWS, *(summed or {}))}
