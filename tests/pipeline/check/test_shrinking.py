"""Shrinking that would take for ever costs the small copy, and neither the verdict nor the worker."""

import os
import signal
import sys
from contextlib import contextmanager
from dataclasses import replace

import pytest
from pipeline_frames import by_hand, rows_of
from pipeline_jobs import fragments, put_and_get

from latchfree_lincheck import write_history
from latchfree_model.models.own_files import use_files
from latchfree_spark.check import Options
from latchfree_spark.check.judge import chunks, saving, shrinking
from latchfree_spark.check.judge.batch import unpack
from latchfree_spark.check.judge.shrinking import LONG, NotShrunk, shrunk
from latchfree_spark.frames import witness

MODEL = """
import time
from latchfree_model import SequentialModel

class Endless(SequentialModel):
    name = "map"
    operations = {"put": 2, "get": 1, "remove": 1}

    def init(self):
        return 0

    def apply(self, state, call):
        time.sleep(600)
        return None, state
"""
SECONDS = 0.25
SILENT = f"the process that shrank it was silent for {2 * SECONDS:g} s"


@pytest.fixture
def options(tmp_path, monkeypatch):
    """A judge that calls everything a violation, and a model that takes minutes to look at it again."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(shrinking, "SECONDS", SECONDS)
    (tmp_path / "endless_model.py").write_text(MODEL)
    use_files([tmp_path / "endless_model.py"])
    return Options("endless_model:Endless", judge="pipeline_judges:condemns", saved=2)


def batch_of(history, folder, options):
    """Return a history as a worker has it, and the job."""
    write_history(folder / "x.jsonl", [history])
    job, table = fragments([folder / "x.jsonl"], folder, options)
    return unpack(table), job


def test_a_row_of_a_table_names_the_limit(options, monkeypatch):
    rows = [row for name in "abc" for row in rows_of([put_and_get(name, operations=LONG)])]
    found = by_hand(rows, ["history"], options=options)
    assert [(row["verdict"], row["witness"], row["reason"]) for row in found] == [
        ("violation", None, f"condemned; no witness: {SILENT}"),
        ("violation", None, f"condemned; no witness: {SILENT}"),
        ("violation", None, "condemned"),
    ]
    monkeypatch.setattr(witness, "LONGEST", LONG)
    assert by_hand(rows, ["history"], options=options)[0]["reason"] == (
        "condemned; no witness: it has more than 2,000 operations"
    )
    monkeypatch.setattr(witness, "LONGEST", 2 * LONG)
    monkeypatch.setattr(witness, "SECONDS", 0.1)
    (_, second, _) = by_hand(rows, ["history"], options=options)
    assert second["reason"] == "condemned; no witness: the witnesses of its partition took 0.1 s already"


def test_a_file_of_verdicts_has_the_whole_history(options, tmp_path):
    batch, job = batch_of(put_and_get("h", operations=LONG), tmp_path, options)
    whole = tmp_path / "failing" / "h.jsonl"
    saving.save_small(batch, 0, job, whole)
    assert not whole.parent.exists()
    publish = chunks._Chunk(0, job, False)
    publish._keep(batch, 0, {**saving_row(), "operations": LONG + 1})
    assert [path.name for path in whole.parent.iterdir()] == [publish._rows[0]["saved"].removeprefix("failing/")]


def saving_row():
    """Return the row of a violation whose operation nobody knows."""
    return {"verdict": "violation", "failing": None, "saved": None, "reproduce": None}


def test_a_task_that_runs_again_shrinks_in_children(options, tmp_path, monkeypatch):
    batch, job = batch_of(put_and_get("h"), tmp_path, options)
    monkeypatch.setattr(shrinking, "attempt", lambda: 1)
    with pytest.raises(NotShrunk, match=f"^{SILENT}$"):
        shrunk(batch, 0, job, SECONDS)
    monkeypatch.setattr(shrinking, "shrink", lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL))
    with pytest.raises(NotShrunk, match=r"^the process that shrank it died of SIGKILL$"):
        shrunk(batch, 0, job, SECONDS)


def test_a_short_history_is_shrunk_by_the_clock_of_the_worker(tmp_path, monkeypatch):
    batch, job = batch_of(put_and_get("h", seen=2), tmp_path, Options("map"))
    told = []

    @contextmanager
    def clock(seconds):
        told.append(seconds)
        yield
        told.append("in time")

    monkeypatch.setattr(shrinking, "ends_after", clock)
    monkeypatch.setattr(shrinking, "shrink", lambda history, *_, **__: told.append(history.name) or history)
    assert shrunk(batch, 0, replace(job, hang=7.0)).count("\n") == 2
    assert told == [7.0, "h", "in time"]


def test_what_is_no_violation_has_no_small_copy(tmp_path):
    batch, job = batch_of(put_and_get("h"), tmp_path, Options("map"))
    with pytest.raises(NotShrunk, match=r"^it was not shown to be a violation again in 5 s$"):
        shrunk(batch, 0, job)
