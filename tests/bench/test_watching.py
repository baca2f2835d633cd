"""The benchmark of watching runs, and says what is kept."""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).resolve().parents[2] / "bench" / "watching.py"


def test_it_prints_what_is_kept_at_each_tenth():
    command = [sys.executable, str(PROGRAM), "--operations", "1000"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == [name for name in ("register", "map", "queue") for _ in range(10)]
    assert all(line.endswith(" ok") for line in lines), done.stdout
