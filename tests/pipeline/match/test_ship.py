"""The index on its way: workers take it from the driver's folder, else from the files Spark brought."""

from pathlib import Path

import pytest
from message_files import index_of

from latchfree.topics import IndexInvalid
from latchfree_spark.match.ship import Shipped, opened, ship
from latchfree_spark.match.worker import with_subscribers
from latchfree_spark.shipping import is_remote


def matched(spark, shipped, topic):
    frame = spark.createDataFrame([(topic,)], "topic string")
    return with_subscribers(frame, shipped, "bigint").first().subscribers


def test_the_name_is_the_content(spark, tmp_path):
    one, same, other = (ship(spark, index_of([p], [1]), tmp_path / str(i)) for i, p in enumerate(["a", "a", "b"]))
    assert one.version == same.version != other.version
    assert one.path.endswith(f"{one.version}.index")
    assert [path.name for path in (tmp_path / "0").iterdir()] == [f"{one.version}.index"]
    assert matched(spark, one, "a") == [1]
    assert matched(spark, other, "a") == []
    assert not is_remote(spark)


def test_a_table_without_folder_or_file(spark):
    from latchfree_spark.match import BadMessages

    shipped = ship(spark, index_of(["a/#", "+/b"], [1, 2]))
    frame = spark.sql("SELECT 'a/b' AS name, 7 AS size UNION ALL SELECT 'c', 8")
    found = with_subscribers(frame, shipped, "bigint", "name")
    assert found.columns == ["name", "size", "subscribers"]
    found.createOrReplaceTempView("found")
    assert [row.size for row in spark.sql("SELECT size FROM found WHERE array_contains(subscribers, 2)").collect()] == [
        7
    ]
    assert Path(shipped.path).is_relative_to(spark.sparkContext._temp_dir)
    with pytest.raises(BadMessages, match="expected a column topic, got name, size"):
        with_subscribers(frame, shipped, "bigint")
    with pytest.raises(BadMessages, match="the column size must be text, not int"):
        with_subscribers(frame, shipped, "bigint", "size")
    with pytest.raises(BadMessages, match="a column subscribers, a name that is written"):
        with_subscribers(found, shipped, "bigint", "name")


def test_a_worker_that_does_not_see_the_folder(spark, tmp_path):
    shipped = ship(spark, index_of(["x/+"], [7]), tmp_path)
    spark.sparkContext.addFile(shipped.path)
    elsewhere = Shipped(shipped.version, "/nowhere/" + shipped.path.rpartition("/")[2])
    assert matched(spark, elsewhere, "x/y") == [7]


def test_a_truncated_index_is_no_index(spark, tmp_path):
    shipped = ship(spark, index_of(["x/+"], [7]), tmp_path)
    with Path(shipped.path).open("r+b") as file:
        file.truncate(100)
    with pytest.raises(IndexInvalid, match="truncated"):
        opened(shipped)
