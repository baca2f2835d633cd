"""The benchmark of two processes runs, with peers beside it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("impl", "model", "lincheck", "cli")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    folders = [*(str(ROOT / source) for source in SOURCES), os.environ.get("PYTHONPATH", "")]
    return subprocess.run(
        [sys.executable, str(ROOT / "bench" / "processes.py"), *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders))},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_every_step_is_timed_alone_and_together():
    done = run("--keys", "400", "--rounds", "1", "--peer-rounds", "1", "--peers", "lmdb,manager", "--seed", "7")
    # Whether the figures are as asked is for an idle machine to say.
    assert done.returncode in (0, 1), done.stderr
    lines = done.stdout.splitlines()
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
    assert not list(Path("/dev/shm").glob("latchfree-bench-*"))


def test_a_wrong_option_is_named():
    done = run("--peers", "nothing")
    assert done.returncode == 2
    assert "no peer called 'nothing'" in done.stderr
