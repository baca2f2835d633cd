"""Match and sketch the messages in a table: a table in, a table out, evaluated when somebody asks for its rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from latchfree_spark.frames.columns import quoted
from latchfree_spark.match.batch import kind_of
from latchfree_spark.match.errors import BadMessages, BadSubscriptions
from latchfree_spark.match.ship import ship
from latchfree_spark.match.worker import SUBSCRIBERS, with_subscribers
from latchfree_spark.sketch.job import Columns, sketched

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from latchfree.topics import MaskIndex


def match(
    df: DataFrame,
    subscriptions: MaskIndex | DataFrame | Iterable[tuple[str, Any]],
    topic: str = "topic",
    *,
    dialect: str = "mqtt",
    keep_going: bool = False,
) -> DataFrame:
    """Return a table of messages with the subscribers of each one.

    Parameters
    ----------
    df : DataFrame
        One row a message, of any session, Spark Connect included.
    subscriptions : MaskIndex, DataFrame or iterable of (str, int or str)
        An index; or patterns and their subscribers, all text or all integers, as pairs or in a table with the columns
        ``pattern`` and ``subscriber``. A table is collected, and the index built and sent to the workers, in this call.
    topic : str
        The column with the topics.
    dialect : str
        That of the patterns: amqp, nats or mqtt. An index has its own.
    keep_going : bool
        Give messages whose topic is missing or invalid null for subscribers, instead of failing.

    Returns
    -------
    DataFrame
        The rows of `df` with one more column, ``subscribers``: a list, each subscriber once. Nothing is matched before
        its rows are asked for.

    Raises
    ------
    BadMessages
        If there is no column of topics that is text, or a column ``subscribers``.
    BadSubscriptions
        If there are none, or their subscribers are of several types.
    """
    kinds = dict(df.dtypes)
    if kinds.get(topic) != "string":
        got = f"{topic} is {kinds[topic]}" if topic in kinds else f"only {', '.join(df.columns)}"
        raise BadMessages(f"expected a column {topic} of text, got {got}")
    if SUBSCRIBERS in kinds:
        raise BadMessages(f"the messages have a column {SUBSCRIBERS}, a name that is written; rename it")
    index = _index(subscriptions, dialect)
    shipped = ship(df.sparkSession, index)
    return with_subscribers(df, shipped, kind_of(index), topic, keep_going=keep_going)


def sketch(
    df: DataFrame,
    topic: str = "topic",
    *,
    time: str | None = None,
    window: str = "1 hour",
    size: str | None = None,
    subscribers: str | None = None,
    heavy: int = 10,
) -> DataFrame:
    """Return a table with the sketches of messages: a row for each window of time, or one row.

    Parameters
    ----------
    df : DataFrame
        One row a message.
    topic : str
        The column with the topics; rows without one are left out.
    time : str, optional
        When a message was sent: a timestamp. Without it everything is one window.
    window : str
        The width of windows, as Spark writes it.
    size : str, optional
        The payload (text or bytes, of which the bytes count), or its size.
    subscribers : str, optional
        The list of subscribers, as matching adds it, or one subscriber.
    heavy : int
        How many of the topics seen most are named.

    Returns
    -------
    DataFrame
        ``start, end, messages``, the sketches as bytes, and what they estimate: ``topics, subscribers, heavy, sizes,
        fan_outs``. Nothing runs before its rows are asked for.

    Raises
    ------
    BadMessages
        If a column is missing or of another type.
    """
    if topic not in df.columns:
        raise BadMessages(f"expected a column {topic} of text, got only {', '.join(df.columns)}")
    return sketched(df, topic, Columns(time, window, size, subscribers), heavy)


def _pair(given: Any) -> tuple[str, Any]:
    try:
        if isinstance(given, str):  # a text of two letters is no pair
            raise TypeError
        pattern, subscriber = given
    except (TypeError, ValueError):
        raise BadSubscriptions(f"expected pairs of a pattern and a subscriber, got {given!r}") from None
    return pattern, subscriber


def _index(subscriptions: Any, dialect: str) -> MaskIndex:
    from latchfree.topics import DIALECTS, MaskIndex

    if isinstance(subscriptions, MaskIndex):
        return subscriptions
    if dialect not in DIALECTS:
        raise BadSubscriptions(f"no dialect is called {dialect!r}; choose one of {', '.join(DIALECTS)}")
    if hasattr(subscriptions, "selectExpr"):
        missing = [name for name in ("pattern", "subscriber") if name not in subscriptions.columns]
        if missing:
            raise BadSubscriptions(
                f"expected a column {missing[0]} of subscriptions, got {', '.join(subscriptions.columns)}"
            )
        rows = subscriptions.selectExpr(*map(quoted, ("pattern", "subscriber"))).collect()
        pairs = [tuple(row) for row in rows]
    else:
        pairs = [_pair(each) for each in subscriptions]
    if not pairs:
        raise BadSubscriptions("there are no subscriptions")
    try:
        return MaskIndex.build([pattern for pattern, _ in pairs], [each for _, each in pairs], DIALECTS[dialect])
    except (ValueError, TypeError) as error:
        raise BadSubscriptions(str(error)) from None
