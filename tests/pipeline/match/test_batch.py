"""Matching tables: against brute force, in every format; whole outputs or none; what is bad is named by its place."""

import json
import shutil
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from message_files import brute, index_of, random_patterns, random_topics, write

from latchfree.topics import get_dialect
from latchfree_spark.errors import RowsLost
from latchfree_spark.match import (
    BadMessages,
    BadSubscriptions,
    NoMessages,
    OutputExists,
    batch,
    find,
    match_messages,
    worker,
    writing,
)
from latchfree_spark.match.blame import first_defect
from latchfree_spark.shipping import on_workers


def table(folder, name="matches"):
    return pq.read_table(folder / name, partitioning=None).to_pylist()


@pytest.mark.parametrize("named", [False, True], ids=["numbers", "names"])
@pytest.mark.usefixtures("adaptive")
def test_agrees_with_brute_force_and_its_own_counts(spark, rng, tmp_path, named):
    patterns = random_patterns(rng, 300)
    subscribers = [f"s{i % 200}" if named else i % 200 for i in range(len(patterns))]
    topics = random_topics(rng, 3000)
    expected = brute(patterns, subscribers, topics)
    write(tmp_path / "in", ".parquet", topics, files=3)
    messages = find(str(tmp_path / "in"))
    summary = match_messages(spark, index_of(patterns, subscribers), messages, tmp_path / "out", deliveries=True)
    rows = sorted(table(tmp_path / "out"), key=lambda row: row["id"])
    assert [row["id"] for row in rows] == list(range(len(topics)))
    assert [sorted(row["subscribers"]) for row in rows] == expected
    assert [row["fan_out"] for row in rows] == list(map(len, expected))
    pairs = Counter((row["id"], row["subscriber"]) for row in table(tmp_path / "out", "deliveries"))
    assert pairs == Counter((i, s) for i, found in enumerate(expected) for s in found)
    counts = {row["subscriber"]: row["messages"] for row in table(tmp_path / "out", "subscribers")}
    assert counts == Counter(s for found in expected for s in found)
    by_topic = {row["topic"]: (row["messages"], row["deliveries"]) for row in table(tmp_path / "out", "topics")}
    assert by_topic == {t: (n, n * len(expected[topics.index(t)])) for t, n in Counter(topics).items()}
    assert (summary.messages, summary.matches, summary.bad) == (len(topics), sum(map(len, expected)), 0)
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["matches"] == summary.matches
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".txt"])
def test_formats_and_globs(spark, rng, tmp_path, suffix):
    patterns, topics = random_patterns(rng, 50), [topic for topic in random_topics(rng, 200) if topic]
    expected = brute(patterns, range(50), topics)
    odd = write(tmp_path / "in[1]", suffix, topics, files=2)
    write(tmp_path / "other", ".parquet", topics)
    shutil.copy(tmp_path / "other" / "part00000.parquet", odd / "other.parquet")
    with pytest.raises(BadMessages, match=r"several formats \(.*parquet.*name one by a glob"):
        find(str(odd))
    messages = find(str(tmp_path / "in[[]1]" / f"*{suffix}"))
    match_messages(spark, index_of(patterns, range(50)), messages, tmp_path / "out", counts=False)
    rows = [(row["topic"], sorted(row["subscribers"])) for row in table(tmp_path / "out")]
    assert Counter(map(repr, rows)) == Counter(map(repr, zip(topics, expected, strict=True)))


def test_a_bad_topic_is_named_or_counted(spark, tmp_path):
    write(tmp_path / "in", ".parquet", ["a", "a/b", "a/+", "b"])
    index = index_of(["a/#", "b"], [1, 2])
    with pytest.raises(BadMessages, match=r"part00000\.parquet, row 3: 'a/\+' is no topic of mqtt"):
        match_messages(spark, index, find(str(tmp_path / "in")), tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
    summary = match_messages(spark, index, find(str(tmp_path / "in")), tmp_path / "out", keep_going=True)
    assert (summary.messages, summary.matches, summary.bad) == (4, 3, 1)
    found = {row["topic"]: row["subscribers"] for row in table(tmp_path / "out")}
    assert found == {"a": [1], "a/b": [1], "a/+": None, "b": [2]}


@pytest.mark.parametrize(("suffix", "line"), [(".csv", 4), (".jsonl", 3), (".txt", 3)])
def test_lines_are_named(spark, tmp_path, suffix, line):
    write(tmp_path / "in", suffix, ["a", "a/b", "a/+", "b"])
    place = first_defect(spark, find(str(tmp_path / "in")), get_dialect("mqtt"))
    assert place.startswith(f"{tmp_path}/in/part00000{suffix}, line {line}: 'a/+' is no topic of mqtt")
    write(tmp_path / "good", suffix, ["a", "a/b"])
    assert first_defect(spark, find(str(tmp_path / "good")), get_dialect("mqtt")) is None


def test_what_is_no_json_or_lacks_the_topic(spark, tmp_path):
    (tmp_path / "t.jsonl").write_text('{"topic": "a"}\n{"topic": \n')
    place = first_defect(spark, find(str(tmp_path / "t.jsonl")), get_dialect("mqtt"))
    assert place == f"{tmp_path}/t.jsonl, line 2: there is no topic, or bytes that are not UTF-8"


def test_a_missing_topic_is_named_or_counted(spark, tmp_path):
    (tmp_path / "t.jsonl").write_text('{"id": 1, "topic": "a"}\n{"id": 2}\n{"id": 3, "topic": "b"}\n')
    index = index_of(["a", "b"], ["x", "y"])
    with pytest.raises(BadMessages, match=r"t\.jsonl, line 2: there is no topic, or bytes that are not UTF-8"):
        match_messages(spark, index, find(str(tmp_path / "t.jsonl")), tmp_path / "out")
    summary = match_messages(spark, index, find(str(tmp_path / "t.jsonl")), tmp_path / "out", keep_going=True)
    assert (summary.messages, summary.bad) == (3, 1)
    assert {row["id"]: row["subscribers"] for row in table(tmp_path / "out")} == {1: ["x"], 2: None, 3: ["y"]}


def test_unreadable_files_are_named_or_left_out(spark, tmp_path):
    folder = write(tmp_path / "in", ".parquet", ["a", "b"])
    (folder / "half.parquet").write_bytes((folder / "part00000.parquet").read_bytes()[:-20])
    with pytest.raises(BadMessages, match=r"half\.parquet: no Parquet"):
        find(str(folder))
    pq.write_table(pa.table({"subject": ["a"]}), folder / "lacks.parquet")
    pq.write_table(pa.table({"topic": [1]}), folder / "type.parquet")
    messages = find(str(folder), keep_going=True)
    assert [reason.rpartition("/")[2].partition(",")[0] for reason in messages.unreadable] == [
        "half.parquet: no Parquet",
        "lacks.parquet: expected a column topic",
        "type.parquet: the column topic must be text",
    ]
    summary = match_messages(spark, index_of(["a"], [1]), messages, tmp_path / "out", keep_going=True)
    assert (summary.messages, summary.unreadable) == (2, messages.unreadable)


def test_a_file_that_breaks_in_the_middle_is_named(spark, tmp_path):
    folder = write(tmp_path / "in", ".parquet", [f"a/{i}" for i in range(2000)])
    path = folder / "part00000.parquet"
    data = bytearray(path.read_bytes())
    data[100 : len(data) // 2] = bytes(len(data) // 2 - 100)
    path.write_bytes(data)
    with pytest.raises(BadMessages, match=r"part00000\.parquet"):
        match_messages(spark, index_of(["a/#"], [1]), find(str(folder)), tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_nothing_is_written_over_and_nothing_is_no_success(spark, tmp_path):
    folder = write(tmp_path / "in", ".parquet", ["a"])
    (tmp_path / "out").mkdir()
    with pytest.raises(OutputExists, match="out exists"):
        match_messages(spark, index_of(["a"], [1]), find(str(folder)), tmp_path / "out")
    (tmp_path / "empty").mkdir()
    with pytest.raises(NoMessages, match="no file of messages"):
        find(str(tmp_path / "empty"))
    with pytest.raises(FileNotFoundError):
        find(str(tmp_path / "absent"))
    write(tmp_path / "none", ".parquet", [])
    with pytest.raises(NoMessages, match="there are no messages"):
        match_messages(spark, index_of(["a"], [1]), find(str(tmp_path / "none")), tmp_path / "out2")
    mixed = index_of(["a", "b"], [1, "x"])
    with pytest.raises(BadSubscriptions, match="all int or all str"):
        match_messages(spark, mixed, find(str(folder)), tmp_path / "out2")
    (tmp_path / "t.jsonl").write_text('{"topic": "a", "fan_out": 1}\n')
    with pytest.raises(BadMessages, match="a column fan_out"):
        match_messages(spark, index_of(["a"], [1]), find(str(tmp_path / "t.jsonl")), tmp_path / "out2")
    (tmp_path / "t.jsonl").write_text('{"topic": 1}\n')
    with pytest.raises(BadMessages, match="topic must be text, not bigint"):
        match_messages(spark, index_of(["a"], [1]), find(str(tmp_path / "t.jsonl")), tmp_path / "out2")
    assert not (tmp_path / "out2").exists()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


def test_a_file_that_is_damaged_inside_is_named_or_left_out(spark, tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    for name, topics in (("good", ["a/b", "b"]), ("torn", [f"a/{n}" for n in range(5000)])):
        pq.write_table(
            pa.table({"topic": topics}), folder / f"{name}.parquet", compression="none", use_dictionary=False
        )
    torn = bytearray((folder / "torn.parquet").read_bytes())
    torn[4:2000] = bytes(1996)
    (folder / "torn.parquet").write_bytes(torn)
    index = index_of(["a/#", "b"], [1, 2])
    with pytest.raises(BadMessages, match=r"torn\.parquet: cannot be read"):
        match_messages(spark, index, find(str(folder)), tmp_path / "out")
    assert not (tmp_path / "out").exists()
    summary = match_messages(spark, index, find(str(folder)), tmp_path / "out", keep_going=True)
    assert (summary.messages, summary.matches) == (2, 2)
    (left_out,) = summary.unreadable
    assert "torn.parquet: cannot be read" in left_out
    (folder / "good.parquet").unlink()
    with pytest.raises(BadMessages, match=r"torn\.parquet: cannot be read"):
        match_messages(spark, index, find(str(folder)), tmp_path / "again", keep_going=True)


@pytest.mark.parametrize(
    ("name", "torn"),
    [("matches", True), ("matches", False), ("deliveries", False), ("subscribers", False), ("topics", False)],
)
def test_rows_that_are_not_there_are_missed(spark, tmp_path, monkeypatch, name, torn):
    real = writing.sums

    def lose(spark, folder, *others):
        if Path(folder).name == name:
            file = max(Path(folder).glob("*.parquet"), key=lambda path: path.stat().st_size)
            file.write_bytes(b"PAR1") if torn else file.unlink()
        return real(spark, folder, *others)

    for module in (writing, batch):
        monkeypatch.setattr(module, "sums", lose)
    messages = find(str(write(tmp_path / "in", ".parquet", ["a", "b/c"] * 50, files=2)))
    more = {"deliveries": name == "deliveries", "counts": name in ("subscribers", "topics")}
    with pytest.raises(
        RowsLost, match="cannot be read" if torn else r"counted, .* there\. Nothing was published"
    ) as lost:
        match_messages(spark, index_of(["#"], [1]), messages, tmp_path / "out", **more)
    assert f"/{name}: " in str(lost.value)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_input_that_shrinks_while_it_is_read_is_missed(spark, tmp_path):
    messages = find(str(write(tmp_path / "in", ".parquet", ["a"] * 10)))
    write(tmp_path / "in", ".parquet", ["a"] * 7)
    with pytest.raises(RowsLost, match=r"10 messages counted, 7 there\. the files were changed"):
        match_messages(spark, index_of(["#"], [1]), messages, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_a_task_that_is_tried_again_counts_once(spark, rng, tmp_path, monkeypatch):
    def dying(spark, function, *arguments):
        assert function.endswith(":matched")
        return on_workers(spark, "message_workers:dies_once", str(tmp_path / "died"), *arguments)

    monkeypatch.setattr(worker, "on_workers", dying)
    topics = random_topics(rng, 5000)
    messages = find(str(write(tmp_path / "in", ".parquet", topics, files=3)))
    summary = match_messages(spark, index_of(["#", "a"], [1, 2]), messages, tmp_path / "out")
    assert (tmp_path / "died").exists()
    assert summary.messages == len(topics)
    assert sorted(row["id"] for row in table(tmp_path / "out")) == list(range(len(topics)))
    assert summary.matches == sum(map(len, brute(["#", "a"], [1, 2], topics)))


@pytest.mark.parametrize("suffix", [".txt", ".parquet"])
def test_rows_that_workers_drop_are_missed(spark, tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(worker, "on_workers", lambda spark, _, *rest: on_workers(spark, "message_workers:drops", *rest))
    messages = find(str(write(tmp_path / "in", suffix, ["a"] * 10)))
    with pytest.raises(RowsLost, match="10 messages counted, 9 there"):
        match_messages(spark, index_of(["#"], [1]), messages, tmp_path / "out", counts=False)
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
