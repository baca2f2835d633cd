"""The benchmark of matchers runs, its engines agree, and its JSON has the promised shape."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments):
    path = os.pathsep.join([*(str(ROOT / source) for source in ("impl", "model", "lincheck", "cli"))])
    return subprocess.run(
        [sys.executable, str(ROOT / "bench" / "topics.py"), *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_all_parts(tmp_path):
    result = run("--only", "mask,trie,optimized", "--sizes", "1000", "--rounds", "1", "--json", tmp_path / "found.json")
    assert result.returncode == 0, result.stderr
    rows = json.loads((tmp_path / "found.json").read_text())["rows"]
    assert {row["part"] for row in rows} == {"w0", "seed", "threads"}
    assert {row["engine"] for row in rows if row["part"] == "w0"} == {"mask", "trie", "optimized"}
    (mask,) = [row for row in rows if row["engine"] == "mask"]
    assert 0 < mask["index bytes"] <= 30
    assert len([row for row in rows if row["part"] == "threads"]) == 16
    assert "W0, CPU ns" in result.stdout
