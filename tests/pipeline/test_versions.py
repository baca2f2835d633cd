"""Versions of Spark: what stands in for functions of newer ones, and the same rows from every version."""

import json
import os
import struct
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
import pytest
from lincheck_random import random_history
from packaging.requirements import Requirement
from pipeline_jobs import run, verdicts
from typer.testing import CliRunner

import latchfree_spark
from latchfree_cli import exits
from latchfree_cli.app import app
from latchfree_lincheck import check, write_history
from latchfree_model.tlc.tools import ToolMissing
from latchfree_spark import java, spark_session, versions
from latchfree_spark.check import Options, job
from latchfree_spark.errors import SparkTooOld
from latchfree_spark.sketch import Columns, by_python, sketched
from latchfree_spark.sketch.count_min import murmur3

ROOT = Path(__file__).parents[2]
PIP = ("-m", "pip", "--disable-pip-version-check", "-q")


def test_each_partition_has_an_integer_that_hashes_to_it():
    for number in (*range(2000), 99_999, 2**31 - 1):
        assert murmur3(struct.pack("<i", versions.unhashed(number)), 42) == number


@pytest.mark.parametrize("how", [versions.dealt, versions.dealt_by_hash])
def test_rows_land_in_the_partition_that_they_name(spark, how):
    from pyspark.sql import functions as F

    frame = spark.range(-3, 40, 1, 5).selectExpr("CAST(id AS int) AS number")
    dealt = how(frame, 7, "number")
    assert dealt.rdd.getNumPartitions() == 7
    rows = dealt.withColumn("partition", F.spark_partition_id()).collect()
    assert sorted(row["number"] for row in rows) == [*range(-3, 40)]
    assert all(row["partition"] == row["number"] % 7 for row in rows)


def test_a_job_with_the_shuffle_of_old_versions(spark, tmp_path, monkeypatch):
    histories = [random_history("map", seed, most=12) for seed in range(30)]
    write_history(tmp_path / "x.jsonl", histories)
    monkeypatch.setattr(job, "dealt", versions.dealt_by_hash)
    run(spark, [tmp_path / "x.jsonl"], tmp_path / "out", Options("map", giant=9, saved=1))
    assert sum(len(history) > 9 for history in histories) > 1
    rows = {row["history"]: row["verdict"] for row in verdicts(tmp_path / "out")}
    assert rows == {history.name: check(history, "map").verdict for history in histories}


def messages(count=6):
    """Messages of two windows and of none; no two topics are seen equally often."""
    rows = [
        (f"t/{topic}", window, topic * 10, ["s"] * (topic % 3)) for window in (0, 1, None) for topic in range(count)
    ]
    return [row for row in rows for _ in range(1 + 3 * int(row[0][2:]) + (row[1] or 0))]


def test_sketches_of_python_estimate_what_those_of_spark_do(spark, monkeypatch):
    frame = spark.createDataFrame(messages(), "topic string, hour int, size bigint, subscribers array<string>")
    frame = frame.selectExpr("topic", "timestamp_seconds(hour * 3600) AS at", "size", "subscribers").repartition(3)
    columns = Columns(time="at", size="size", subscribers="subscribers")
    seen = []
    for native in (True, False):
        monkeypatch.setattr(versions, "has_sketches", lambda spark, native=native: native)
        found = sketched(frame, columns=columns, heavy=4)
        rows = found.drop("topics_hll", "subscribers_hll", "heavy_items", "sizes_kll", "fan_outs_kll").collect()
        seen.append((found.columns, rows))
    assert seen[0] == seen[1]
    assert [row["messages"] for row in seen[0][1]] == [51, 51, 57]


def test_sketches_of_python_are_within_their_bounds(rng):
    topics = [f"t/{min(int(rng.paretovariate(0.6)), 30_000)}" for _ in range(20_000)]
    sizes = [int(rng.expovariate(0.01)) for _ in topics]
    columns = {
        "start": pa.array([None] * len(topics), pa.timestamp("us", "UTC")),
        "topic": topics,
        "size": sizes,
        "fan_out": pa.array([None] * len(topics), pa.int64()),
    }
    batches = pa.table(columns).to_batches(3000)
    parts = [part for some in (batches[:3], batches[3:]) for part in by_python.of_messages(some)]
    ((row,),) = [batch.to_pylist() for batch in by_python.of_sketches([*parts, parts[0].slice(0, 0)], 5)]
    assert [each["item"] for each in row["heavy"]] == [topic for topic, _ in Counter(topics).most_common(5)]
    assert row["fan_outs"] is None
    for rank, value in zip((0.5, 0.9, 0.99), row["sizes"], strict=True):
        below, upto = (sum(v < value for v in sizes) / len(sizes), sum(v <= value for v in sizes) / len(sizes))
        # A quantile sketch tosses coins: k = 200 is within 0.0133 in 99 of 100 cases, so beyond 0.03 in none of 10**8.
        assert below - 0.03 <= rank <= upto + 0.03
    assert list(by_python.of_messages([])) == []


def test_a_version_that_is_too_old_is_refused_before_anything_starts(monkeypatch, tmp_path):
    monkeypatch.setattr(pyspark, "__version__", "3.4.4")
    told = 'needs Spark 3.5, and this is 3.4; pip install "pyspark>=3.5,<4.4"'
    with pytest.raises(SparkTooOld) as error, spark_session():
        pass
    assert str(error.value) == f"latchfree {told}"
    result = CliRunner().invoke(app, ["pipeline", "sketch", "gone.csv", "--out", str(tmp_path / "out")])
    assert result.exit_code == exits.TOOL
    assert f"latchfree pipeline sketch {told}" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_java_that_is_too_new_is_named(monkeypatch):
    monkeypatch.setattr(java, "java_version", lambda path: 25)
    assert java.java_home()
    monkeypatch.setattr(pyspark, "__version__", "4.0.5")
    with pytest.raises(ToolMissing, match=r"is version 25, and Spark 4\.0 runs on Java 17 to 22; set JAVA_HOME"):
        java.java_home()


def test_a_version_that_was_not_tried_gets_a_warning(monkeypatch):
    monkeypatch.setattr(pyspark, "__version__", "4.9.0.dev1")
    with pytest.warns(UserWarning, match=r"tried with Spark 3\.5 to 4\.3, and this is 4\.9"):
        versions.look("latchfree")


def test_functions_of_sql_name_the_version_that_they_need(spark, monkeypatch):
    monkeypatch.setattr(pyspark, "__version__", "3.5.9")
    with pytest.raises(SparkTooOld, match=r"register needs Spark 4\.0, and this is 3\.5; .*check\(df\) works here"):
        latchfree_spark.register(spark)


def test_the_project_declares_the_versions_that_are_tried():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = {each.name: each for each in map(Requirement, project["optional-dependencies"]["spark"])}["pyspark"]
    (major, minor), newest = versions.NEWEST, versions.said(versions.NEWEST)
    assert wanted.specifier.contains(f"{versions.said(versions.OLDEST)}.0")
    assert wanted.specifier.contains(f"{newest}.7")
    assert not wanted.specifier.contains(f"{major}.{minor + 1}.0")
    assert not wanted.specifier.contains("3.4.4")


# From here on: a virtual environment for each version, and the rows of its jobs.

TRIED = ("3.5.9", "4.0.5", "4.3.0")
MATCH = ("match", "-s", "subscriptions.csv", "-m", "messages")
COMMANDS = {
    "check": ("check", "in", "judged", "--model", "map", "--giant", "11", "--chunks", "5"),
    "match": (*MATCH, "--out", "matched", "--deliveries"),
    "stream": (*MATCH, "--out", "streamed", "--stream", "--available-now"),
    "sketch": (
        "sketch", "matched/matches", "--time-column", "at", "--size-column", "payload",
        "--subscribers-column", "subscribers", "--heavy", "3", "--out", "sketched",
    ),
}  # fmt: skip


def inputs(folder):
    """Write histories, one of them not linearizable, subscriptions and messages."""
    (folder / "in").mkdir(parents=True)
    histories = [random_history("map", seed, most=14) for seed in range(60)]
    write_history(folder / "in" / "a.parquet", histories[:40])
    write_history(folder / "in" / "b.jsonl", histories[40:])
    (folder / "subscriptions.csv").write_text("pattern,subscriber\nt/+,ann\nt/3,bob\nu/#,cid\n")
    (folder / "messages").mkdir()
    for part in range(2):
        rows = messages()[part::2]
        hours = [None if row[1] is None else 3_600_000_000 * row[1] for row in rows]
        columns = {
            "topic": [row[0] for row in rows],
            "at": pa.array(hours, pa.timestamp("us", "UTC")),
            "payload": ["x" * row[2] for row in rows],
        }
        pq.write_table(pa.table(columns), folder / "messages" / f"{part}.parquet")


def rows_of(folder):
    """Return the rows of a table, in an order that does not depend on Spark."""
    rows = [row for file in sorted(Path(folder).rglob("*.parquet")) for row in pq.read_table(file).to_pylist()]
    for row in rows:
        if isinstance(row.get("subscribers"), list):
            row["subscribers"].sort()
    return sorted(rows, key=repr)


def outcome(python, folder):
    """Run every command with an interpreter in a new folder; return what they print and their rows."""
    inputs(folder)
    path = os.pathsep.join(each for each in sys.path if each) if python == sys.executable else ""
    environment = {name: text for name, text in os.environ.items() if name not in ("PYTHONPATH", "SPARK_HOME")}
    environment |= {"PYTHONPATH": path} if path else {}

    def call(*command, code=exits.OK):
        done = subprocess.run(
            [python, *command], cwd=folder, env=environment, capture_output=True, text=True, timeout=1500, check=False
        )
        assert done.returncode == code, done.stdout[-2000:] + done.stderr[-4000:]
        return done.stdout

    found = {}
    for name, arguments in COMMANDS.items():
        code = exits.VIOLATION if name == "check" else exits.OK
        told = call("-m", "latchfree_cli", "pipeline", *arguments, "--master", "local[2,4]", code=code)
        found[name] = told.replace(str(folder), "")
    script = Path(__file__).with_name("helpers") / "pipeline_tables.py"
    tables = json.loads(call(script, folder / "in" / "b.jsonl").splitlines()[-1])
    for name in ("judged/verdicts", "matched/matches", "matched/deliveries", "matched/subscribers", "matched/topics"):
        found[name] = rows_of(folder / name)
    found["streamed"] = [{**row, "batch": 0} for row in rows_of(folder / "streamed" / "matches")]
    sketches = ("topics_hll", "subscribers_hll", "heavy_items", "sizes_kll", "fan_outs_kll")
    for name in ("windows", "total.parquet"):
        file = folder / "sketched" / name
        rows = pq.read_table(file).drop_columns(list(sketches)).to_pylist()
        found[name] = sorted(rows, key=lambda row: (row["messages"], repr(row["start"])))
    return found, tables


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    """What this interpreter's version does."""
    return outcome(sys.executable, tmp_path_factory.mktemp("mine") / "work")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel of the project."""
    folder = tmp_path_factory.mktemp("wheel")
    asked = [sys.executable, *PIP, "download", "--no-deps", "--dest", folder / "probe", "py4j==0.10.9.9"]
    if subprocess.run(asked, capture_output=True, timeout=300, check=False).returncode:
        pytest.skip("no package index can be reached")
    subprocess.run([sys.executable, *PIP, "wheel", "--no-deps", "-w", folder, ROOT], check=True, timeout=600)
    (file,) = folder.glob("latchfree-*.whl")
    return file


@pytest.mark.slow
@pytest.mark.parametrize("version", TRIED)
def test_every_version_gives_the_same_rows(version, wheel, mine, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True, timeout=300)
    python = str(tmp_path / "venv" / "bin" / "python")
    wanted = [f"latchfree[spark] @ {wheel.as_uri()}", f"pyspark=={version}"]
    subprocess.run([python, *PIP, "install", *wanted], check=True, timeout=1500)
    found, tables = outcome(python, tmp_path / "work")
    expected, tables_here = mine
    assert tables.pop("version") == version
    for name, rows in expected.items():
        assert found[name] == rows, name
    assert any(row["verdict"] == "violation" for row in tables["check"])
    if version.startswith("3."):
        assert tables.pop("refused").startswith("register needs Spark 4.0, and this is 3.5")
    for name, rows in tables.items():
        assert rows == tables_here[name], name
    assert len(tables) == (4 if version.startswith("3.") else 7)
