"""Messages and outputs at a URI that is no path: each row is there, and nothing that is not whole has its name."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pipeline_webhdfs import webhdfs
from typer.testing import CliRunner

from latchfree_cli import exits
from latchfree_cli.app import app
from latchfree_spark.errors import OutputExists
from latchfree_spark.hadoop import split
from latchfree_spark.match import writing
from latchfree_spark.outputs import published


def run(*arguments):
    return CliRunner().invoke(app, ["pipeline", *map(str, arguments)])


@pytest.fixture
def remote(spark, tmp_path):
    """A folder on a server, with three subscriptions and four messages in two files of different columns."""
    folder = tmp_path / "remote"
    (folder / "in" / "day").mkdir(parents=True)
    (folder / "s.csv").write_text("pattern,subscriber\na/+,x\na/#,y\nb/c,z\n")
    pq.write_table(pa.table({"topic": ["a/b", "b/c"]}), folder / "in" / "m.parquet")
    pq.write_table(pa.table({"topic": ["none", "a/b"], "size": [7, 8]}), folder / "in" / "day" / "n.parquet")
    with webhdfs(folder) as (root, _):
        yield root, folder


def test_match_then_sketch(spark, remote, tmp_path):
    root, folder = remote
    (tmp_path / "here.csv").write_bytes((folder / "s.csv").read_bytes())
    result = run("match", "-s", tmp_path / "here.csv", "-m", f"{root}/in", "-o", f"{root}/matched", "--deliveries")
    assert (result.exit_code, result.stdout) == (exits.OK, f"4 messages, 5 matches -> {root}/matched/matches\n"), (
        result.output
    )
    rows = spark.read.parquet(f"{root}/matched/matches").collect()
    found = {(row["topic"], row["size"]): (sorted(row["subscribers"]), row["fan_out"]) for row in rows}
    assert len(rows) == 4
    assert found == {
        ("a/b", None): (["x", "y"], 2),
        ("a/b", 8): (["x", "y"], 2),
        ("b/c", None): (["z"], 1),
        ("none", 7): ([], 0),
    }
    assert spark.read.parquet(f"{root}/matched/deliveries").count() == 5
    assert json.loads((folder / "matched" / "summary.json").read_text())["messages"] == 4
    assert sorted(path.name for path in folder.iterdir()) == ["in", "matched", "s.csv"]
    again = run("match", "-s", f"{root}/s.csv", "-m", f"{root}/in", "-o", f"{root}/matched")
    assert (again.exit_code, again.stdout) == (exits.USAGE, "")
    assert "/matched exists; name another folder" in again.stderr
    options = ("--subscribers-column", "subscribers", "--heavy", "1")
    result = run("sketch", f"{root}/matched/matches", *options, "-o", f"{root}/sketches")
    assert result.stdout.splitlines()[:2] == [f"4 messages in 1 windows -> {root}/sketches", "topics: about 3"], (
        result.output
    )
    (total,) = pq.read_table(folder / "sketches" / "total.parquet").to_pylist()
    assert total["messages"] == 4


def test_local_uris_on_separate_roots_and_subscriptions_at_a_uri(spark, remote, tmp_path):
    _, folder = remote
    source, out = folder.as_uri(), (tmp_path / "elsewhere" / "out").as_uri()
    result = run("match", "-s", f"{source}/s.csv", "-m", f"{source}/in", "-o", out, "--no-counts")
    assert (result.exit_code, result.stdout) == (exits.OK, f"4 messages, 5 matches -> {out}/matches\n"), result.output
    assert spark.read.parquet(f"{out}/matches").count() == 4
    (folder / "s.csv").write_text("pattern\na/#/b\n")
    result = run("match", "-s", f"{source}/s.csv", "-m", f"{source}/in", "-o", f"{out}2")
    assert result.exit_code == exits.USAGE
    assert f"{source}/s.csv, line 2: 'a/#/b' is no pattern" in result.stderr.replace("\n", "")


def test_nothing_is_published_that_is_not_whole(remote, monkeypatch):
    root, folder = remote
    pq.write_table(pa.table({"topic": ["a/#"]}), folder / "in" / "wild.parquet")
    result = run("match", "-s", f"{root}/s.csv", "-m", f"{root}/in", "-o", f"{root}/out")
    assert result.exit_code == exits.USAGE
    assert "/in/wild.parquet, row 1: 'a/#' is no topic" in result.stderr.replace("\n", "")
    (folder / "in" / "broken.parquet").write_bytes(b"PAR1")
    result = run("match", "-s", f"{root}/s.csv", "-m", f"{root}/in", "-o", f"{root}/out")
    assert result.exit_code == exits.USAGE
    assert "/in/broken.parquet: cannot be read" in result.stderr.replace("\n", "")
    kept = run("match", "-s", f"{root}/s.csv", "-m", f"{root}/in", "-o", f"{root}/kept", "--keep-going")
    assert kept.exit_code == exits.INCONCLUSIVE
    assert kept.stdout == f"5 messages, 5 matches, 1 without a valid topic -> {root}/kept/matches\n"
    monkeypatch.setattr(writing, "sums", lambda spark, *others: {"messages": 2, "deliveries": 5})
    lost = run("match", "-s", f"{root}/s.csv", "-m", f"{root}/in", "-o", f"{root}/out", "--keep-going")
    assert lost.exit_code == exits.TOOL
    assert "5 messages counted, 2 there. Nothing was published" in lost.stderr.replace("\n", " ")
    assert sorted(path.name for path in folder.iterdir()) == ["in", "kept", "s.csv"]


def test_an_output_that_appears_meanwhile_stays_as_it_is(spark, remote):
    root, folder = remote

    def fill(late):
        with published(spark, f"{root}/out") as work:
            work.write("mine", b"")
            (folder / "out").mkdir()
            (folder / "out" / "theirs").write_bytes(b"")
            if late:  # after the last look, when Hadoop moves one folder into the other
                work._store.exists = lambda address: address.endswith(".tmp")

    for late in (False, True):
        with pytest.raises(OutputExists, match="exists now, made by another job"):
            fill(late)
        assert [path.name for path in (folder / "out").iterdir()] == ["theirs"]
        (folder / "out" / "theirs").unlink()
        (folder / "out").rmdir()
        assert sorted(path.name for path in folder.iterdir()) == ["in", "s.csv"]


def test_a_stream_reads_from_a_uri_and_writes_to_a_path(spark, remote, tmp_path):
    root, folder = remote
    options = ("-m", f"{root}/in", "-o", tmp_path / "out", "--stream", "--available-now")
    (tmp_path / "s.csv").write_bytes((folder / "s.csv").read_bytes())
    result = run("match", "-s", tmp_path / "s.csv", *options)
    assert result.exit_code == exits.OK, result.output
    assert result.stdout.startswith("4 messages, 5 matches, in 1 batches")
    again = run("match", "-s", tmp_path / "s.csv", *options)
    assert again.exit_code == exits.NOTHING, again.output


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["-m", "in", "-o", "s3a://lab/out", "--stream"], "the output of a stream is a path"),
        (["-m", "in", "-o", "s3a://lab"], "expected a folder below the root of the file system, as s3a://lab/matched"),
    ],
)
def test_what_is_refused(spark, tmp_path, monkeypatch, options, told):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.csv").write_text("pattern\na\n")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "m.txt").write_text("a\n")
    result = run("match", "-s", "s.csv", *options)
    assert (result.exit_code, result.stdout) == (exits.USAGE, "")
    assert told in result.stderr.replace("\n", "")


def test_the_parts_of_an_address():
    assert split("s3a://lab/a/b/") == ("s3a://lab/a", "b")
    assert split("hdfs:///x") == ("hdfs://", "x")
    assert split("s3a://lab") == ("s3a://lab", "")
