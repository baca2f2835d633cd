"""Speculative tasks: Spark runs two attempts of one task at once, both write, and each row is there once."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pipeline_jobs import put_and_get, verdicts
from pipeline_processes import cluster

from latchfree_lincheck import History, write_history

pytestmark = pytest.mark.cluster

HISTORIES = 160
MESSAGES = 4000
DRIVER = Path(__file__).parent / "helpers" / "pipeline_speculation.py"


def numbered(number):
    """Return a history with a key that no other has; every fortieth is a violation."""
    made = put_and_get(f"h{number}", seen=5 if number % 40 == 7 else None)
    named = [replace(each, arguments=(f"k{number}", *each.arguments[1:])) for each in made.operations]
    return History(made.name, named)


def test_rows_are_inputs_although_attempts_overlap(tmp_path):
    (tmp_path / "twice").mkdir()
    (tmp_path / "histories").mkdir()
    (tmp_path / "messages").mkdir()
    write_history(tmp_path / "histories" / "x.jsonl", [numbered(number) for number in range(HISTORIES)])
    for part in range(8):
        topics = [f"{'a' if number % 3 else 'b'}/{number}" for number in range(part, MESSAGES, 8)]
        pq.write_table(pa.table({"topic": topics}), tmp_path / "messages" / f"{part}.parquet")
    with cluster(tmp_path, apart=True) as (address, _):
        job = subprocess.run(
            [sys.executable, DRIVER, address, tmp_path],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True, text=True, timeout=1200, check=False,
        )  # fmt: skip
    assert job.returncode == 0, job.stderr[-3000:]
    assert json.loads(job.stdout.splitlines()[-1]) == {"histories": HISTORIES, "messages": MESSAGES}
    second = {path.name for path in (tmp_path / "twice").iterdir()}
    assert {"check-slow", "match-slow", "match-second"} < second
    assert "late" not in second
    assert len([name for name in second if name.startswith("check-k")]) > 1
    found = {row["history"]: row["verdict"] for row in verdicts(tmp_path / "out")}
    assert len(verdicts(tmp_path / "out")) == HISTORIES
    assert {name for name, verdict in found.items() if verdict == "violation"} == {"h7", "h47", "h87", "h127"}
    rows = pq.read_table(tmp_path / "matched" / "matches").to_pylist()
    assert sorted(row["topic"] for row in rows) == sorted(
        f"{'a' if number % 3 else 'b'}/{number}" for number in range(MESSAGES)
    )
    assert all(sorted(row["subscribers"]) == (["ann", "bob"] if row["topic"][0] == "a" else ["bob"]) for row in rows)
