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
    data = bench("jobs.data")
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
    tree_time = bench("measuring.tree_time").tree_time
    burn = "import time; began = time.process_time()\nwhile time.process_time() < began + 0.3: pass"
    before = tree_time()
    nested = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {burn!r}], check=True)"
    subprocess.run([sys.executable, "-c", nested], check=True)
    assert tree_time() - before >= 0.25


def test_a_giant_is_one_linearizable_history_of_one_key(bench, tmp_path):
    bench("jobs.data").write_giant(tmp_path / "giant.parquet", 500, seed=1)
    (history,) = read_history(tmp_path / "giant.parquet")
    assert check(history, "map").verdict == "ok"
    assert {each.arguments[0] for each in history.operations} == {"k"}
    assert len(history) == 500
    assert any(one.invoke < two.invoke < one.return_ for one in history.operations for two in history.operations)


def test_growth_is_a_line_and_a_power(bench):
    growth = bench("jobs.growth").growth
    line = growth([(4e6, 6 + 4 * 80), (1e6, 6 + 80), (2e6, 6 + 2 * 80)])
    assert line.at(1e7) == pytest.approx(806)
    assert 0.9 < line.power < 1
    assert growth([(1e6, 1.0), (2e6, 4.0), (4e6, 16.0)]).power == pytest.approx(2)
    assert growth([(1e6, 1.0), (2e6, 4.0), (4e6, 16.0)]).beyond(1e7, (4e6, 16.0)) == pytest.approx(100)


def test_shuffled_bytes_are_those_of_tasks_that_ended(bench, tmp_path):
    task = '{"Event":"SparkListenerTaskEnd","Task Metrics":{"Shuffle Write Metrics":{"Shuffle Bytes Written":%d}}}'
    lines = [task % 7, '{"Event":"SparkListenerTaskEnd"}', '{"Event":"SparkListenerJobEnd"}', task % 35]
    (tmp_path / "app").write_text("\n".join(lines))
    assert bench("jobs.growth").shuffled(tmp_path) == 42


def test_what_a_line_comes_to_for_more(bench, capsys):
    grown = bench("jobs.growth")
    costs = [
        grown.Cost(size, 6 + 80e-6 * size, 20 + 120e-6 * size, 900 * size, 230 * size, 10 * size)
        for size in (10**6, 4 * 10**6)
    ]
    print(grown.HEAD, *(each.line() for each in costs), sep="\n")
    grown.told(costs)
    grown.plan(costs)
    told = capsys.readouterr().out.splitlines()
    assert [len(line) for line in told[:3]] == [len(grown.HEAD)] * 3
    assert told[3].startswith("wall: 6.0 s + 80.00 us a history; power 0.96")
    assert told[4].startswith("wall: 10,000,000 histories: 806 s by the line, 78")
    assert told[6].startswith("cpu: 10,000,000 histories: 1,220 s by the line, ")
    assert told[7] == "1,000,000,000 operations in 50,000,000 histories on 100 workers of 4 cores:"
    assert told[8] == "15 s of each core; each worker reads 0.12 GB, shuffles 0.45, writes 0.01"
