"""`latchfree_spark.match` and `latchfree_spark.sketch` on a session: the subscribers are those of the library."""

import random

import pytest
from pyspark.sql import functions as F

import latchfree_spark
from latchfree.topics import MaskIndex
from latchfree_spark.match import BadMessages, BadSubscriptions

PAIRS = [("a/+/c", "ann"), ("a/#", "bob"), ("+/b", "cid"), ("#", "ann"), ("x/y", "dot")]


def messages(spark, count=300):
    chance = random.Random(7)
    topics = ["/".join(chance.choice("abcx") for _ in range(chance.randint(1, 3))) for _ in range(count)]
    return topics, spark.createDataFrame(list(enumerate(topics)), "number int, topic string").repartition(3)


@pytest.mark.usefixtures("adaptive")
def test_each_message_has_the_subscribers_of_the_library(spark):
    topics, frame = messages(spark)
    index = MaskIndex.build(*zip(*PAIRS, strict=True), "mqtt")
    expected = {number: sorted(index.match(topic)) for number, topic in enumerate(topics)}
    table = spark.createDataFrame(PAIRS, "pattern string, subscriber string")
    for subscriptions in (PAIRS, index, table):
        found = latchfree_spark.match(frame, subscriptions).collect()
        assert len(found) == len(topics)
        assert {row["number"]: sorted(row["subscribers"]) for row in found} == expected


def test_subscribers_that_are_integers_and_bad_topics(spark):
    frame = spark.createDataFrame([("a/b",), ("a/+",), (None,)], "topic string")
    found = latchfree_spark.match(frame, [("a/b", 3), ("#", 7)], keep_going=True)
    assert dict(found.dtypes)["subscribers"] == "array<bigint>"
    assert {row["topic"]: row["subscribers"] and sorted(row["subscribers"]) for row in found.collect()} == {
        "a/b": [3, 7],
        "a/+": None,
        None: None,
    }
    with pytest.raises(Exception, match="is no topic of mqtt"):
        latchfree_spark.match(frame.where("topic = 'a/+'"), [("#", 7)]).collect()


def test_nothing_is_matched_before_rows_are_asked_for(spark):
    _, frame = messages(spark, 3)
    broken = frame.withColumn("topic", F.expr("CAST(raise_error('it runs') AS STRING)"))
    found = latchfree_spark.match(broken, PAIRS)
    assert found.columns == ["number", "topic", "subscribers"]
    assert latchfree_spark.sketch(broken).columns[:3] == ["start", "end", "messages"]
    with pytest.raises(Exception, match="it runs"):
        found.collect()


def test_messages_and_subscriptions_that_are_none(spark):
    _, frame = messages(spark, 3)
    with pytest.raises(BadMessages, match="expected a column text of text, got only number, topic"):
        latchfree_spark.match(frame, PAIRS, "text")
    with pytest.raises(BadMessages, match="expected a column number of text, got number is int"):
        latchfree_spark.match(frame, PAIRS, "number")
    with pytest.raises(BadMessages, match="have a column subscribers"):
        latchfree_spark.match(frame.withColumn("subscribers", F.lit(1)), PAIRS)
    for subscriptions, text in (
        ([], "there are no subscriptions"),
        ([("a/#/b", 1)], "a/#/b"),
        ([("a", 1), ("b", "x")], "subscribers"),
        (["#a"], "expected pairs of a pattern and a subscriber, got '#a'"),
        ([("a", 1, 2)], "expected pairs"),
        ([(None, 1)], "must not be null"),
        (frame, "expected a column pattern of subscriptions, got number, topic"),
    ):
        with pytest.raises(BadSubscriptions, match=text):
            latchfree_spark.match(frame, subscriptions)
    with pytest.raises(BadSubscriptions, match="no dialect is called 'smtp'"):
        latchfree_spark.match(frame, PAIRS, dialect="smtp")
    with pytest.raises(BadMessages, match="got only number, topic"):
        latchfree_spark.sketch(frame, "text")
    for heavy, error in ((1.5, TypeError), (True, TypeError), (0, ValueError), (1 << 40, ValueError)):
        with pytest.raises(error, match="heavy must be"):
            latchfree_spark.sketch(frame, heavy=heavy)


def test_sketches_estimate_what_matching_found(spark):
    topics, frame = messages(spark)
    found = latchfree_spark.match(frame, PAIRS)
    (row,) = latchfree_spark.sketch(found, subscribers="subscribers", heavy=3).collect()
    assert (row["messages"], row["topics"]) == (len(topics), len(set(topics)))
    assert row["subscribers"] == 3 + ("x/y" in topics)
    counts = sorted((topics.count(topic) for topic in set(topics)), reverse=True)
    assert [each["count"] for each in row["heavy"]] == counts[:3]
