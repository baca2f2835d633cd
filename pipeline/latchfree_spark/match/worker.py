"""Match messages on the workers: Arrow batches in, the same batches with the subscribers of each row out.

No object is made for a row: the topics go from Arrow into the compiled search, and its results are an Arrow list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

from latchfree_spark.match.errors import BadMessages
from latchfree_spark.match.invalid import defect
from latchfree_spark.match.ship import Shipped, opened
from latchfree_spark.shipping import on_workers

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from latchfree.topics import MaskIndex

SUBSCRIBERS: Final = "subscribers"
"""The column that is added."""


def with_subscribers(
    frame: DataFrame, shipped: Shipped, kind: str, topic: str = "topic", *, keep_going: bool = False
) -> DataFrame:
    """Add the subscribers of each message to a table.

    Parameters
    ----------
    frame : DataFrame
        The messages, one a row.
    shipped : Shipped
        The index.
    kind : str
        The type of subscribers: ``bigint`` or ``string``.
    topic : str
        The column with the topics.
    keep_going : bool
        Give messages whose topic is missing or invalid null for subscribers, instead of failing.

    Returns
    -------
    DataFrame
        Nothing runs before it is read.

    Raises
    ------
    BadMessages
        If there is no such column, or it is not text, or there is a column of the name that is added.
    """
    from pyspark.sql.types import ArrayType, LongType, StringType, StructType

    refuse_topic(frame, topic)
    if SUBSCRIBERS in frame.columns:
        raise BadMessages(f"the messages have a column {SUBSCRIBERS}, a name that is written; rename it")

    schema = StructType(list(frame.schema.fields)).add(
        SUBSCRIBERS, ArrayType(LongType() if kind == "bigint" else StringType())
    )

    run = on_workers(frame.sparkSession, f"{__name__}:matched", shipped, topic, keep_going)
    return frame.mapInArrow(run, schema)


def refuse_topic(frame: DataFrame, topic: str, source: str = "the messages") -> None:
    """Raise BadMessages if a table has no column of topics that is text."""
    kinds = dict(frame.dtypes)
    if topic not in kinds:
        raise BadMessages(f"{source}: expected a column {topic}, got {', '.join(kinds)}; see --topic-column")
    if kinds[topic] != "string":
        raise BadMessages(f"{source}: the column {topic} must be text, not {kinds[topic]}")


def matched(batches: Iterator[Any], shipped: Shipped, topic: str, keep_going: bool) -> Iterator[Any]:
    """Yield each record batch with its subscribers as one more column."""
    index = opened(shipped)
    find: Callable[[Any], Any] = (lambda topics: _of_the_good(index, topics)) if keep_going else index.match_many
    for batch in batches:
        yield batch.append_column(SUBSCRIBERS, find(batch.column(topic)))


def _of_the_good(index: MaskIndex, topics: Any) -> Any:
    """Return the subscribers of topics, null for topics that are missing or invalid."""
    import numpy as np
    import pyarrow as pa

    from latchfree.topics import InvalidTopic

    if not topics.null_count:
        try:
            return index.match_many(topics)
        except InvalidTopic:
            pass
    good = np.array([defect(text, index.dialect) is None for text in topics.to_pylist()])
    found = index.match_many(topics.filter(pa.array(good)))
    starts = np.zeros(len(good) + 1, np.int32)
    np.cumsum(np.where(good, 1, 0), out=starts[1:])
    offsets = pa.array(found.offsets.to_numpy()[starts], mask=np.append(~good, False))
    return pa.ListArray.from_arrays(offsets, found.values)
