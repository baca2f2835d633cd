"""The data of the benchmark of jobs on Spark: what the generated histories are, and the time of a tree of processes."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from latchfree_lincheck import check, read_history


@pytest.fixture
def bench(monkeypatch):
    """Imports a module of the benchmarks."""
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "bench"))
    return importlib.import_module


@pytest.mark.parametrize(("wrong", "share"), [(0.0, 0.0), (1.0, 0.5)])
def test_histories_are_linearizable_unless_a_result_was_changed(bench, tmp_path, wrong, share):
    data = bench("pipeline_data")
    data.write_histories(tmp_path / "data", 60, 2, seed=1, wrong=wrong)
    found = [history for file in sorted((tmp_path / "data").iterdir()) for history in read_history(file)]
    assert len({history.name for history in found}) == 60
    assert {len(history.operations) for history in found} == {data.OPERATIONS}
    violations = [check(history, "map").verdict for history in found].count("violation")
    assert violations == 0 if share == 0 else violations > 60 * share
    overlapping = sum(
        one.invoke < other.invoke < one.return_
        for history in found
        for one in history.operations
        for other in history.operations
    )
    assert overlapping > 60 * data.OPERATIONS


def test_time_counts_processes_that_ended_and_their_children(bench):
    tree_time = bench("tree_time").tree_time
    burn = "import time; began = time.process_time()\nwhile time.process_time() < began + 0.3: pass"
    before = tree_time()
    nested = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {burn!r}], check=True)"
    subprocess.run([sys.executable, "-c", nested], check=True)
    assert tree_time() - before >= 0.25
