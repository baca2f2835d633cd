"""Mixes, held snapshots and cold starts run, and each looks at what its maps hold. Nothing here looks at a time."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("support", "impl", "model", "lincheck", "cli")
sys.path.insert(0, str(ROOT / "bench"))

from measuring import mixing  # noqa: E402


def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    folders = [*(str(ROOT / source) for source in SOURCES), os.environ.get("PYTHONPATH", "")]
    return subprocess.run(
        [sys.executable, str(ROOT / "bench" / script), *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders))},
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )


def rows_of(printed: str) -> dict[str, list[str]]:
    """The cells of each line of a table by its first."""
    lines = (line.split("  ") for line in printed.splitlines() if line.startswith(" "))
    cells = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    return {first: rest for first, *rest in filter(None, cells)}


def test_every_mix_is_measured():
    names = "latchfree,dict,dict+lock"
    done = run("mixes.py", "--keys", "200", "--operations", "1000", "--rounds", "2", "--only", names, "--seed", "7")
    assert done.returncode == 0, done.stderr
    for call in ("one key a call, from Python", "bulk: the loop is compiled"):
        for threads in ("1 thread", "2 threads"):
            assert f"{call}; 200 keys; {threads}" in done.stdout
    rows = rows_of(done.stdout)
    for operation in ("90/10, uniform", "50/50, uniform", "90/10, zipf", "50/50, zipf"):
        assert {operation, f"{operation}, cpu", f"{operation}, wall"} <= set(rows)
    assert "threads together" in rows


@pytest.mark.skipif(
    shutil.which("javac") is None or importlib.util.find_spec("pyspark") is None,
    reason="TrieMap needs javac and pyspark",
)
def test_triemap_goes_through_the_same_mixes():
    done = run("mixes.py", "--keys", "200", "--operations", "1000", "--rounds", "1", "--only", "dict,triemap")
    assert done.returncode == 0, done.stderr
    bulk = done.stdout[done.stdout.index("bulk: the loop is compiled; 200 keys; 1 thread") :]
    assert "TrieMap" in bulk.splitlines()[2]
    assert [len(row) for row in rows_of(bulk).values()].count(2) >= 4


def test_a_mix_has_as_many_reads_as_it_says_and_two_tapes_write_different_values():
    settings = mixing.Settings((200,), 20_000, 1, 7)
    for operation, reads in (("90/10, uniform", 0.9), ("50/50, zipf", 0.5)):
        tapes = [mixing.tape(np.arange(200), operation, thread, settings) for thread in range(2)]
        for _, values in tapes:
            assert abs((values == 0).mean() - reads) < 0.02
        both = np.concatenate([values[values != 0] for _, values in tapes])
        assert len(np.unique(both)) == len(both)


def test_keys_by_zipf_are_drawn_by_their_weights():
    keys = np.arange(100) + 1000
    drawn = mixing.drawn(keys, 100_000, "zipf", np.random.default_rng(1))
    shares = np.bincount(drawn - 1000, minlength=100) / len(drawn)
    weights = 1 / np.arange(1, 101)
    assert np.abs(shares - weights / weights.sum()).max() < 0.01


def test_a_lost_write_is_noticed():
    keys = np.array([5, 6, 7])
    tapes = [(np.array([5, 5, 6]), np.array([1, 3, 0])), (np.array([5, 6, 6]), np.array([2, 4, 0]))]
    part = mixing.Part("single", "50/50, zipf", keys, tapes)
    mixing.check("it", part, [3, 4, 0])
    mixing.check("it", part, [2, 4, 0])
    for found in ([1, 4, 0], [3, 0, 0], [3, 4, None], [3, 4, 9]):
        with pytest.raises(mixing.Wrong, match="holds"):
            mixing.check("it", part, found)


def test_gets_and_puts_are_measured_with_snapshots_held():
    done = run("held.py", "--keys", "200", "--rounds", "1", "--snapshots", "0,3", "--only", "latchfree,latchfree-bulk")
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()[2:]]
    assert [line[:2] for line in lines] == [
        [name, held] for name in ("latchfree", "latchfree-bulk") for held in ("0", "3")
    ]
    assert [line[2] == "-" for line in lines] == [True, False, True, False]


def test_fresh_interpreters_are_timed():
    done = run("cold_start.py", "--rounds", "1", "--no-compiling")
    assert done.returncode == 0, done.stderr
    found = {line[:50].strip(): line.split()[-1] for line in done.stdout.splitlines()[1:]}
    assert list(found)[:4] == ["python -c pass", "import numpy", "dict", "latchfree, its library"]
    assert list(found.values())[:4] == ["1"] * 4
    if importlib.util.find_spec("diskcache") is None:
        assert "pip install 'latchfree[bench]'" in done.stdout


@pytest.mark.parametrize(
    ("script", "arguments", "message"),
    [
        ("mixes.py", ["--only", "dict,nothing"], "argument --only: no peer called 'nothing'; there are latchfree"),
        ("mixes.py", ["--keys", "1"], "argument --keys: expected a number from 2 to 1,000,000, got '1'"),
        ("mixes.py", ["--operations", "9"], "argument --operations: expected a number from 1,000 to 10,000,000"),
        ("held.py", ["--snapshots", "0,101"], "argument --snapshots: expected a number from 0 to 100, got '101'"),
        ("held.py", ["--keys", "many"], "argument --keys: expected a number from 100 to 1,000,000, got 'many'"),
        ("cold_start.py", ["--rounds", "0"], "argument --rounds: expected a number from 1 to 1,000, got '0'"),
    ],
)
def test_a_wrong_option_is_named_with_its_limit(script, arguments, message):
    done = run(script, *arguments)
    assert done.returncode == 2
    assert message in done.stderr
