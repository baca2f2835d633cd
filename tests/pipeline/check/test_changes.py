"""Input that changes while it is read: what was added is left to the next run, what was replaced is refused by name."""

import os
from dataclasses import asdict, replace

import pyarrow as pa
import pytest
from pipeline_jobs import fragments, put_and_get, run, shuffled, verdicts

from latchfree_lincheck import read_history, write_history
from latchfree_spark.check import BadInput, job
from latchfree_spark.check.input import finding
from latchfree_spark.check.input.beginnings import BLOCK, BLOCKS, beginning
from latchfree_spark.check.input.changes import changes, retract
from latchfree_spark.check.input.finding import find
from latchfree_spark.check.input.reading import read_units
from latchfree_spark.check.judge.chunks import judge_chunks
from latchfree_spark.check.tables import MARKS


def lines(name):
    return "".join(
        f'{{"history": "{name}", "process": {at}, "f": "get", "arguments": ["k"], "invoke": 0, "return": 1}}\n'
        for at in range(2)
    )


def test_each_kind_of_change(tmp_path):
    names = ["grown", "shorter", "touched", "replaced", "gone", "same", "rewritten"]
    for name in names:
        (tmp_path / f"{name}.jsonl").write_text(lines(name))
    write_history(tmp_path / "rewritten.parquet", [put_and_get("h")])
    before = find([tmp_path])
    assert not any(changes(before))
    with (tmp_path / "grown.jsonl").open("a") as file:
        file.write(lines("more"))
    (tmp_path / "shorter.jsonl").write_text("")
    os.utime(tmp_path / "touched.jsonl", (0, 0))
    (tmp_path / "other").write_text(lines("replaced") * 2)
    (tmp_path / "other").rename(tmp_path / "replaced.jsonl")
    with (tmp_path / "rewritten.jsonl").open("w") as file:  # the same inode, and longer
        file.write(lines("other") * 2)
    (tmp_path / "gone.jsonl").unlink()
    (tmp_path / "new.jsonl").write_text(lines("new"))
    write_history(tmp_path / "rewritten.parquet", [put_and_get("h", operations=9)])
    seen = changes(before)
    paths = lambda *names: tuple(str(tmp_path / name) for name in names)  # noqa: E731
    assert seen.grown == paths("grown.jsonl")
    assert seen.appeared == paths("new.jsonl")
    assert seen.vanished == paths("gone.jsonl")
    rewritten = ("replaced.jsonl", "rewritten.jsonl", "rewritten.parquet")
    assert seen.changed == paths(*rewritten, "shorter.jsonl", "touched.jsonl")
    assert len(list(seen.warnings())) == 3


def test_a_beginning_is_known_by_blocks_of_it(tmp_path):
    path, size = tmp_path / "x", BLOCK * BLOCKS * 3
    path.write_bytes(bytes(size))
    before = beginning(path, size)
    with path.open("r+b") as file:
        file.seek(size)
        file.write(b"more")
    assert beginning(path, size) == before
    step = (size - BLOCK) // (BLOCKS - 1)
    for place, noticed in ((0, True), (step + 5, True), (size - 1, True), (BLOCK + 5, False)):
        with path.open("r+b") as file:
            file.seek(place)
            file.write(b"x")
            file.flush()
            assert (beginning(path, size) != before) is noticed, place
            file.seek(place)
            file.write(b"\0")
    assert beginning(path, BLOCK) != beginning(path, BLOCK + 1)
    assert beginning(tmp_path / "gone", 1) == ""


@pytest.mark.parametrize("unit", [50, 1 << 20])
@pytest.mark.parametrize("missing", [0, 1, 7])
def test_a_file_that_grows_is_read_as_far_as_it_was_complete(tmp_path, monkeypatch, unit, missing):
    """A line that was half written when the job began is left to the next run, in whatever unit it is."""
    monkeypatch.setattr(finding, "UNIT", unit)
    path = tmp_path / "x.jsonl"
    text = "".join(lines(f"h{number}") for number in range(9))
    path.write_text(text[: len(text) - missing])
    before = find([path])
    path.write_text(text + lines("later"))
    monkeypatch.setattr("pipeline_jobs.find", lambda asked, join: before)
    _, table = fragments([path], tmp_path)
    rows = sum(len(places) for places in table["place"].to_pylist())
    assert rows == (18 if missing == 0 else 17)
    assert not any(table["problem"].to_pylist())


def test_a_line_without_an_end_is_read_if_nobody_writes(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text(lines("h").rstrip("\n"))
    assert len(read_history(path)[0]) == 2
    _, table = fragments([path], tmp_path)
    assert [len(places) for places in table["place"].to_pylist()] == [2]


def test_no_verdict_on_a_changed_file_stands(tmp_path):
    for name in "ab":
        write_history(
            tmp_path / f"{name}.jsonl", [put_and_get(f"{name}{number}", seen=number % 2) for number in range(6)]
        )
    asked = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    made, table = fragments(asked, tmp_path, chunks=2)
    out = tmp_path / "out"
    list(judge_chunks(shuffled(table, 2, 99), replace(made, folder=str(out))))
    before = {row["history"]: row for row in verdicts(out)}
    (text,) = retract(out, find(asked), [str(tmp_path / "b.jsonl")])
    after = {row["history"]: row for row in verdicts(out)}
    assert before.keys() == after.keys()
    for name, row in after.items():
        if name.startswith("a"):
            assert row == before[name]
        else:
            assert row == before[name] | {"verdict": "error", "reason": text, "failing": None}


def test_a_job_whose_input_grows(spark, tmp_path, monkeypatch):
    folder = tmp_path / "in"
    folder.mkdir()
    for name in "ab":
        write_history(folder / f"{name}.jsonl", [put_and_get(f"{name}{number}") for number in range(3)])

    class Growing(job._Driver):
        def run(self, open_session):
            super().run(open_session)
            with (folder / "a.jsonl").open("a") as file:
                file.write(lines("more"))
            (folder / "c.jsonl").write_text(lines("new"))

    class Replacing(job._Driver):
        def run(self, open_session):
            super().run(open_session)
            write_history(folder / "b.jsonl", [put_and_get("other")])

    monkeypatch.setattr(job, "_Driver", Growing)
    summary = run(spark, [folder], tmp_path / "out")
    assert summary.verdicts == {"ok": 6, "violation": 0, "unknown": 0, "error": 0}
    assert [text.split(" ")[0] for text in summary.warnings] == [str(folder / "a.jsonl"), str(folder / "c.jsonl")]
    monkeypatch.setattr(job, "_Driver", Replacing)
    with pytest.raises(BadInput, match=f"{folder}/b.jsonl: expected the same file all through the run"):
        run(spark, [folder], tmp_path / "out2")
    summary = run(spark, [folder], tmp_path / "out3", keep_going=True)
    assert summary.verdicts["error"] == 1
    assert {row["history"]: row["verdict"] for row in verdicts(tmp_path / "out3")}["other"] == "error"


def test_a_unit_of_a_vanished_file_is_a_problem_of_the_file(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text(lines("h"))
    made, _ = fragments([path], tmp_path)
    found = find([path])
    path.unlink()
    units = pa.RecordBatch.from_pylist([asdict(found.units[0])])
    rows = [row for batch in read_units([units], made) for row in batch.to_pylist()]
    assert [(row["history"], row["for_chunk"]) for row in rows] == [(None, None), (None, 0), (None, MARKS)]
    assert rows[0]["problem"].startswith(f"{path}: ")
