"""Streams: every message once, whatever crashes and wherever; each row names the index it was matched with."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from message_files import brute, index_of, random_patterns, random_topics, write

from latchfree_spark.match import (
    BadMessages,
    BadSubscriptions,
    OutputExists,
    SubscriptionTable,
    match_stream,
    stream,
)
from latchfree_spark.match.claim import claimed


class Crash(Exception):
    """Stands for the end of the process."""


def rows(out):
    files = sorted((out / "matches").rglob("*.parquet"))
    return [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]


def save(path, patterns):
    """Write patterns as subscriptions, one a line, by a rename."""
    part = path.with_name("_" + path.name)
    part.write_text("".join(pattern + "\n" for pattern in patterns))
    part.replace(path)


def load(path):
    patterns = Path(path).read_text().splitlines()
    if not patterns:
        raise BadSubscriptions(f"{path}: there are no subscriptions")
    return index_of(patterns, list(range(len(patterns))))


@pytest.fixture
def job(spark, rng, tmp_path):
    """A folder of messages, subscriptions, and a function that matches what is there."""
    patterns, topics = random_patterns(rng, 40), random_topics(rng, 60)
    write(tmp_path / "in", ".parquet", topics, files=3)
    save(tmp_path / "s.txt", patterns)

    def run(**options):
        table = SubscriptionTable(tmp_path / "s.txt", load)
        options = {"available_now": True, "max_files": 1, **options}
        return match_stream(spark, table, str(tmp_path / "in"), tmp_path / "out", **options)

    run.patterns, run.topics, run.folder = patterns, topics, tmp_path
    return run


def assert_each_once(job, topics):
    found = sorted(rows(job.folder / "out"), key=lambda row: row["id"])
    assert [row["id"] for row in found] == list(range(len(topics)))
    assert [sorted(row["subscribers"]) for row in found] == brute(job.patterns, range(len(job.patterns)), topics)


def test_goes_on_where_it_was(job, rng):
    first = job()
    assert (first.batches, first.messages, len(first.indexes)) == (3, 60, 1)
    assert_each_once(job, job.topics)
    more = random_topics(rng, 10)
    write(job.folder / "in", ".parquet", more, first=60)
    assert job().messages == 10
    assert job().messages == 0
    assert_each_once(job, job.topics + more)


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_crash_on_either_side_of_the_rename(job, monkeypatch, when):
    real = stream._Stream.write

    def write_then_crash(self, batch, number):
        if number == 1 and when == "before":
            monkeypatch.setattr(stream._Stream, "name_index", crash)
        real(self, batch, number)
        if number == 1:
            raise Crash("after")

    def crash(self, number):
        raise Crash("before")

    with monkeypatch.context():
        monkeypatch.setattr(stream._Stream, "write", write_then_crash)
        with pytest.raises(Crash, match=when):
            job()
    monkeypatch.undo()
    assert sorted(path.name for path in (job.folder / "out" / "matches").iterdir()) == [
        "batch=0",
        *(["batch=1"] if when == "after" else []),
    ]
    assert job().messages == (40 if when == "before" else 20)
    assert_each_once(job, job.topics)


def test_rows_name_the_version_that_matched_them(job):
    assert len(job(available_now=True).indexes) == 1
    changed = [*job.patterns[:20], "#"]
    save(job.folder / "s.txt", changed)
    write(job.folder / "in", ".parquet", job.topics, first=60)
    job()
    log = [json.loads(line) for line in (job.folder / "out" / "_indexes.jsonl").read_text().splitlines()]
    assert [line["batch"] for line in log] == [0, 3]
    assert log[0]["index"] != log[1]["index"]
    for line, patterns, ids in ((log[0], job.patterns, range(60)), (log[1], changed, range(60, 120))):
        matched = sorted(
            (row for row in rows(job.folder / "out") if row["index"] == line["index"]), key=lambda r: r["id"]
        )
        assert [row["id"] for row in matched] == list(ids)
        assert [sorted(row["subscribers"]) for row in matched] == brute(patterns, range(len(patterns)), job.topics)


def test_a_table_that_changes_between_batches_and_one_that_is_malformed(job):
    heard = []

    def change(done):
        if done.batches == 1:
            save(job.folder / "s.txt", ["#"])
        if done.batches == 2:
            (job.folder / "s.txt").write_text("")

    done = job(report=change, warn=heard.append)
    assert (done.batches, len(done.indexes)) == (3, 2)
    assert len(heard) == 1
    assert "the subscriptions in use stay" in heard[0]
    assert "there are no subscriptions" in heard[0]


def test_a_bad_topic_is_named_or_counted(job):
    write(job.folder / "in", ".parquet", ["a", "b/#"], first=60)
    with pytest.raises(BadMessages, match=r"part00060\.parquet, row 2: 'b/#' is no topic of mqtt"):
        job()
    done = job(keep_going=True)
    assert (done.messages, done.bad) == (2, 1)
    assert sorted(row["id"] for row in rows(job.folder / "out")) == list(range(62))


def test_whose_folder_it_is(job, spark):
    out = job.folder / "out"
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    with pytest.raises(OutputExists, match="not the output of a stream"):
        job()
    (out / "notes.txt").unlink()
    with claimed(out, {"topic": "topic"}), pytest.raises(OutputExists, match="in use by a stream that runs"):
        job()
    with pytest.raises(OutputExists, match="whose topic was topic, not t"), claimed(out, {"topic": "t"}):
        pass
    (out / "matches" / "batch=0").mkdir(parents=True)
    with pytest.raises(OutputExists, match="no checkpoint"), claimed(out, {"topic": "topic"}):
        pass


def test_the_last_version_in_a_folder_counts(tmp_path):
    table = SubscriptionTable(tmp_path, load)
    with pytest.raises(BadSubscriptions, match="no file of subscriptions"):
        table.newer()
    save(tmp_path / "2026-01.txt", ["a"])
    assert table.newer()[0].match("a") == {0}
    assert table.newer() is None
    save(tmp_path / "2026-02.txt", ["a", "+"])
    assert table.newer()[0].match("a") == {0, 1}
    save(tmp_path / "2025-12.txt", ["b"])
    assert table.newer() is None


def test_a_table_that_is_never_still(tmp_path):
    save(tmp_path / "s.txt", ["a"])

    def load_and_touch(path):
        save(tmp_path / "s.txt", ["a"])
        return load(path)

    with pytest.raises(BadSubscriptions, match="changed 3 times while it was read"):
        SubscriptionTable(tmp_path / "s.txt", load_and_touch).newer()
