"""The benchmark of reclamation compares a build that frees with one that does not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("support", "impl", "model", "lincheck", "cli")

# Compiling the whole trie twice takes more than a minute.
pytestmark = pytest.mark.slow


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    folders = [*(str(ROOT / source) for source in SOURCES), os.environ.get("PYTHONPATH", "")]
    return subprocess.run(
        [sys.executable, str(ROOT / "bench" / "reclamation.py"), "--seed", "7", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders))},
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )


@pytest.fixture(scope="module")
def builds():
    found = {}
    for build in ("reclaiming", "leaking"):
        done = run("--build", build, "--keys", "10000")
        assert done.returncode == 0, done.stderr
        found[build] = json.loads(done.stdout)
    return found


def test_only_one_of_the_builds_leaks(builds):
    assert builds["leaking"]["used"] > 5 * builds["reclaiming"]["used"]


def test_both_do_the_same_operations(builds):
    names = {f"{call} 10000 {step}" for call in ("single", "bulk") for step in ("put", "get", "update", "remove")}
    for build in builds.values():
        assert set(build["times"]) == names
        assert all(time > 0 for time in build["times"].values())
