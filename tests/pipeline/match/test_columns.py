"""Files with different columns: all columns are in the table, or the file is named."""

import csv
import datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from message_files import index_of
from typer.testing import CliRunner

from latchfree_cli import exits
from latchfree_cli.app import app
from latchfree_spark.match import BadMessages, find, match_messages
from latchfree_spark.match.blame import first_defect
from latchfree_spark.match.columns import footers

NOW = datetime.datetime(2026, 11, 23, tzinfo=datetime.UTC)


def save(folder, **tables):
    folder.mkdir(exist_ok=True)
    for name, table in tables.items():
        pq.write_table(pa.table(table), folder / f"{name}.parquet")
    return folder


def read(spark, folder, **options):
    rows = find(str(folder), **options).read(spark).toArrow().to_pylist()
    return sorted(rows, key=lambda row: row["topic"])


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_parquet_keeps_the_columns_of_all_files(spark, tmp_path, order):
    tables = {
        order[0]: {"topic": ["x"], "id": [1], "size": [7]},
        order[1]: {"words": [["w"]], "topic": ["y"], "id": [2]},
    }
    assert read(spark, save(tmp_path / "in", **tables)) == [
        {"topic": "x", "id": 1, "size": 7, "words": None},
        {"topic": "y", "id": 2, "size": None, "words": ["w"]},
    ]


def test_csv_keeps_the_columns_of_all_files(spark, tmp_path):
    (tmp_path / "a.csv").write_text("topic,id\nx,1\n")
    (tmp_path / "b.csv").write_text("size,topic\n7,y\n8,z\n")
    (tmp_path / "c.csv").write_text("")
    expected = [
        {"topic": "x", "id": "1", "size": None},
        {"topic": "y", "id": None, "size": "7"},
        {"topic": "z", "id": None, "size": "8"},
    ]
    assert read(spark, tmp_path) == expected
    assert find(str(tmp_path)).without(f"{tmp_path}/a.csv", "why").read(spark).count() == 2
    (tmp_path / "b.csv").write_text("size,topic\n7,y\n8,z/+\n")
    place = first_defect(spark, find(str(tmp_path)), index_of(["a"], [1]).dialect)
    assert place.startswith(f"{tmp_path}/b.csv, line 3: 'z/+' is no topic of mqtt")
    with pytest.raises(BadMessages, match=r"b\.csv: the columns are size, topic, and topic, id in .*a\.csv"):
        find(str(tmp_path), schema="topic string, id string")
    (tmp_path / "d.csv").write_text("subject\nx\n")
    with pytest.raises(BadMessages, match=r"d\.csv: expected a column topic, got subject"):
        find(str(tmp_path))


def test_json_keeps_the_fields_of_all_files(spark, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"topic": "x", "id": 1}\n')
    (tmp_path / "b.jsonl").write_text('{"topic": "y", "size": {"bytes": 7}}\n')
    assert [(row["topic"], row["id"], row["size"]) for row in read(spark, tmp_path)] == [
        ("x", 1, None),
        ("y", None, {"bytes": 7}),
    ]


def test_types_that_contradict_are_named(spark, tmp_path):
    folder = save(tmp_path / "in", a={"topic": ["x"], "id": [1]}, b={"topic": ["y"], "id": pa.array([1], pa.int32())})
    with pytest.raises(BadMessages, match=r"b\.parquet: the column id is int32, and int64 in .*a\.parquet; write it"):
        find(str(folder))
    messages = find(str(folder), keep_going=True)
    summary = match_messages(spark, index_of(["#"], [1]), messages, tmp_path / "out", keep_going=True)
    assert (summary.messages, len(summary.unreadable)) == (1, 1)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (pa.array(["a"]), pa.array(["a"]).dictionary_encode()),
        (pa.array(["a"]), pa.array(["a"], pa.large_string())),
        (pa.array([b"a"]), pa.array([b"a"], pa.large_binary())),
        (pa.array([[1]]), pa.array([[1]], pa.large_list(pa.int64()))),
        (pa.array([{"a": 1}]), pa.array([{"b": "x"}])),
        (pa.array([NOW], pa.timestamp("us", "UTC")), pa.array([NOW], pa.timestamp("ms", "UTC"))),
        (pa.array([1], pa.decimal128(4, 1)), pa.array([1], pa.decimal128(9, 1))),
    ],
    ids=str,
)
def test_types_that_spark_unites(spark, tmp_path, one, other):
    folder = save(tmp_path / "in", a={"topic": ["x"], "v": one}, b={"topic": ["y"], "v": other, "w": [1]})
    assert [each.defect for each in footers(sorted(map(str, folder.iterdir())), "topic")] == ["", ""]
    assert [row["w"] for row in read(spark, folder)] == [None, 1]


def test_rows_and_groups_are_known(tmp_path):
    folder = save(tmp_path / "in", a={"topic": ["x"] * 5}, b={"topic": ["y"] * 2}, c={"topic": ["z"], "id": [1]})
    messages = find(str(folder))
    assert messages.total == 8
    assert [len(group) for group in messages.groups] == [2, 1]
    fewer = messages.without(str(folder / "c.parquet"), "why")
    assert (fewer.total, len(fewer.groups), "mergeSchema" in fewer.options) == (7, 1, False)


def test_quotes_of_csv_are_those_of_the_library(spark, tmp_path):
    """A line may end within quotes; a quote is doubled; a backslash is one."""
    (tmp_path / "in").mkdir()
    rows = [("sport/x", 'first\nsport/y,second"'), ("sport/q", "C:\\dir\\"), ("sport/z", 'a"b'), ("sport/e", "a,b")]
    with (tmp_path / "in" / "a.csv").open("w", newline="") as file:
        csv.writer(file).writerows([("topic", "payload"), *rows])
    frame = find(str(tmp_path / "in")).read(spark)
    assert sorted((row["topic"], row["payload"]) for row in frame.collect()) == sorted(rows)


@pytest.mark.parametrize(
    ("suffix", "head"), [(".csv", b"topic\n"), (".txt", b""), (".jsonl", b'{"topic": "sport/a"}\n')]
)
def test_topics_that_are_not_utf8_are_named(spark, tmp_path, suffix, head):
    lines = [b'{"topic": "sport/\xe9"}' if suffix == ".jsonl" else b"sport/\xe9"]
    (tmp_path / f"bad{suffix}").write_bytes(head + b"\n".join(lines) + b"\n")
    (tmp_path / "s.csv").write_text("pattern,subscriber\nsport/+,x\n")
    options = ["-s", str(tmp_path / "s.csv"), "-m", str(tmp_path / f"bad{suffix}"), "-o", str(tmp_path / "out")]
    called = CliRunner().invoke(app, ["pipeline", "match", *options])
    assert called.exit_code == exits.USAGE, called.output
    line = 1 + bool(head)
    assert f"bad{suffix}, line {line}: there is no topic, or bytes that are not UTF-8" in called.stderr.replace(
        "\n", ""
    )
    assert not (tmp_path / "out").exists()
