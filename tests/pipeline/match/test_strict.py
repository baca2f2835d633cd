"""Messages that Spark reads otherwise than the library are refused by file and line: none is lost in silence."""

import csv
import io

import pytest
from pipeline_webhdfs import webhdfs
from typer.testing import CliRunner

from latchfree_cli import exits
from latchfree_cli.app import app
from latchfree_spark.match.strict import ambiguity, ends_differ


def run(tmp_path, name, content, *more):
    """Match one file; return the outcome and the rows of matches."""
    (tmp_path / "in").mkdir(exist_ok=True)
    (tmp_path / "in" / name).write_bytes(content)
    (tmp_path / "s.csv").write_text("pattern,subscriber\na/b,ann\na/+,bob\n#,cid\n")
    out = tmp_path / f"out{len(list(tmp_path.iterdir()))}"
    options = ["-s", str(tmp_path / "s.csv"), "-m", str(tmp_path / "in"), "-o", str(out), *more]
    return CliRunner().invoke(app, ["pipeline", "match", *options]), out


def rows(spark, out):
    found = spark.read.parquet(f"file://{out}/matches").collect()
    return sorted((row["topic"], sorted(row["subscribers"])) for row in found)


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("x.csv", b"payload,topic\r\nx,a/b\ny,a/c\n", r"line 2: a row that ends with \n, others end with \r\n"),
        ("x.csv", b"payload,topic\nx,a/b\r\ny,a/c\r\n", "line 2: a row that ends with"),
        ("x.csv", b'topic,payload\r\na/b,"1\r\n2"\r\n', "line 3: a carriage return within a field"),
        ("x.csv", b"topic\ra/b\ra/c\r", "line 1: "),
        ("x.jsonl", b'{"topic":"z"}\n{"topic":"a/b"}{"topic":"a/c"}\n', "line 2: expected one JSON object"),
        ("x.jsonl", b'{"topic":"a/b"} ]\n', "line 1: expected one JSON object"),
        ("x.jsonl", b'{"topic":"a/b"}\r{"topic":"a/c"}\n', "line 1: expected one JSON object"),
        ("x.jsonl", b'\xef\xbb\xbf{"topic":"a"}\n{"topic":1}\n', "line 2: expected text as 'topic', got 1"),
        ("x.jsonl", b'{"topic":"a"}\n{"topic":{"a":1.0}}\n', "line 2: expected text as 'topic', got {'a': 1.0}"),
        ("x.jsonl", b'{"topic":"\\ud800"}\n', "line 1: half of a pair of surrogates"),
    ],
)
def test_what_spark_reads_otherwise_is_named(spark, tmp_path, name, content, text):
    called, out = run(tmp_path, name, content)
    assert called.exit_code == exits.USAGE, called.output
    told = called.stderr.replace("\n", "")
    assert f"{name}: cannot be read, " in told
    assert text in told
    assert not out.exists()
    (tmp_path / "in" / f"good-{name}").write_bytes(b"topic\na/b\n" if name == "x.csv" else b'{"topic":"a/b"}\n')
    called, out = run(tmp_path, name, content, "--keep-going")
    assert called.exit_code == exits.INCONCLUSIVE, called.output
    assert rows(spark, out) == [("a/b", ["ann", "bob", "cid"])]


def test_line_ends_that_are_all_alike_are_read(spark, tmp_path):
    """As Python's csv writes them, also with lines that end within quotes; and a last line without an end."""
    text = io.StringIO()
    csv.writer(text).writerows([("topic", "payload"), ("a/b", "1\n2"), ("a/c", 'x"y'), ("q", "")])
    called, out = run(tmp_path, "x.csv", text.getvalue().encode().removesuffix(b"\r\n"))
    assert called.exit_code == 0, called.output
    assert rows(spark, out) == [("a/b", ["ann", "bob", "cid"]), ("a/c", ["bob", "cid"]), ("q", ["cid"])]


def test_a_stream_names_such_a_file(spark, tmp_path):
    called, out = run(tmp_path, "x.jsonl", b'{"topic":"a/b"}{"topic":"a/c"}\n', "--stream", "--available-now")
    assert called.exit_code == exits.USAGE, called.output
    assert "x.jsonl: cannot be read, line 1: expected one JSON object" in called.stderr.replace("\n", "")
    assert not list(out.rglob("*.parquet"))


def test_at_a_uri_and_for_sketches(spark, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "x.jsonl").write_bytes(b'{"topic":"a/b"} {"topic":"a/c"}\n')
    (tmp_path / "s.csv").write_text("pattern,subscriber\n#,cid\n")
    given = f"file://{tmp_path}/in/x.jsonl"
    for command in (["match", "-s", str(tmp_path / "s.csv"), "-m", given], ["sketch", given]):
        called = CliRunner().invoke(app, ["pipeline", *command, "-o", f"file://{tmp_path}/{command[0]}"])
        assert called.exit_code == exits.USAGE, called.output
        assert "x.jsonl: cannot be read, line 1: expected one JSON object" in called.stderr.replace("\n", "")


def test_a_file_whose_name_an_address_writes_otherwise(spark, tmp_path):
    """Spark tells a blank as %20 where a file is no path of this machine."""
    (tmp_path / "remote" / "in").mkdir(parents=True)
    (tmp_path / "remote" / "in" / "a b.csv").write_bytes(b"payload,topic\r\nx,a/b\ny,a/c\n")
    (tmp_path / "s.csv").write_text("pattern,subscriber\n#,cid\n")
    with webhdfs(tmp_path / "remote") as (root, _):
        options = ["-s", str(tmp_path / "s.csv"), "-m", f"{root}/in/a b.csv", "-o", f"{root}/out"]
        called = CliRunner().invoke(app, ["pipeline", "match", *options])
    assert called.exit_code == exits.USAGE, called.output
    assert "line 2: a row that ends with" in called.stderr.replace("\n", "")


@pytest.mark.parametrize(
    "line", [b"", b"\xff", b"no", b'"a/b"', b"[1]", b'{"topic":null}', b'{"other":1}', b"[" * 9999]
)
def test_other_lines_are_left_to_the_matching(line):
    assert ambiguity(line, "topic") == ""


def test_the_ends_of_rows():
    assert ends_differ(b"") == ends_differ(b"a\n") == ends_differ(b'a\r\n"1\n2"\r\nb') == ""
    assert "carriage return" in ends_differ(b'"a\rb"\n')
    assert ends_differ(b"a\rb\n") != ""
    assert "line 4" in ends_differ(b'a\r\n"1\n2"\r\nb\nc\r\n')
