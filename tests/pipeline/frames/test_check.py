"""`latchfree_spark.check` on a session: tables in, tables out, evaluated late."""

import datetime
import decimal
import random
import shlex
import sys

import pytest
from lincheck_random import random_history
from pipeline_frames import DDL, frame_of, rows_of
from pipeline_jobs import put_and_get
from pyspark.sql import functions as F
from typer.testing import CliRunner

import latchfree_spark
from latchfree_cli import exits
from latchfree_cli.app import app
from latchfree_lincheck import check as local
from latchfree_lincheck.criteria import judge

TALLY = """
from latchfree_model import SequentialModel

class Tally(SequentialModel):
    name = "tally"
    operations = {"put": 2, "get": 1}

    def init(self):
        return 0

    def apply(self, state, call):
        return (state, state) if call.f == "get" else (None, state + 1)
"""


@pytest.fixture(scope="module")
def histories():
    """Histories of which one is as long as all others together."""
    return [random_history("map", seed, most=300 if seed == 3 else 12) for seed in range(60)]


@pytest.mark.parametrize("partitions", [1, 2, 8])
@pytest.mark.usefixtures("adaptive")
def test_one_row_a_history_with_the_verdict_of_the_library(spark, histories, partitions):
    rows = rows_of(histories)
    random.Random(partitions).shuffle(rows)
    frame = frame_of(spark, rows).repartition(5)
    found = latchfree_spark.check(frame, "map", partitions=partitions).collect()
    assert len(found) == len(histories)
    assert {row["history"]: (row["verdict"], row["operations"]) for row in found} == {
        history.name: (local(history, "map").verdict, len(history)) for history in histories
    }


def test_names_keep_their_types(spark):
    when = datetime.datetime(2026, 3, 1, 12, 0, 0, 123456)
    day = datetime.date(2026, 3, 1)
    names = [(None, None, None, None, None), (1, day, when, decimal.Decimal("1.50"), b"\x00")]
    names.append((1, day, when.replace(microsecond=123457), decimal.Decimal("1.50"), b"\x00"))
    rows = [(*name, *row.values()) for name in names for row in rows_of([put_and_get("h")])]
    ddl = "run int, day date, at timestamp, version decimal(4,2), host binary, " + DDL
    found = latchfree_spark.check(spark.createDataFrame(rows, ddl), "map", by=["run", "day", "at", "version", "host"])
    assert [kind for _, kind in found.dtypes[:5]] == ["int", "date", "timestamp", "decimal(4,2)", "binary"]
    assert sorted(map(str, names)) == sorted(
        str((row[0], row[1], row[2], row[3], None if row[4] is None else bytes(row[4]))) for row in found.collect()
    )
    assert found.where("verdict = 'ok' AND operations = 2").count() == 3


def test_typed_columns_become_json(spark):
    text = frame_of(spark, rows_of([put_and_get("good"), put_and_get("bad", seen=3)]))
    typed = text.select(
        "history",
        F.col("process").cast("int"),
        "f",
        F.from_json("arguments", "array<string>").alias("arguments"),
        F.expr("try_cast(result AS int)").alias("result"),
        F.timestamp_micros("invoke").alias("invoke"),
        F.timestamp_micros("return").alias("return"),
    )
    puts = typed.where("f = 'put'").withColumn("arguments", F.array(F.lit("k"), F.lit("1")))
    gets = typed.where("f = 'get'")
    found = latchfree_spark.check(puts.unionByName(gets), "map").collect()
    # The result of the put, a null in an integer column, is JSON's null; "1" in an array of text is not the integer 1.
    assert {row["verdict"] for row in found} == {"violation"}
    numbers = puts.withColumn("result", F.lit(None).cast("string")).withColumn("arguments", F.lit('["k", 1]'))
    gets = gets.withColumn("result", F.col("result").cast("string"))
    gets = gets.withColumn("arguments", F.to_json("arguments"))
    found = latchfree_spark.check(numbers.unionByName(gets), "map").collect()
    assert {row["history"]: row["verdict"] for row in found} == {"good": "ok", "bad": "violation"}


def test_a_null_result_is_unknown_in_text_and_null_in_a_typed_column(spark):
    ddl = "history string, process int, f string, arguments array<string>, result {}, invoke int, `return` int"
    rows = [("h", 0, "put", ["k", "1"], None, 0, 1), ("h", 0, "get", ["k"], None, 2, 3)]
    for kind, verdict in (("string", "ok"), ("int", "violation"), ("void", "violation")):
        frame = spark.createDataFrame(rows, ddl.format(kind))
        assert latchfree_spark.check(frame, "map").collect()[0]["verdict"] == verdict
    pending = spark.createDataFrame([(*row[:-1], None) for row in rows[:1]], ddl.format("int"))
    assert latchfree_spark.check(pending, "map").collect()[0]["verdict"] == "ok"


def test_nothing_runs_before_rows_are_asked_for(spark):
    frame = frame_of(spark, rows_of([put_and_get("h")])).withColumn("f", F.expr("raise_error('it runs')"))
    found = latchfree_spark.check(frame.withColumn("f", F.col("f").cast("string")), "map")
    assert found.columns[:2] == ["history", "verdict"]
    with pytest.raises(Exception, match="it runs"):
        found.collect()


def test_no_rows_no_histories(spark):
    assert latchfree_spark.check(spark.createDataFrame([], DDL), "map").collect() == []


def test_the_model_of_each_history(spark):
    rows = rows_of([put_and_get("a"), put_and_get("b")])
    for row in rows:
        row["model"] = "map" if row["history"] == "a" else "mop"
    found = {row["history"]: row for row in latchfree_spark.check(frame_of(spark, rows)).collect()}
    assert (found["a"]["verdict"], found["b"]["verdict"]) == ("ok", "error")
    assert "mop" in found["b"]["reason"]


def test_tables_that_are_no_operations_are_refused_by_name(spark):
    frame = frame_of(spark, rows_of([put_and_get("h")]))
    wrong = [
        (frame.drop("f"), {}, "the table has no column f, only history, process"),
        (frame, {"by": ["run"]}, "the table has no column run"),
        (frame, {"by": []}, "by: name the columns"),
        (frame, {"by": ["history", "history"]}, "by: name each column once"),
        (frame.withColumn("verdict", F.lit("x")), {"by": ["verdict"]}, "the output has a column verdict of its own"),
        (frame.withColumn("x", F.lit(1.5)), {"by": ["x"]}, "by: the column x is of type double"),
        (frame.withColumn("invoke", F.lit(1.5)), {}, "the column invoke must be an integer or a timestamp, not double"),
        (frame.withColumn("f", F.array(F.lit("x"))), {}, "the column f must be text, not array<string>"),
        (frame.withColumn("result", F.lit(b"x")), {}, "the column result is of type binary; make it JSON text"),
        (frame.drop("model"), {"model": None}, r"say what to check against: model=map\|register"),
        (frame, {"model": "mop"}, "mop"),
        (frame, {"timeout": 0}, "timeout must be above 0"),
        (frame, {"criterion": "luck"}, "no criterion is called 'luck'; choose one of linearizability"),
        (frame, {"criterion": "sequential-consistency", "budget": 9}, "a budget is for linearizability"),
    ]
    for table, options, text in wrong:
        with pytest.raises(ValueError, match=text):
            latchfree_spark.check(table, **{"model": "map", **options})


@pytest.mark.parametrize("criterion", ["sequential-consistency", "quiescent-consistency"])
def test_other_criteria_judge_as_the_library_does(spark, criterion):
    histories = [random_history("map", seed, most=9) for seed in range(40)]
    found = latchfree_spark.check(frame_of(spark, rows_of(histories)), "map", criterion=criterion).collect()
    expected = {history.name: judge(history, "map", criterion=criterion).verdict for history in histories}
    assert {row["history"]: row["verdict"] for row in found} == expected
    assert {"ok", "violation"} <= {*expected.values()}


def test_a_model_of_ones_own(spark, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.path", list(sys.path))
    (tmp_path / "own_frames_tally.py").write_text(TALLY)
    frame = frame_of(spark, rows_of([put_and_get("one"), put_and_get("two", seen=2)]))
    with pytest.raises(ValueError, match="No module named 'own_frames_tally'"):
        latchfree_spark.check(frame, "own_frames_tally:Tally")
    with pytest.raises(ValueError, match=r"tally\.txt: expected a file that is there and ends in \.py"):
        latchfree_spark.check(frame, "own_frames_tally:Tally", py_files=[tmp_path / "tally.txt"])
    verdicts = latchfree_spark.check(frame, "own_frames_tally:Tally", py_files=[tmp_path / "own_frames_tally.py"])
    found = {row["history"]: row for row in verdicts.collect()}
    assert (found["one"]["verdict"], found["two"]["verdict"]) == ("ok", "violation")
    assert found["two"]["reproduce"].endswith(f"--py-files {tmp_path / 'own_frames_tally.py'}")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/own_frames_tally.py").write_text(f"{TALLY}WRONG = 1\n")
    with pytest.raises(ValueError, match="has a module own_frames_tally of"):
        latchfree_spark.check(frame, "own_frames_tally:Tally", py_files=[tmp_path / "elsewhere/own_frames_tally.py"])
    called = CliRunner().invoke(app, shlex.split(found["two"]["reproduce"])[1:], input=found["two"]["witness"])
    assert called.exit_code == exits.VIOLATION, called.output
    (tmp_path / "own_frames_tally.py").write_text(TALLY + "\n")
    with pytest.raises(ValueError, match="it has changed since this program took it"):
        latchfree_spark.check(frame, "own_frames_tally:Tally", py_files=[tmp_path / "own_frames_tally.py"])


def test_a_history_that_kills_its_worker_is_unknown(spark):
    rows = rows_of([put_and_get(f"h{number}", 666 if number == 3 else 1) for number in range(6)])
    table = latchfree_spark.check(frame_of(spark, rows), "map", partitions=2, judge="pipeline_judges:dies")
    found = {row["history"]: (row["verdict"], row["reason"]) for row in table.collect()}
    assert found.pop("h3") == ("unknown", "its process died of SIGKILL, 2 times, while judging it alone")
    assert {verdict for verdict, _ in found.values()} == {"ok"}


@pytest.mark.parametrize(
    ("wrong", "kind", "text"),
    [
        ({"judge": "nope:x"}, ValueError, "judge: 'nope:x' names no function"),
        ({"judge": "json:nope"}, ValueError, "judge: 'json:nope' names no function"),
        ({"judge": "json"}, ValueError, "names no function as module:function"),
        ({"partitions": 1.5}, TypeError, "partitions must be a whole number, not 1.5"),
        ({"partitions": 0}, ValueError, "partitions must be from 1"),
    ],
)
def test_what_no_job_can_have_is_refused_before_anything_runs(spark, wrong, kind, text):
    with pytest.raises(kind, match=text):
        latchfree_spark.check(frame_of(spark, []), "map", **wrong)
