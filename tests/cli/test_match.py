"""``latchfree match``: formats, engines, explanations, and what is said of malformed input."""

import json
import subprocess
import sys
from functools import partial

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli_processes import PATIENCE, environment, interrupt
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from latchfree.topics import MQTT
from latchfree_cli import exits
from latchfree_cli.app import app
from latchfree_cli.matching.interest import ENGINES, Interest
from latchfree_cli.matching.lines import LONGEST_LINE

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


def start(*arguments):
    argv = [sys.executable, "-c", "from latchfree_cli.main import main; main()", "match", *map(str, arguments)]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(argv, text=True, env=environment(), **pipes)


def test_each_line_of_a_pipe_is_answered_before_the_next_one_comes(files):
    process = start(files / "s.csv")
    try:
        for topic, expected in zip(TOPICS, EXPECTED, strict=True):
            process.stdin.write(f"{topic}\n")
            process.stdin.flush()
            # The pipe stays open: before, nothing came until it was closed, and this waited for ever.
            assert json.loads(process.stdout.readline()) == {"topic": topic, "subscribers": expected}
        process.stdin.write("half a li")
        process.stdin.flush()
        process.stdin.close()
        assert json.loads(process.stdout.read()) == {"topic": "half a li", "subscribers": []}
        assert process.wait(PATIENCE) == exits.OK
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


@pytest.mark.parametrize("engine", ["mask", "trie"])
def test_the_process_ends_with_the_last_answer_and_takes_nothing_apart(files, engine):
    """Not even Python, which prints here when it is taken down; all answers are there, also those in a file."""
    program = (
        "import atexit, sys\n"
        "from latchfree_cli import main, process\n"
        "atexit.register(print, 'taken apart')\n"
        "keep = process.KEPT.keep\n"
        "process.KEPT.keep = lambda thing: (keep(thing), print(type(thing).__name__, file=sys.stderr))\n"
        "main.main()\n"
    )
    argv = [sys.executable, "-c", program, "match", str(files / "s.csv"), "-", "-e", engine]
    topics = f"{TOPICS[0]}\n" * 3_000
    run = partial(subprocess.run, input=topics, text=True, env=environment(), capture_output=True, timeout=PATIENCE)
    done = run(argv, check=True)
    lines = done.stdout.splitlines()
    assert len(lines) == 3_000
    assert json.loads(lines[-1]) == {"topic": TOPICS[0], "subscribers": EXPECTED[0]}
    assert done.stderr == "Interest\n"
    done = run([*argv, "--to", str(files / "out.arrow")], check=True)
    assert "taken apart" not in done.stdout
    assert len(pa.ipc.open_stream(files / "out.arrow").read_all()) == 3_000


def test_ctrl_c_while_waiting(files):
    process = start(files / "s.csv")
    process.stdin.write("a/b\n")
    process.stdin.flush()
    first = process.stdout.readline()
    out, err = interrupt(process)
    assert (process.returncode, first, out) == (
        exits.INTERRUPTED, '{"topic": "a/b", "subscribers": ["x", "y"]}\n', "",
    )  # fmt: skip
    assert "Traceback" not in err


@pytest.mark.parametrize("engine", ENGINES)
def test_what_comes_before_a_bad_line_is_answered(files, engine):
    result = match(files / "s.csv", "-", "-e", engine, stdin="a/b\n\nb/c\n")
    assert result.exit_code == exits.USAGE
    assert [json.loads(line)["topic"] for line in result.stdout.splitlines()] == ["a/b"]
    assert "standard input, line 2: '' is no topic of mqtt: it must not be empty" in result.stderr


@pytest.mark.parametrize("engine", ENGINES)
def test_bad_topics_are_skipped_if_you_say_so(files, engine):
    bad = ["", "a/+", "\0", "a/#"] * 3
    result = match(files / "s.csv", "-", "-e", engine, "--skip-bad", stdin="\n".join(["a/b", *bad, "b/c", "x/+"]))
    assert [row["topic"] for row in rows(result)] == ["a/b", "b/c"]
    said = result.stderr.splitlines()
    assert "line 3: 'a/+' is no topic" in said[1]
    assert len(said) == 6
    assert said[-1] == "latchfree: skipped 13 malformed topics"
    assert match(files / "s.csv", "-", "-e", engine, "--skip-bad", stdin="+\n").exit_code == exits.NOTHING


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("t.csv", b'id,topic\n1,a/b\n2\n3,"b/c"\n4,\xff\n5,"a"x\n6,a\n'),
        ("t.jsonl", b'"a/b"\n{\n"b/c"\n{"topic": 5}\n"\xff"\n{"topic": "a"}\n'),
        ("t.txt", b"\xef\xbb\xbfa/b\r\n\r\nb/c\r\na\xff\na/+\r\na"),
    ],
)
def test_malformed_rows_of_every_format(files, name, text):
    (files / name).write_bytes(text)
    result = match(files / "s.csv", files / name, "--skip-bad")
    assert [row["topic"] for row in rows(result)] == ["a/b", "b/c", "a"]
    assert "skipped 3 malformed topics" in result.stderr
    strict = match(files / "s.csv", files / name)
    assert strict.exit_code == exits.USAGE
    assert [json.loads(line)["topic"] for line in strict.stdout.splitlines()] == ["a/b"]


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_columns(files, suffix):
    path = files / f"out.{suffix}"
    document = json.loads(match(files / "s.csv", files / "t.txt", "--to", path, "--json").stdout)
    assert (document["topics"], document["matches"], "rows" in document) == (5, 5, False)
    table = pq.read_table(path) if suffix == "parquet" else pa.ipc.open_stream(path).read_all()
    assert table.to_pylist() == [{"topic": t, "subscribers": e} for t, e in zip(TOPICS, EXPECTED, strict=True)]


def test_columns_appear_complete_or_not_at_all(files):
    out = files / "out.parquet"
    out.write_text("as it was")
    assert match(files / "s.csv", "-", "--to", out, stdin="a\n\n").exit_code == exits.USAGE
    assert out.read_text() == "as it was"
    assert "the suffix must be one of .parquet, .arrow" in match(files / "s.csv", "-", "--to", "out.csv").stderr
    (files / "mixed.jsonl").write_text('"a"\n{"pattern": "b", "subscriber": "me"}\n')
    assert "a column has one type" in match(files / "mixed.jsonl", "-", "--to", out).stderr
    missing = match(files / "s.csv", "-", "--to", files / "no" / "out.arrow", stdin="a\n")
    assert missing.exit_code in (exits.USAGE, exits.TOOL)
    assert "out.arrow" in missing.stderr


def test_one_member_of_each_group_gets_a_message(tmp_path):
    shared = "".join(f"$share/g/a/+,{each}\n" for each in ("p", "q", "r")) + "$share/h/a/#,s\na/b,q\n"
    (tmp_path / "s.csv").write_text("pattern,subscriber\n" + shared)
    topics = ["a/x", "a/b", "a/y", "other", "a/z", "a"]
    found = [row["subscribers"] for row in rows(match(tmp_path / "s.csv", "-", stdin="\n".join(topics)))]
    assert found == [["p", "s"], ["q", "s"], ["r", "s"], [], ["p", "s"], ["s"]]
    everyone = rows(match(tmp_path / "s.csv", "-", "--all-members", stdin="a/b\n"))
    assert everyone == [{"topic": "a/b", "subscribers": ["p", "q", "r", "s"]}]


@settings(max_examples=40, deadline=None)
@given(
    groups=st.lists(st.tuples(st.sampled_from(["g", "h", None]), st.sampled_from(["+", "a", "#"])), max_size=8),
    published=st.lists(st.lists(st.sampled_from(["a", "b"]), max_size=6), max_size=4),
)
def test_turns_go_on_from_batch_to_batch(groups, published):
    patterns = [word if group is None else f"$share/{group}/{word}" for group, word in groups]
    interest = Interest(patterns, list(range(len(groups))), MQTT, "trie", all_members=False)
    turns = {}
    for batch in published:
        offsets, numbers = interest.match(pa.array(batch, pa.string()))
        for row, topic in enumerate(batch):
            expected = {k for k, (group, word) in enumerate(groups) if group is None and word in ("+", "#", topic)}
            for key in {each for each in groups if each[0] is not None and each[1] in ("+", "#", topic)}:
                members = [k for k, each in enumerate(groups) if each == key]
                turns[key] = turns.get(key, -1) + 1
                expected.add(members[turns[key] % len(members)])
            assert numbers[offsets[row] : offsets[row + 1]].tolist() == sorted(expected)


def test_topics_and_names_that_need_escapes(tmp_path):
    names = ['q"uote', "back\\slash", "tab\t", "é", "\x7f", "\ud800"]
    lines = [json.dumps({"pattern": "#", "subscriber": name}) for name in names]
    (tmp_path / "s.jsonl").write_text("\n".join(lines))
    topics = ['a"b', "a\\b", "a\tb", "é/\x7f", "\x01", "plain"]
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, topics)))
    for only in (topics, ["plain"]):
        (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, only)))
        found = rows(match(tmp_path / "s.jsonl", tmp_path / "t.jsonl"))
        assert found == [{"topic": topic, "subscribers": sorted(names)} for topic in only]


def test_a_line_that_is_too_long_is_refused_and_not_kept_in_memory(files):
    result = match(files / "s.csv", "-", stdin="a\n" + "x" * (3 * LONGEST_LINE))
    assert result.exit_code == exits.USAGE
    assert f"standard input, line 2: it has over {LONGEST_LINE:,} bytes" in result.stderr
    assert result.stdout.count("\n") == 1
