"""SQL and files: the same verdicts as those of the library, whatever the way."""

import pytest
from lincheck_random import random_history
from pipeline_frames import frame_of, rows_of
from pipeline_jobs import put_and_get

import latchfree_spark
from latchfree_lincheck import check as local
from latchfree_lincheck import write_history

HISTORIES = [random_history("map", seed, most=12) for seed in range(40)]
EXPECTED = {history.name: local(history, "map").verdict for history in HISTORIES}


@pytest.fixture(scope="module")
def ops(spark):
    """A view of operations, one of them malformed."""
    other = spark.newSession()
    other.createDataFrame([], "nothing int")  # so it is the active one
    for session in (other, spark, spark):  # again, as a notebook's cell is
        latchfree_spark.register(session)
    rows = rows_of(HISTORIES)
    rows += [rows_of([put_and_get("odd")])[0] | {"process": "nobody"}]
    frame_of(spark, rows).repartition(3).createOrReplaceTempView("ops")
    yield
    spark.catalog.dropTempView("ops")


def test_the_aggregate(spark, ops):
    found = spark.sql(
        "SELECT history, linearizable('map', process, f, arguments, result, invoke, `return`) AS verdict"
        " FROM ops GROUP BY history"
    ).collect()
    assert len(found) == len(HISTORIES) + 1
    assert {row["history"]: row["verdict"] for row in found} == {**EXPECTED, "odd": "error"}


def test_the_aggregate_of_typed_columns(spark, ops):
    text = "SELECT linearizable('map', process, f, arguments, result, invoke, `return`) AS verdict FROM VALUES {} AS t"
    names = "(process, f, arguments, result, invoke, `return`)"
    put = """(0, 'put', '["k", 1]', CAST(NULL AS INT), 0, 1)"""
    for result, verdict in (("1", "ok"), ("2", "violation"), ("CAST(NULL AS INT)", "violation")):
        rows = f"{put}, (1, 'get', '[\"k\"]', {result}, 2, 3)"
        assert spark.sql(text.format(rows) + names).collect()[0]["verdict"] == verdict


def test_the_table_function(spark, ops):
    found = spark.sql("SELECT * FROM check_history(TABLE(ops), 'map')").collect()
    assert len(found) == len(HISTORIES) + 1
    assert {row["history"]: row["verdict"] for row in found} == {**EXPECTED, "odd": "error"}
    assert all(row["witness"] for row in found if row["verdict"] == "violation")
    with pytest.raises(Exception, match="check_history needs TABLE"):
        spark.sql("SELECT * FROM check_history(TABLE(SELECT f FROM ops), 'map')").collect()


def test_files_of_every_kind_are_one_table(spark, ops, tmp_path):
    folder = tmp_path / "runs"
    folder.mkdir()
    write_history(folder / "a.jsonl", HISTORIES[:20])
    write_history(folder / "b.parquet", HISTORIES[10:])
    (folder / "c.edn").write_text(
        "{:type :invoke, :f :write, :value 1, :process 0, :time 1}\n"
        "{:type :ok, :f :write, :value 1, :process 0, :time 2}\n"
    )
    frame = spark.read.format("latchfree").load(str(folder))
    assert frame.count() == sum(map(len, HISTORIES[:20] + HISTORIES[10:])) + 1
    found = latchfree_spark.check(frame.where("source != 'c.edn'"), "map", by=["source", "history"]).collect()
    assert {(row["source"], row["history"]): row["verdict"] for row in found} == {
        (source, history.name): EXPECTED[history.name]
        for source, histories in (("a.jsonl", HISTORIES[:20]), ("b.parquet", HISTORIES[10:]))
        for history in histories
    }
    log = latchfree_spark.check(frame.where("source = 'c.edn'"), by=["source"]).collect()
    assert [(row["source"], row["verdict"], row["operations"]) for row in log] == [("c.edn", "ok", 1)]


def test_files_that_are_damaged_fail_by_name(spark, ops, tmp_path):
    with pytest.raises(Exception, match="expected a file, a folder with files or a pattern"):
        spark.read.format("latchfree").load(str(tmp_path / "none")).collect()
    write_history(tmp_path / "torn.jsonl", HISTORIES[:3])
    text = (tmp_path / "torn.jsonl").read_text()
    (tmp_path / "torn.jsonl").write_text(text[:-30])
    with pytest.raises(Exception, match=r"torn\.jsonl:\d+: expected a JSON object on the last line"):
        spark.read.format("latchfree").load(str(tmp_path)).collect()
