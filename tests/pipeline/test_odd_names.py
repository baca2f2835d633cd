"""Files and folders whose names have signs of patterns, of addresses, of other languages: each is read once."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pipeline_jobs import put_and_get, verdicts
from pipeline_webhdfs import webhdfs
from typer.testing import CliRunner

from latchfree_cli import exits
from latchfree_cli.app import app
from latchfree_lincheck import write_history
from latchfree_spark.check import Options
from latchfree_spark.frames.uris import check_uris

NAMES = ("run[1]", "run1", "a b", "50%", "50%25", "x#y", "é", "c+d", "{p,q}", "p", "a,b", "who?", "whom", "back\\slash")
"""As patterns, some of these names stand for others of them, or for nothing."""
OUT = "out [1]{x}%20é"


def run(*arguments):
    return CliRunner().invoke(app, ["pipeline", *map(str, arguments)])


@pytest.mark.parametrize(
    ("system", "folder"), [("file", "it's \\ in[a]"), pytest.param("webhdfs", "in[a]", marks=pytest.mark.slow)]
)
def test_check_at_a_uri(spark, tmp_path, system, folder):
    """Sources have the names of the files, also where the folder has signs that SQL quotes."""
    home, other = tmp_path / "remote" / folder, tmp_path / "remote" / "ina"
    home.mkdir(parents=True)
    other.mkdir()
    write_history(other / "elsewhere.jsonl", [put_and_get("elsewhere")])
    names = [name for name in NAMES if system == "file" or "\\" not in name]  # HDFS has no backslashes
    for number, name in enumerate(names):
        suffix = ".parquet" if number % 2 else ".jsonl"
        write_history(home / f"{name}{suffix}", [put_and_get(name, seen=5 if name in ("run[1]", "run1") else None)])
    with webhdfs(tmp_path / "remote") as (root, _):
        root = root if system == "webhdfs" else f"file://{tmp_path}/remote"
        done = check_uris(spark, [f"{root}/{folder}"], f"{root}/{OUT}", Options("map"), date="2026-01-01")
        again = check_uris(spark, [f"{root}/{folder}"], f"{root}/{OUT}", Options("map"), date="2026-01-02")
    assert (done.histories, done.known, done.warnings) == (len(names), 0, ())
    assert (again.histories, again.known) == (len(names), len(names))
    assert {row["history"] for row in done.failing} == {"run[1]", "run1"}
    assert {row["source"] for row in done.failing} == {"run[1].jsonl", "run1.parquet"}
    assert {path.name for path in (tmp_path / "remote").iterdir()} == {folder, "ina", OUT}
    written = pq.read_table(tmp_path / "remote" / OUT / "verdicts").to_pylist()
    assert sorted(row["history"] for row in written) == sorted(names)
    assert {row["source"].rpartition(".")[0] for row in written} == set(names)


def test_a_pattern_at_a_uri_is_one(spark, tmp_path):
    for name in ("run1", "run2", "other"):
        write_history(tmp_path / f"{name}.jsonl", [put_and_get(name)])
    done = check_uris(spark, [f"file://{tmp_path}/run[0-9].jsonl"], f"file://{tmp_path}/out", Options("map"))
    assert done.histories == 2


def test_check_at_a_path(spark, tmp_path):
    (tmp_path / "in[a]").mkdir()
    for name in NAMES:
        write_history(tmp_path / "in[a]" / f"{name}.jsonl", [put_and_get(name)])
    result = run("check", tmp_path / "in[a]", tmp_path / OUT, "--model", "map")
    assert result.exit_code == exits.OK, result.output
    assert sorted(row["history"] for row in verdicts(tmp_path / OUT)) == sorted(NAMES)


@pytest.mark.parametrize("system", ["path", "file", pytest.param("webhdfs", marks=pytest.mark.slow)])
def test_match_and_sketch(spark, tmp_path, system):
    home = tmp_path / "remote" / "in[a]"
    home.mkdir(parents=True)
    names = [name for name in NAMES if system != "webhdfs" or "\\" not in name]
    for number, name in enumerate(names):
        pq.write_table(pa.table({"topic": [f"a/{number}"]}), home / f"{name}.parquet")
    (tmp_path / "s.csv").write_text("pattern,subscriber\na/+,x\n")
    with webhdfs(tmp_path / "remote") as (root, _):
        root = {"path": tmp_path / "remote", "file": f"file://{tmp_path}/remote", "webhdfs": root}[system]
        options = ("-s", tmp_path / "s.csv", "-m", f"{root}/in[a]", "-o", f"{root}/{OUT}", "--deliveries")
        matched = run("match", *options)
        assert matched.exit_code == exits.OK, matched.output
        sketched = run("sketch", f"{root}/{OUT}/matches", "-o", f"{root}/sketched [1]")
        assert sketched.exit_code == exits.OK, sketched.output
    assert {path.name for path in (tmp_path / "remote").iterdir()} == {"in[a]", OUT, "sketched [1]"}
    out = Path(tmp_path / "remote" / OUT)
    rows = pq.read_table(out / "matches").to_pylist()
    assert sorted(row["topic"] for row in rows) == sorted(f"a/{number}" for number in range(len(names)))
    assert json.loads((out / "summary.json").read_text())["messages"] == len(names)
    assert pq.read_table(tmp_path / "remote" / "sketched [1]" / "windows").column("messages").to_pylist() == [
        len(names)
    ]


def test_a_stream(spark, tmp_path):
    (tmp_path / "in[a]").mkdir()
    for number, name in enumerate(NAMES):
        pq.write_table(pa.table({"topic": [f"a/{number}"]}), tmp_path / "in[a]" / f"{name}.parquet")
    (tmp_path / "s.csv").write_text("pattern,subscriber\na/+,x\n")
    options = ("-s", tmp_path / "s.csv", "-m", tmp_path / "in[a]", "-o", tmp_path / OUT, "--stream", "--available-now")
    result = run("match", *options)
    assert result.exit_code == exits.OK, result.output
    rows = [row for file in (tmp_path / OUT / "matches").rglob("*.parquet") for row in pq.read_table(file).to_pylist()]
    assert sorted(row["topic"] for row in rows) == sorted(f"a/{number}" for number in range(len(NAMES)))
