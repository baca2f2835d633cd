"""``latchfree match``: formats, engines, explanations, and what is said of malformed input."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from latchfree_cli import exits
from latchfree_cli.app import app
from latchfree_cli.commands.match import ENGINES

PATTERNS = ["a/+", "a/#", "b/c", "$share/g/+/c"]
NAMES = ["x", "y", "z", "w"]
TOPICS = ["a/b", "b/c", "none/of/them", "$SYS/c", "a"]
EXPECTED = [["x", "y"], ["w", "z"], [], [], ["y"]]


def match(*arguments, stdin=None):
    return CliRunner().invoke(app, ["match", *map(str, arguments)], input=stdin)


def rows(result):
    assert result.exit_code == exits.OK, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture
def files(tmp_path):
    pairs = list(zip(PATTERNS, NAMES, strict=True))
    (tmp_path / "s.csv").write_text("subscriber,pattern\n" + "".join(f'{n},"{p}"\n' for p, n in pairs))
    objects = [json.dumps({"pattern": pattern, "subscriber": name}) for pattern, name in pairs]
    (tmp_path / "s.jsonl").write_text("\n".join(objects))
    pq.write_table(pa.table({"pattern": PATTERNS, "subscriber": NAMES}), tmp_path / "s.parquet")
    (tmp_path / "t.csv").write_text("topic\n" + "".join(f"{topic}\n" for topic in TOPICS))
    (tmp_path / "t.jsonl").write_text("".join(json.dumps({"topic": topic}) + "\n" for topic in TOPICS))
    (tmp_path / "t.txt").write_text("\r\n".join(TOPICS))
    pq.write_table(pa.table({"topic": TOPICS}), tmp_path / "t.parquet")
    return tmp_path


@pytest.mark.parametrize("subscriptions", ["s.csv", "s.jsonl", "s.parquet"])
@pytest.mark.parametrize("topics", ["t.csv", "t.jsonl", "t.txt", "t.parquet"])
def test_formats(files, subscriptions, topics):
    result = rows(match(files / subscriptions, files / topics))
    assert result == [{"topic": t, "subscribers": e} for t, e in zip(TOPICS, EXPECTED, strict=True)]


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_from_standard_input(files, engine):
    result = match(files / "s.csv", "-", "--engine", engine, "--stats", stdin="\n".join(TOPICS))
    assert [row["subscribers"] for row in rows(result)] == EXPECTED
    stats = json.loads(result.stderr)
    assert (stats["engine"], stats["matches"], stats["subscriptions"]) == (ENGINES[engine], 5, 4)


def test_json_is_one_object(files):
    document = json.loads(match(files / "s.csv", files / "t.csv", "--json").stdout)
    assert (document["verdict"], document["topics"], document["matches"]) == ("ok", 5, 5)
    assert [row["subscribers"] for row in document["rows"]] == EXPECTED


def test_subscribers_are_numbered_where_none_are_named(tmp_path):
    (tmp_path / "s.jsonl").write_text('"a.*"\n\n{"pattern": "#"}\n{"pattern": "a.b", "subscriber": "me"}\n')
    result = match(tmp_path / "s.jsonl", "-", "-d", "amqp", stdin="a.b\n")
    assert rows(result) == [{"topic": "a.b", "subscribers": [0, 1, "me"]}]


def test_explain(tmp_path):
    (tmp_path / "s.txt").write_text("#.b.*\na.b.c\nx\n#.a.#\n")
    result = match(tmp_path / "s.txt", "--dialect", "amqp", "--explain", "a.b.c")
    assert result.exit_code == exits.OK
    assert sorted(result.stdout.splitlines()) == [
        "#.a.#  ->  3: # is no word, # is 'b.c'",
        "#.b.*  ->  0: # is 'a', * is 'c'",
        "a.b.c  ->  1: the same words",
    ]
    (tmp_path / "s.txt").write_text("x\n")
    assert match(tmp_path / "s.txt", "--explain", "q").stdout == "no subscription matches 'q'\n"


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("s.csv", b"pattern\na/b\na/#/b\n", "s.csv, line 3: 'a/#/b' is no pattern of mqtt: '#' must be the whole last"),
        ("s.csv", b"filter\na\n", "s.csv, line 1: expected a column pattern, got filter"),
        ("s.csv", b"pattern,subscriber\na\n", "s.csv, line 2: expected 2 fields, got 1"),
        ("s.csv", b"pattern\na\xff\n", "is not UTF-8"),
        ("s.csv", b'pattern\n"a\n', "s.csv, line 2: unexpected end of data"),
        ("s.jsonl", b'{"pattern": "a"}\n{"pattern": 3}\n', 's.jsonl, line 2: expected {"pattern": TEXT, ...}'),
        ("s.jsonl", b"{\n", "s.jsonl, line 1: no JSON"),
        ("s.jsonl", b'{"pattern": "a", "subscriber": [1]}\n', "subscriber must be a string or an integer, got [1]"),
        ("s.jsonl", b'"a"\n"\xff"\n', "s.jsonl, line 2: byte 1 is not UTF-8"),
        ("s.parquet", b"PAR1", "s.parquet: no Parquet"),
        ("s.dat", b"", "s.dat: the suffix must be one of .csv"),
    ],
)
def test_malformed_subscriptions(tmp_path, name, text, says):
    (tmp_path / name).write_bytes(text)
    result = match(tmp_path / name, "-", stdin="a\n")
    assert result.exit_code == exits.USAGE
    assert says in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("engine", ENGINES)
def test_malformed_topics(files, engine):
    result = match(files / "s.csv", "-", "-e", engine, stdin="a\nb\na/+\n")
    assert result.exit_code == exits.USAGE
    assert "standard input, line 3: 'a/+' is no topic of mqtt" in result.stderr


def test_parquet_of_other_types(tmp_path):
    pq.write_table(pa.table({"pattern": [1, 2]}), tmp_path / "s.parquet")
    assert "s.parquet, row 1: pattern must be a string, got 1" in match(tmp_path / "s.parquet").stderr
    pq.write_table(pa.table({"pattern": ["a"], "subscriber": [1.5]}), tmp_path / "s.parquet")
    assert "row 1: subscriber must be a string or an integer, got 1.5" in match(tmp_path / "s.parquet").stderr
    pq.write_table(pa.table({"filter": ["a"]}), tmp_path / "s.parquet")
    assert "expected a column pattern, got filter" in match(tmp_path / "s.parquet").stderr


def test_unknown_names_missing_files_and_nothing_to_do(files):
    assert "no engine is called 'mesk'; did you mean mask?" in match(files / "s.csv", "-e", "mesk").stderr
    assert "no dialect is called 'kafka'" in match(files / "s.csv", "-d", "kafka").stderr
    for name in ("no.csv", "no.parquet"):
        missing = match(files / name)
        assert missing.exit_code == exits.USAGE
        assert "No such file" in missing.stderr
    assert match(files / "s.csv", "-", stdin="").exit_code == exits.NOTHING
    (files / "empty.csv").write_text("pattern\n")
    assert match(files / "empty.csv").exit_code == exits.NOTHING
    assert "--explain: 'a/+' is no topic" in match(files / "s.csv", "--explain", "a/+").stderr
