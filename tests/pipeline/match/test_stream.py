"""Streams: every message once, whatever crashes and wherever; each row names the index it was matched with."""

import json
import os
import socket
import threading
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from message_files import brute, index_of, random_patterns, random_topics, write

from latchfree_spark.errors import RowsLost
from latchfree_spark.match import (
    BadMessages,
    BadSubscriptions,
    OutputExists,
    Progress,
    SubscriptionTable,
    match_stream,
    stream_batches,
    writing,
)
from latchfree_spark.match.checkpoint import files_of, replaced
from latchfree_spark.match.claim import claimed
from latchfree_spark.match.stream_batches import LIST, is_complete


class Crash(Exception):
    """Stands for the end of the process."""


def rows(out):
    files = sorted((out / "matches").glob("[!.]*/*.parquet"))  # a batch that was stopped leaves a hidden folder
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


@pytest.mark.usefixtures("adaptive")
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
    real = stream_batches.Batches.write

    def write_then_crash(self, batch, number):
        if number == 1 and when == "before":
            monkeypatch.setattr(stream_batches.Batches, "name_index", crash)
        real(self, batch, number)
        if number == 1:
            raise Crash("after")

    def crash(self, number):
        raise Crash("before")

    with monkeypatch.context():
        monkeypatch.setattr(stream_batches.Batches, "write", write_then_crash)
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


def test_old_files_are_read(job, rng):
    job()
    old = random_topics(rng, 20)
    write(job.folder / "in", ".parquet", old, first=60)
    for file, when in (("part00060.parquet", 1), ("part00000.parquet", 2**31)):
        os.utime(job.folder / "in" / file, (when, when))
    done = job()
    assert done.messages == 20
    assert_each_once(job, job.topics + old)
    newest = random_topics(rng, 10)
    write(job.folder / "in", ".parquet", newest, first=80)
    (job.folder / "in" / "part00080.parquet").rename(job.folder / "in" / "part00080.PARQUET")
    assert job().messages == 10
    assert_each_once(job, job.topics + old + newest)


def test_a_file_that_takes_the_name_of_another_is_named(job):
    heard = []
    assert job(warn=heard.append).replaced == []
    write(job.folder / "in", ".parquet", ["a"] * 5)
    done = job(warn=heard.append)
    assert done.messages == 0
    assert done.replaced == [str(job.folder / "in" / "part00000.parquet")]
    assert len(heard) == 1
    assert "part00000.parquet was written again after it was read" in heard[0]


def test_what_a_batch_read_is_what_it_wrote(job, monkeypatch):
    real = writing.sums

    def lose(spark, folder, *others):
        max(folder.glob("*.parquet"), key=lambda path: path.stat().st_size).unlink()
        return real(spark, folder, *others)

    with monkeypatch.context() as patched:
        patched.setattr(writing, "sums", lose)
        with pytest.raises(RowsLost, match=r"20 messages counted, 0 there.*Nothing was published"):
            job()
    assert not list((job.folder / "out" / "matches").iterdir())
    assert job().messages == 60
    assert_each_once(job, job.topics)


def test_a_batch_that_is_incomplete_is_not_done(job, monkeypatch):
    real = stream_batches.Batches.write

    def write_then_crash(self, batch, number):
        real(self, batch, number)
        raise Crash("after")

    with monkeypatch.context() as patched:
        patched.setattr(stream_batches.Batches, "write", write_then_crash)
        with pytest.raises(Crash):
            job()
    done = job.folder / "out" / "matches" / "batch=0"
    (file,) = done.glob("*.parquet")
    content = file.read_bytes()
    assert is_complete(done)
    file.unlink()
    assert not is_complete(done)
    file.write_bytes(content[:-1])
    (done.parent / ".latchfree-0123.tmp").mkdir()
    heard = []
    assert job(warn=heard.append).messages == 60
    assert heard == [f"{done} is incomplete and is written again"]
    assert_each_once(job, job.topics)
    assert not list(done.parent.glob(".latch*"))
    (done / LIST).unlink()
    assert not is_complete(done)


def test_columns_that_come_later(job):
    job()
    pq.write_table(pa.table({"topic": ["a"], "id": [60], "size": [7]}), job.folder / "in" / "more.parquet")
    wide = []

    def crash(progress):
        if not wide:
            wide.append(1)
            write(job.folder / "in", ".parquet", ["b"], first=61)
            pq.write_table(pa.table({"topic": ["c"], "id": [62], "at": [1]}), job.folder / "in" / "wide.parquet")

    with pytest.raises(BadMessages, match=r"wide\.parquet: the column at came after the stream was started"):
        job(available_now=False, every=0, report=crash)
    assert job(max_files=None).messages in (1, 2)
    found = {row["id"]: (row.get("size"), row.get("at")) for row in rows(job.folder / "out") if row["id"] >= 60}
    assert found == {60: (7, None), 61: (None, None), 62: (None, 1)}


def test_fields_of_json_that_come_later(job, spark):
    folder = job.folder / "json"
    folder.mkdir()
    (folder / "a.jsonl").write_text('{"topic": "a"}\n')

    def add(progress):
        (folder / "_b").write_text('{"topic": "b", "size": 1}\n')
        (folder / "_b").rename(folder / "b.jsonl")

    table = SubscriptionTable(job.folder / "s.txt", load)
    with pytest.raises(BadMessages, match=r"b\.jsonl: the column size came after"):
        match_stream(spark, table, str(folder), job.folder / "out", report=add, every=0)
    assert match_stream(spark, table, str(folder), job.folder / "out", available_now=True).messages == 1
    assert [row.get("size") for row in rows(job.folder / "out")] == [None, 1]


def test_csv_with_another_header_is_named(job, spark):
    folder = job.folder / "csv"
    folder.mkdir()
    (folder / "a.csv").write_text("topic,id\na,1\n")

    def add(progress):
        (folder / "_b").write_text("topic,size\na,1\n")
        (folder / "_b").rename(folder / "b.csv")

    table = SubscriptionTable(job.folder / "s.txt", load)
    for _ in range(2):
        with pytest.raises(
            BadMessages, match=r"b\.csv: .*the columns are not those|b\.csv: .*its columns are not those"
        ):
            match_stream(spark, table, str(folder), job.folder / "out", report=add, every=0)


def test_which_files_made_up_a_batch(job, spark):
    spark.conf.set("spark.sql.streaming.fileSource.log.compactInterval", "2")
    try:
        job()
    finally:
        spark.conf.unset("spark.sql.streaming.fileSource.log.compactInterval")
    checkpoint = job.folder / "out" / "_checkpoint"
    assert {file.name for file in (checkpoint / "sources" / "0").glob("[0-9]*")} == {"0", "1.compact", "2"}
    files = [each.path for number in range(3) for each in files_of(checkpoint, number)]
    assert sorted(files) == sorted(map(str, (job.folder / "in").iterdir()))
    assert len(files) == 3
    assert files_of(checkpoint, 3) == []
    assert replaced(checkpoint) == []
    for file in files:
        os.utime(file)
    assert [each.path for each in replaced(checkpoint)] == sorted(files)


def test_a_source_with_offsets(job, spark):
    table = SubscriptionTable(job.folder / "s.txt", load)
    save(job.folder / "s.txt", ["t/+", "t/1"])
    options = {"rowsPerBatch": "50", "numPartitions": "2"}

    def keep(done, now):
        done.batches = now.batches

    def enough(done):
        return done.batches >= 3

    given = {"format": "rate-micro-batch", "options": options, "every": 0}
    select = ["value", "concat('t/', value % 3) AS topic"]
    out = job.folder / "out"
    for _ in range(2):
        done = Progress()
        match_stream(
            spark, table, "", out, select=select, stopped=partial(enough, done), report=partial(keep, done), **given
        )  # fmt: skip
        assert done.batches >= 3
    found = sorted(rows(out), key=lambda row: row["value"])
    assert [row["value"] for row in found] == list(range(len(found)))
    assert len(found) >= 250
    assert [len(row["subscribers"]) for row in found] == [1 + (row["value"] % 3 == 1) for row in found]
    with pytest.raises(OutputExists, match="whose format was rate-micro-batch, not rate"):
        match_stream(spark, table, "", out, select=select, format="rate", available_now=True)
    with pytest.raises(BadMessages, match=r"rate-micro-batch, batch 0: 't/\+' is no topic of mqtt"):
        match_stream(spark, table, "", job.folder / "bad", select=["'t/+' AS topic"], **given)
    with pytest.raises(BadMessages, match="the column value must be text, not bigint"):
        match_stream(spark, table, "", job.folder / "new", topic="value", **given)
    with pytest.raises(BadMessages, match="known by their suffix; leave --format out"):
        match_stream(spark, table, str(job.folder / "in"), job.folder / "new", format="parquet")
    with pytest.raises(BadMessages, match="--select is for the sources of --format"):
        match_stream(spark, table, str(job.folder / "in"), job.folder / "new", select=["topic"])
    assert not (job.folder / "new").exists()


def test_lines_from_a_socket(job, spark):
    table = SubscriptionTable(job.folder / "s.txt", load)
    save(job.folder / "s.txt", ["a/#"])
    with socket.create_server(("127.0.0.1", 0)) as server:
        ended = threading.Event()

        def serve():
            with server.accept()[0] as connection:
                connection.sendall(b"a/b\nb\na/c\n")
                ended.wait()

        thread = threading.Thread(target=serve)
        thread.start()
        options = {"host": "127.0.0.1", "port": str(server.getsockname()[1])}
        seen = []
        try:
            done = match_stream(
                spark, table, "", job.folder / "out", topic="value", format="socket", options=options, every=0,
                report=seen.append, stopped=lambda: bool(seen) and seen[-1].messages >= 3,
            )  # fmt: skip
        finally:
            ended.set()
            thread.join()
    assert (done.messages, done.matches) == (3, 2)
    assert {row["value"]: row["subscribers"] for row in rows(job.folder / "out")} == {"a/b": [0], "b": [], "a/c": [0]}
