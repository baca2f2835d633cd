"""``latchfree pipeline match`` and ``sketch``: what they write and say, and the exit codes of what they refuse."""

import json
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from latchfree_cli import exits
from latchfree_cli.app import app
from latchfree_spark.match import writing

pytestmark = pytest.mark.usefixtures("spark")


def run(*arguments):
    return CliRunner().invoke(app, ["pipeline", *map(str, arguments)])


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Three subscriptions and four messages."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.csv").write_text("pattern,subscriber\na/+,x\na/#,y\nb/c,z\n")
    (tmp_path / "in").mkdir()
    pq.write_table(pa.table({"topic": ["a/b", "b/c", "none", "a/b"]}), tmp_path / "in" / "m.parquet")
    return tmp_path


def test_match_then_sketch(files):
    result = run("match", "-s", "s.csv", "-m", "in", "-o", "matched")
    assert (result.exit_code, result.stdout) == (exits.OK, "4 messages, 5 matches -> matched/matches\n"), result.output
    options = ("--subscribers-column", "subscribers", "--heavy", "1")
    result = run("sketch", "matched/matches", *options, "-o", "sketches")
    assert result.stdout.splitlines() == [
        "4 messages in 1 windows -> sketches",
        "topics: about 3",
        "subscribers: about 3",
        "fan-out: 50% up to 1, 90% up to 2, 99% up to 2",
        "           2  a/b",
    ], result.output


def test_stream_and_json(files):
    (files / "in" / "n.parquet").write_bytes((files / "in" / "m.parquet").read_bytes())
    options = ("--stream", "--available-now", "--max-files", 1, "--json")
    os.utime("in/n.parquet", (1, 1))  # as rsync and tar bring them
    document = json.loads(run("match", "-s", "s.csv", "-m", "in", "-o", "out", *options).stdout)
    assert (document["verdict"], document["batches"], document["messages"], document["matches"]) == ("ok", 2, 8, 10)
    again = run("match", "-s", "s.csv", "-m", "in", "-o", "out", *options)
    assert (again.exit_code, json.loads(again.stdout)["messages"]) == (exits.NOTHING, 0)
    source = ("--format", "rate-micro-batch", "--option", "rowsPerBatch=5", "--select", "'a/b' AS topic")
    result = run("match", "-s", "s.csv", "-o", "rated", "--stream", "--available-now", *source)
    assert (result.exit_code, result.stdout) == (exits.OK, "5 messages, 10 matches, in 1 batches -> rated/matches\n")


def test_keep_going_says_what_was_left_out(files):
    (files / "in" / "broken.parquet").write_bytes(b"PAR1")
    pq.write_table(pa.table({"topic": ["a/#"]}), files / "in" / "wild.parquet")
    stopped = run("match", "-s", "s.csv", "-m", "in", "-o", "out")
    assert stopped.exit_code == exits.USAGE
    assert "broken.parquet: no Parquet" in stopped.stderr
    result = run("match", "-s", "s.csv", "-m", "in", "-o", "out", "--keep-going")
    assert result.exit_code == exits.INCONCLUSIVE
    assert result.stdout == "5 messages, 5 matches, 1 without a valid topic -> out/matches\n"
    assert "left out: " in result.stderr
    assert "broken.parquet" in result.stderr


def test_rows_that_are_lost_are_no_defect_of_ours(files, monkeypatch):
    monkeypatch.setattr(writing, "sums", lambda spark, *others: {"messages": 2, "deliveries": 5})
    result = run("match", "-s", "s.csv", "-m", "in", "-o", "out")
    assert result.exit_code == exits.TOOL
    assert "4 messages counted, 2 there. Nothing was published" in result.stderr.replace("\n", " ")
    assert "defect" not in result.stderr
    assert not (files / "out").exists()


def test_what_is_refused(files):
    (files / "bad.csv").write_text("pattern\na/#/b\n")
    (files / "none.csv").write_text("pattern\n")
    (files / "mixed.jsonl").write_text('"a"\n{"pattern": "b", "subscriber": "x"}\n')
    (files / "empty").mkdir()
    for code, says, *arguments in (
        (exits.USAGE, "bad.csv, line 2: 'a/#/b' is no pattern of mqtt", "match", "-s", "bad.csv", "-m", "in"),
        (exits.NOTHING, "none.csv: there are no subscriptions", "match", "-s", "none.csv", "-m", "in"),
        (exits.USAGE, "all int or all str", "match", "-s", "mixed.jsonl", "-m", "in"),
        (exits.USAGE, "no: No such file", "match", "-s", "s.csv", "-m", "no"),
        (exits.NOTHING, "no file of messages", "match", "-s", "s.csv", "-m", "empty"),
        (exits.USAGE, "no dialect is called", "match", "-s", "s.csv", "-m", "in", "-d", "kafka"),
        (exits.USAGE, "a column subject, got topic", "match", "-s", "s.csv", "-m", "in", "--topic-column", "subject"),
        (exits.USAGE, "there are no messages; name them", "match", "-s", "s.csv"),
        (exits.USAGE, "--format: only streams of messages have that", "match", "-s", "s.csv", "--format", "kafka"),
        (exits.USAGE, "--every, --max-files: only streams", "match", "-s", "s.csv", "--max-files", 1, "--every", 2),
        (exits.USAGE, "--available-now: only streams", "match", "-s", "s.csv", "-m", "in", "--available-now"),
        (exits.USAGE, "--counts: only tables", "match", "-s", "s.csv", "-m", "in", "--stream", "--no-counts"),
        (exits.USAGE, "--deliveries: only tables", "match", "-s", "s.csv", "-m", "in", "--stream", "--deliveries"),
        (exits.USAGE, "of a stream are at a path", "match", "-s", "hdfs://h/s.csv", "-m", "in", "--stream"),
        (exits.USAGE, "--window cuts by a column of times", "sketch", "in", "--window", "1 day"),
        (exits.USAGE, "an --option is KEY=VALUE", "match", "-s", "s.csv", "--option", "subscribe"),
        (exits.USAGE, "no column at for --time-column", "sketch", "in", "--time-column", "at"),
    ):  # fmt: skip
        result = run(*arguments, "-o", "out")
        assert (result.exit_code, result.stdout) == (code, ""), result.output
        assert says in result.stderr.replace("\n", "")
    (files / "out").mkdir()
    for arguments in (("match", "-s", "s.csv", "-m", "in"), ("sketch", "in")):
        result = run(*arguments, "-o", "out")
        assert result.exit_code == exits.USAGE
        assert "out exists; name another folder" in result.stderr
