"""Jobs on Spark: the same output whatever happens on the way."""

import json
import os
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from lincheck_random import random_history
from pipeline_jobs import content, put_and_get, run, verdicts

from latchfree_lincheck import check, read_history, write_history
from latchfree_spark.check import BadInput, JobRefused, Options
from latchfree_spark.check.files import GIANTS, chunk_file
from latchfree_spark.check.output.manifest import partial_folder

MARKED = 666


def test_the_number_of_partitions_makes_no_difference(spark, tmp_path):
    histories = [random_history("map", seed, most=12) for seed in range(90)]
    write_history(tmp_path / "a.parquet", histories[:50])
    write_history(tmp_path / "b.jsonl", histories[50:])
    inputs = [tmp_path / "a.parquet", f"{tmp_path}/*.jsonl"]
    options = Options("map", giant=11, saved=1)
    seen = []
    for partitions in (1, 2, 8):
        out = tmp_path / f"out{partitions}"
        summary = run(spark, inputs, out, options, partitions=partitions, chunks=8)
        assert not partial_folder(out).exists()
        seen.append(content(out))
    assert seen[0] == seen[1] == seen[2]
    assert len(seen[0]) == 9
    rows = {row["history"]: row for row in verdicts(out)}
    assert len(rows) == len(histories) == summary.histories
    for history in histories:
        assert rows[history.name]["verdict"] == check(history, "map").verdict
    _look_at_summary(out, summary, rows)


def _look_at_summary(out, summary, rows):
    bad = {name for name, row in rows.items() if row["verdict"] == "violation"}
    assert {row["history"] for row in summary.failing} == bad
    assert summary.verdicts == {"ok": len(rows) - len(bad), "violation": len(bad), "unknown": 0, "error": 0}
    page = (out / "summary.html").read_text()
    first = summary.failing[0]
    command = first["replay"].split()
    assert command[:2] == ["latchfree", "check"]
    assert command[3:] == ["--model", "map"]
    assert check(read_history(command[2])[0], "map").verdict == "violation"
    assert f'href="{first["saved"]}"' in page
    assert f'href="{first["page"]}"' in page
    assert first["history"] in (out / first["page"]).read_text()
    assert first["replay"] in page
    assert json.loads((out / "summary.json").read_text())["verdicts"] == summary.verdicts
    assert sorted(path.name for path in out.iterdir()) == [
        "failing", "manifest.json", "seconds", "summary.html", "summary.json", "verdicts",
    ]  # fmt: skip
    seconds = [row for file in (out / "seconds").iterdir() for row in pq.read_table(file).to_pylist()]
    assert {row["history"] for row in seconds} == set(rows)


def test_done_chunks_are_not_judged_again(spark, tmp_path):
    write_history(tmp_path / "x.jsonl", [put_and_get(f"h{number}") for number in range(20)])
    run(spark, [tmp_path / "x.jsonl"], tmp_path / "whole")
    whole = content(tmp_path / "whole")
    options = Options("map", judge="pipeline_judges:raises")
    out = tmp_path / "out"
    # What an interrupted start leaves: a manifest and some chunks. A judge that fails would show in other chunks only.
    write_history(tmp_path / "x.jsonl", [put_and_get(f"h{number}", MARKED) for number in range(20)])
    run(spark, [tmp_path / "x.jsonl"], out, options)
    left = partial_folder(out)
    out.rename(left)
    for chunk in (0, 2):
        chunk_file(left, "verdicts", chunk).write_bytes(whole[f"chunk-{chunk:05}.parquet"])
    chunk_file(left, "verdicts", 1).unlink()
    chunk_file(left, "verdicts", GIANTS).unlink()
    (left / "verdicts" / ".chunk-00001.parquet.cut").write_bytes(b"PAR1")
    run(spark, [tmp_path / "x.jsonl"], out, options)
    again = content(out)
    assert again["chunk-00000.parquet"] == whole["chunk-00000.parquet"]
    assert again["chunk-00002.parquet"] == whole["chunk-00002.parquet"]
    rows = pq.read_table(chunk_file(out, "verdicts", 1)).to_pylist()
    assert {row["reason"] for row in rows} == {"judging it failed: RuntimeError: a defect of the judge"}
    assert sorted(again) == sorted(whole)


def test_unfinished_work_of_another_job_is_refused(spark, tmp_path):
    write_history(tmp_path / "x.jsonl", [put_and_get("h")])
    out = tmp_path / "out"
    run(spark, [tmp_path / "x.jsonl"], out)
    with pytest.raises(JobRefused, match=f"{out}: expected an output folder that is not there yet"):
        run(spark, [tmp_path / "x.jsonl"], out)
    out.rename(partial_folder(out))
    before = content(partial_folder(out))
    with pytest.raises(JobRefused, match="got another budget, timeout; remove the folder"):
        run(spark, [tmp_path / "x.jsonl"], out, Options("map", timeout=1.0, budget=5))
    with pytest.raises(JobRefused, match="got another chunks"):
        run(spark, [tmp_path / "x.jsonl"], out, chunks=5)
    os.utime(tmp_path / "x.jsonl", (0, 0))
    with pytest.raises(JobRefused, match="got another inputs"):
        run(spark, [tmp_path / "x.jsonl"], out)
    assert content(partial_folder(out)) == before
    assert not out.exists()


@pytest.mark.parametrize(
    ("judge", "hang", "told"),
    [
        ("dies", None, "its process died of SIGKILL, 2 times, while judging it alone"),
        pytest.param(
            "hangs", 10.0, "its process was silent for 10 s, 2 times, while judging it alone", marks=pytest.mark.slow
        ),
        ("raises", None, "judging it failed: RuntimeError: a defect of the judge"),
    ],
)
def test_a_history_that_kills_its_worker_is_unknown(spark, tmp_path, judge, hang, told):
    histories = [put_and_get(f"h{number}") for number in range(8)] + [put_and_get("deadly", MARKED)]
    write_history(tmp_path / "x.jsonl", histories)
    options = Options("map", judge=f"pipeline_judges:{judge}")
    summary = run(spark, [tmp_path / "x.jsonl"], tmp_path / "out", options, hang=hang, chunks=2)
    assert summary.verdicts == {"ok": 8, "violation": 0, "unknown": 1, "error": 0}
    (row,) = summary.unknown
    assert (row["history"], row["reason"]) == ("deadly", told)


def test_bad_input_ends_the_job_or_is_counted(spark, tmp_path):
    (tmp_path / "in").mkdir()
    for number in range(3):
        write_history(tmp_path / "in" / f"{number}.jsonl", [put_and_get(f"h{number}")])
    torn = tmp_path / "in" / "1.jsonl"
    torn.write_text(torn.read_text()[:-30])
    odd = tmp_path / "in" / "2.jsonl"
    odd.write_text(odd.read_text().replace('"get"', '"fetch"'))
    with pytest.raises(BadInput) as told:
        run(spark, [tmp_path / "in"], tmp_path / "out")
    assert {text.split(" ")[0] for text in told.value.problems[:2]} == {f"{torn}:2:", f"{odd}:2:"}
    assert not (tmp_path / "out").exists()
    summary = run(spark, [tmp_path / "in"], tmp_path / "out", keep_going=True)
    assert summary.verdicts == {"ok": 1, "violation": 0, "unknown": 0, "error": 2}
    assert list(summary.problems) == list(told.value.problems[:2])
    assert str(torn) in (tmp_path / "out" / "summary.html").read_text()


def test_two_files_that_count_from_zero(spark, tmp_path):
    for night in (1, 2):
        write_history(tmp_path / f"{night}.jsonl", [put_and_get(f"h{number}", night) for number in range(5)])
    summary = run(spark, [tmp_path / "1.jsonl", tmp_path / "2.jsonl"], tmp_path / "out")
    assert summary.verdicts == {"ok": 10, "violation": 0, "unknown": 0, "error": 0}
    assert {(row["source"], row["history"]) for row in summary.slowest} == {
        (f"{night}.jsonl", f"h{number}") for night in (1, 2) for number in range(5)
    }
    (warning,) = summary.warnings
    assert warning.startswith("5 names, such as 'h")
    parts = [tmp_path / f"part-0000{night}.jsonl" for night in (1, 2)]
    for night, part in enumerate(parts, 1):
        (tmp_path / f"{night}.jsonl").rename(part)
    joined = run(spark, parts, tmp_path / "joined", keep_going=True)  # where a process calls twice at once
    assert (joined.verdicts["error"], joined.operations, joined.warnings) == (5, 20, ())


def test_nothing_to_read(spark, tmp_path):
    (tmp_path / "in").mkdir()
    with pytest.raises(BadInput, match=f"{tmp_path}/in: expected a file, a folder with files"):
        run(spark, [tmp_path / "in"], tmp_path / "out")
    assert not partial_folder(tmp_path / "out").exists()
    assert run(spark, [tmp_path / "in"], tmp_path / "out", keep_going=True).histories == 0
    assert Path(tmp_path / "out" / "summary.html").exists()
