"""The benchmark of two processes runs, with peers beside it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("support", "impl", "model", "lincheck", "cli")
sys.path.insert(0, str(ROOT / "bench"))

from measuring.side_by_side import wrong  # noqa: E402
from peers.loops import mapping_look, mapping_loops  # noqa: E402
from peers.shared import Opened, listed  # noqa: E402


def run(*arguments: str) -> tuple[int, str, str]:
    """Exit code and output of the benchmark, which must leave no arena of its own."""
    folders = [*(str(ROOT / source) for source in SOURCES), os.environ.get("PYTHONPATH", "")]
    with subprocess.Popen(
        [sys.executable, str(ROOT / "bench" / "processes.py"), *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders))},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        stdout, stderr = process.communicate(timeout=1200)
    assert not list(Path("/dev/shm").glob(f"latchfree-bench-{process.pid}-*"))
    return process.returncode, stdout, stderr


def test_every_step_is_timed_alone_and_together(tmp_path):
    options = ("--keys", "400", "--rounds", "1", "--peer-rounds", "1", "--peers", "lmdb,manager", "--seed", "7")
    options += ("--files", "lmdb-file,sqlite3,diskcache", "--folder", str(tmp_path))
    code, stdout, stderr = run(*options)
    # Whether the figures are as asked is for an idle machine to say.
    assert code in (0, 1), stderr
    lines = stdout.splitlines()
    for call in ("bulk", "single"):
        for step in ("put", "get", "update", "remove"):
            (line,) = [line for line in lines if line.startswith(f"{call}, 400 keys: {step} ") and "asked" not in line]
            alone, together, ratio = map(float, line.split()[-3:])
            assert min(alone, together) > 0
            assert ratio >= 0  # printed with two places
    memory, single, bulk = ("".join(line + "\n" for line in part) for part in parts_of(lines))
    assert titles_of(memory) == ["latchfree", "lmdb", "Manager().dict"]
    assert titles_of(single) == titles_of(bulk) == ["latchfree", "lmdb", "sqlite3", "diskcache"]
    assert not list(tmp_path.iterdir())


def parts_of(lines: list[str]) -> list[list[str]]:
    """The tables of peers, each without its heads."""
    begins = [place for place, line in enumerate(lines) if line.endswith("(ratio to latchfree)")]
    return [lines[begin + 2 : end] for begin, end in zip(begins, [*begins[1:], len(lines)], strict=True)]


def titles_of(table: str) -> list[str]:
    """The peers of a table: each has four figures, or is one that is not installed."""
    lines = [line for line in table.splitlines() if "asked <=" not in line]
    for line in lines:
        assert line.count("x)") == 4 or "pip install 'latchfree[bench]'" in line
    return [line[:16].split("skipped")[0].strip() for line in lines]


def test_a_map_that_holds_something_else_is_noticed():
    values = {1: 0, 2: 3, 3: 2}
    opened = Opened(mapping_loops({}), listed, mapping_look(values))
    assert wrong(opened, np.array([1, 2, 3]), full=True) == 0
    assert wrong(opened, np.array([1, 2, 3, 4]), full=True) == 1
    assert wrong(opened, np.array([3, 4]), full=False) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--peers", "nothing"], "argument --peers: no peer called 'nothing'"),
        (["--files", "lmdb"], "argument --files: no peer called 'lmdb'; there are latchfree-file, lmdb-file"),
        (["--keys", "1"], "argument --keys: expected a number from 2 to 1,000,000, got '1'"),
        (["--folder", "/nowhere"], "--folder: there is no folder '/nowhere'"),
    ],
)
def test_a_wrong_option_is_named(arguments, message):
    code, _, stderr = run(*arguments)
    assert code == 2
    assert message in stderr
