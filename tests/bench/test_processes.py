"""The benchmark of two processes runs, with peers beside it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("support", "impl", "model", "lincheck", "cli")


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


def test_every_step_is_timed_alone_and_together():
    options = ("--keys", "400", "--rounds", "1", "--peer-rounds", "1", "--peers", "lmdb,manager", "--seed", "7")
    code, stdout, stderr = run(*options)
    # Whether the figures are as asked is for an idle machine to say.
    assert code in (0, 1), stderr
    lines = stdout.splitlines()
    for call in ("bulk", "single"):
        for step in ("put", "get", "update", "remove"):
            (line,) = [line for line in lines if line.startswith(f"{call}, 400 keys: {step} ") and "asked" not in line]
            alone, together, ratio = map(float, line.split()[-3:])
            assert min(alone, together, ratio) > 0
    for title in ("latchfree", "lmdb", "Manager().dict"):
        (line,) = [line for line in lines if line.startswith(title + " ")]
        if title == "lmdb" and importlib.util.find_spec("lmdb") is None:  # a peer of the bench extra
            assert "pip install 'latchfree[bench]'" in line
        else:
            assert line.count("x)") == 4


def test_a_wrong_option_is_named():
    code, _, stderr = run("--peers", "nothing")
    assert code == 2
    assert "no peer called 'nothing'" in stderr
