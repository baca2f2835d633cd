"""Children: what dies or hangs in one does not end the parent, and is known."""

import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest
from pipeline_jobs import fragments, put_and_get

from latchfree_lincheck import write_history
from latchfree_spark.check import Options
from latchfree_spark.check.judge.apart import FATAL, judge_apart, within
from latchfree_spark.check.judge.batch import unpack
from latchfree_spark.check.judge.child import Child, ChildLost

MARKED = 666


def is_running(pid):
    """Return whether a process is there, and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def suspects(tmp_path):
    """Return a function that makes histories, one of them marked, as a batch and a job with some judge."""

    def make(judge, *values):
        histories = [put_and_get(f"h{number}", value) for number, value in enumerate(values)]
        write_history(tmp_path / "x.jsonl", histories)
        job, table = fragments([tmp_path / "x.jsonl"], tmp_path, Options("map", judge=f"pipeline_judges:{judge}"))
        return unpack(table), job

    return make


@pytest.mark.parametrize("where", [0, 1, 3])
@pytest.mark.parametrize(
    ("judge", "told"),
    [
        ("dies", f"its process died of SIGKILL, {FATAL} times, while judging it alone"),
        ("raises", "judging it failed: RuntimeError: a defect of the judge"),
    ],
)
def test_only_the_culprit_is_unknown(suspects, judge, told, where):
    values = [1, 2, 3]
    values.insert(where, MARKED)
    batch, job = suspects(judge, *values)
    rows = list(judge_apart(batch, job))
    assert [row["history"] for row in rows] == ["h0", "h1", "h2", "h3"]
    assert [row["verdict"] for row in rows] == ["unknown" if value == MARKED else "ok" for value in values]
    assert rows[where]["reason"] == told
    assert rows[where]["operations"] == 2


def test_two_culprits_in_a_row(suspects):
    batch, job = suspects("dies", MARKED, MARKED, 1, MARKED)
    assert [row["verdict"] for row in judge_apart(batch, job)] == ["unknown", "unknown", "ok", "unknown"]


def test_a_silent_child_is_killed(suspects):
    batch, job = suspects("hangs", 1, MARKED, 2)
    list(judge_apart(batch.part(0, 1), job))  # what is compiled, the children have
    rows = list(judge_apart(batch, replace(job, hang=3.0)))
    assert [row["verdict"] for row in rows] == ["ok", "unknown", "ok"]
    assert rows[1]["reason"] == f"its process was silent for 3 s, {FATAL} times, while judging it alone"


def test_what_a_child_finds_in_time():
    assert within(60, lambda: {"a": [1]}) == {"a": [1]}
    with pytest.raises(ChildLost, match=r"was silent for 0\.1 s"):
        within(0.1, lambda: time.sleep(60))
    with pytest.raises(ChildLost, match="died of SIGTERM"):
        within(60, lambda: os.kill(os.getpid(), signal.SIGTERM))
    with pytest.raises(ChildLost, match="ended with exit code 1"):
        within(60, lambda: 1 // 0)


def test_a_child_is_gone_when_its_context_is_left():
    with Child(lambda send: [send(os.getpid()), time.sleep(60)]) as child:
        pid = child.receive(60)
        assert is_running(pid)
    assert not is_running(pid)


def test_a_child_does_not_outlive_its_parent():
    def parent(send):
        with Child(lambda send: [send(os.getpid()), time.sleep(60)]) as grandchild:
            send(grandchild.receive(60))
            os.kill(os.getpid(), signal.SIGKILL)

    with Child(parent) as child:
        pid = child.receive(60)
        with pytest.raises(ChildLost, match="died of SIGKILL"):
            child.receive(60)
    end = time.monotonic() + 30
    while is_running(pid):
        assert time.monotonic() < end, "the kernel was to kill it with its parent"
        time.sleep(0.01)
