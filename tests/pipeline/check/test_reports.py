"""Accounts: what is read, what is judged and what is written agree, or nothing is published."""

from dataclasses import replace

import pytest
from pipeline_jobs import fragments, put_and_get, run, shuffled, verdicts

from latchfree_lincheck import write_history
from latchfree_spark.check import Options, files
from latchfree_spark.check.input.finding import find
from latchfree_spark.check.judge.chunks import judge_chunks, publish_rows
from latchfree_spark.check.judge.judging import bare
from latchfree_spark.check.output.summary import summarize
from latchfree_spark.check.reports import Reports
from latchfree_spark.check.tables import marks
from latchfree_spark.errors import RowsLost

CHUNKS = 4


@pytest.fixture
def judged(tmp_path):
    """The units, the reports and the folder of a job without Spark."""
    for number in range(3):
        histories = [put_and_get(f"h{number}-{each}", operations=5) for each in range(10)]
        write_history(tmp_path / f"{number}.jsonl", histories)
    names = [tmp_path / f"{number}.jsonl" for number in range(3)]
    folder = tmp_path / "work"
    job, table = fragments(names, folder, Options("map"), marked=True)
    reports = Reports()
    for batch in judge_chunks(shuffled(table, CHUNKS, 7), replace(job, folder=str(folder))):
        reports.add(batch.to_pylist())
    return find(names), reports, folder


def test_accounts_agree(judged):
    inputs, reports, folder = judged
    reports.settle(inputs.units, folder)
    assert reports.operations == 3 * 10 * 6 == sum(row["operations"] for row in verdicts(folder))
    assert sum(rows for rows, _ in reports.chunks.values()) == 30
    assert summarize(folder, folder, Options("map"), inputs, 0.0).operations == reports.operations


def test_a_chunk_that_is_not_there(judged):
    inputs, reports, folder = judged
    files.chunk_file(folder, "verdicts", 2).unlink()
    rows, _ = reports.chunks[2]
    reports.chunks[2] = rows, "elsewhere"
    with pytest.raises(RowsLost, match=r"1 of 4 results are not in .*/work as .* \(chunk 2\); elsewhere wrote 1"):
        reports.settle(inputs.units, folder)


def test_a_chunk_of_other_content(judged):
    inputs, reports, folder = judged
    publish_rows([bare(None, "error", "another job's")], folder, 1)
    with pytest.raises(RowsLost, match="chunk 1"):
        reports.settle(inputs.units, folder)


def test_a_giant_that_is_not_there(judged):
    inputs, reports, folder = judged
    reports.giants["big-123"] = 4, "elsewhere"
    with pytest.raises(RowsLost, match="giant big-123"):
        reports.settle(inputs.units, folder)


def test_a_unit_that_nobody_read(judged):
    inputs, reports, folder = judged
    reports.units.popitem()
    with pytest.raises(RowsLost, match="1 pieces of the input"):
        reports.settle(inputs.units, folder)


def test_a_unit_counts_its_operations_whatever_is_wrong_in_it(tmp_path):
    path = tmp_path / "x.jsonl"
    write_history(path, [put_and_get("good", operations=3), put_and_get("bad")])
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:5], "{\n", *lines[5:]]))
    _, table = fragments([path], tmp_path, marked=True)
    (mark,) = marks(table.slice(len(table) - 1))
    assert mark == (0, 0, sum(len(row or []) for row in table.slice(0, len(table) - 1)["invoke"].to_pylist()))


def test_verdicts_on_fewer_operations_are_not_published(spark, tmp_path, monkeypatch):
    write_history(tmp_path / "x.jsonl", [put_and_get(f"h{number}") for number in range(20)])
    out = tmp_path / "out"
    settle = Reports.settle

    def settle_and_lose(self, units, folder):
        settle(self, units, folder)
        publish_rows([], folder, max(self.chunks, key=lambda chunk: self.chunks[chunk][0]))

    monkeypatch.setattr(Reports, "settle", settle_and_lose)
    with pytest.raises(RowsLost, match=r"40 operations were read, and the verdicts are on [0-3]?\d;"):
        run(spark, [tmp_path / "x.jsonl"], out)
    assert not out.exists()
