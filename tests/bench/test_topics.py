"""The benchmark of matchers runs, its engines agree, and its JSON has the promised shape."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments):
    path = os.pathsep.join([*(str(ROOT / source) for source in ("support", "impl", "model", "lincheck", "cli"))])
    return subprocess.run(
        [sys.executable, str(ROOT / "bench" / "topics.py"), *arguments],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )


def test_all_parts(tmp_path):
    small = (
        "--sizes",
        "1000",
        "--churn-size",
        "2000",
        "--filter-size",
        "1000",
        "--pipe-size",
        "1000",
        "--pipe-topics",
        "2000",
        "--rounds",
        "1",
    )
    result = run("--only", "mask,trie,optimized,concurrent", *small, "--json", tmp_path / "found.json")
    assert result.returncode == 0, result.stderr
    rows = json.loads((tmp_path / "found.json").read_text())["rows"]
    assert {row["part"] for row in rows} == {"w0", "seed", "threads", "churn", "many", "filter", "pipe"}
    assert {row["engine"] for row in rows if row["part"] == "w0"} == {"mask", "trie", "optimized", "concurrent"}
    (churned,) = [row for row in rows if row["part"] == "churn"]
    assert churned["rate"] > 0
    assert len([row for row in rows if row["part"] == "many"]) == 6
    (mask,) = [row for row in rows if row["engine"] == "mask" and row["part"] == "w0"]
    assert 0 < mask["index bytes"] <= 30
    assert len([row for row in rows if row["part"] == "threads"]) == 24
    assert len([row for row in rows if row["part"] == "filter"]) == 4
    assert "W0, CPU ns" in result.stdout
