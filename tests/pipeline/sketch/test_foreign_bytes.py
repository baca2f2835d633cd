"""Sketches that Spark reads and writes, beside Spark itself: its classes, its SQL, and DataSketches as it brings it."""

import pytest
from foreign_bytes import COUNTS, FILTERS, integers, recorded, texts, write_all

from latchfree import Bloom, CountMin, HyperLogLog


def test_what_is_recorded_is_what_they_write(spark):
    written = write_all(spark)
    assert {name: data.hex() for name, data in written.items()} == {name: recorded(name).hex() for name in written}


@pytest.fixture(scope="module")
def table(spark):
    """A view of strings and integers."""
    rows = [(text, number) for text, number in zip(texts(), integers() * 4, strict=False)]
    spark.createDataFrame(rows, "word string, number long").createOrReplaceTempView("items_of_sketches")
    return [list(column) for column in zip(*rows, strict=True)]


def answer(spark, query):
    return spark.sql(query).first()[0]


@pytest.mark.parametrize(("column", "name"), [(0, "word"), (1, "number")])
def test_hll_sketch_agg(spark, table, column, name):
    """What Spark's SQL adds to its sketch, we add to ours; and Spark unites the two."""
    theirs = HyperLogLog.from_datasketches(
        bytes(answer(spark, f"select hll_sketch_agg({name}, 12) from items_of_sketches"))
    )
    ours = HyperLogLog(error=theirs.error, hash="datasketches")
    ours.add_many(table[column])
    assert ours.to_datasketches() == theirs.to_datasketches()
    different = len(set(table[column]))
    both = (
        f"select hll_sketch_estimate(hll_union(x'{ours.to_datasketches().hex()}', hll_sketch_agg({name}, 12))) "
        "from items_of_sketches"
    )
    assert abs(answer(spark, both) - different) <= 3 * ours.error * different + 1


def test_no_rows_are_no_items(spark, table):
    data = bytes(answer(spark, "select hll_sketch_agg(word, 10) from items_of_sketches where false"))
    assert HyperLogLog.from_datasketches(data).estimate() == 0


@pytest.mark.parametrize(("column", "name"), [(0, "word"), (1, "number"), (1, "cast(number % 100 as int)")])
def test_count_min_sketch(spark, table, column, name):
    data = bytes(answer(spark, f"select count_min_sketch({name}, 0.1d, 0.9d, 42) from items_of_sketches"))
    ours = CountMin(0.1, 0.9, hash="spark", seed=42)
    added = table[column] if "cast" not in name else [int(abs(x) % 100) * (1 if x >= 0 else -1) for x in table[column]]
    ours.add_many(added)
    assert ours.to_spark() == data


@pytest.mark.parametrize("name", COUNTS)
def test_spark_counts_on_in_ours(spark, name):
    error, confidence, seed = COUNTS[name]
    ours = CountMin(error, confidence, hash="spark", seed=seed)
    ours.add_many(texts())
    theirs = spark._jvm.org.apache.spark.util.sketch.CountMinSketch.readFrom(bytearray(ours.to_spark()))
    for number in integers():
        theirs.addLong(number)
    ours.add_many(integers())
    assert bytes(theirs.toByteArray()) == ours.to_spark()
    asked = [*texts()[:20], "other", "more"]
    assert [theirs.estimateCount(text) for text in asked] == ours.estimate_many(asked)
    assert [theirs.estimateCount(number) for number in integers()] == ours.estimate_many(integers())


@pytest.mark.parametrize("name", FILTERS)
def test_spark_asks_and_adds_to_ours(spark, name):
    version, size, rate, seed = FILTERS[name]
    ours = Bloom(size, rate, hash=f"spark-v{version}", seed=seed)
    ours.add_many(texts())
    theirs = spark._jvm.org.apache.spark.util.sketch.BloomFilter.readFrom(bytearray(ours.to_spark()))
    asked = [f"guest {k}" for k in range(300)]
    assert [theirs.mightContainString(text) for text in [*texts(), *asked]] == ours.contains_many([*texts(), *asked])
    assert [theirs.mightContainLong(number) for number in range(300)] == ours.contains_many(range(300))
    for number in integers():
        theirs.putLong(number)
    ours.add_many(integers())
    stream = spark._jvm.java.io.ByteArrayOutputStream()
    theirs.writeTo(stream)
    assert bytes(stream.toByteArray()) == ours.to_spark()


def test_what_a_frame_makes(spark, table):
    """`df.stat` makes filters of the newest version that this Spark has."""
    theirs = spark.table("items_of_sketches")._jdf.stat().bloomFilter("word", 500, 0.01)
    stream = spark._jvm.java.io.ByteArrayOutputStream()
    theirs.writeTo(stream)
    read = Bloom.from_spark(bytes(stream.toByteArray()))
    ours = Bloom(500, 0.01, hash=read.hash)
    ours.add_many(table[0])
    assert ours.to_spark() == read.to_spark()
