"""The churn benchmark runs, accounts for every word at the end, and says what it was asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("support", "impl", "model", "lincheck", "cli")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    folders = [*(str(ROOT / source) for source in SOURCES), os.environ.get("PYTHONPATH", "")]
    return subprocess.run(
        [sys.executable, str(ROOT / "bench" / "churn.py"), *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders))},
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )


def test_every_word_is_accounted_for_after_a_short_run():
    done = run("--seconds", "3", "--period", "0.25", "--keys", "1000", "--seed", "5")
    # Three seconds are all warm-up: only the figures that do not depend on time are looked at.
    assert done.returncode in (0, 1), done.stderr
    assert not done.stderr
    verdicts = {line[:52].strip(): line.split()[-1] for line in done.stdout.splitlines() if "asked <=" in line}
    assert set(verdicts) == {
        "growth of resident memory, second half",
        "words in use that the trie does not reach",
        "words in limbo at the end",
    }
    assert verdicts["words in use that the trie does not reach"] == "met"
    assert verdicts["words in limbo at the end"] == "met"


def test_a_wrong_option_is_named():
    done = run("--snapshots", "0")
    assert done.returncode == 2
    assert "--snapshots and --keys must be at least 1" in done.stderr
