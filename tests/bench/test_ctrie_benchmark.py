"""The benchmark runs, and its JSON has the promised shape. Nothing here looks at how long anything took."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("support", "impl", "model", "lincheck", "cli")


def run(*arguments: str, path: str = "") -> subprocess.CompletedProcess[str]:
    folders = [path, *(str(ROOT / source) for source in SOURCES), os.environ.get("PYTHONPATH", "")]
    return subprocess.run(
        [sys.executable, str(ROOT / "bench" / "ctrie.py"), *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders))},
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    file = tmp_path_factory.mktemp("bench") / "out.json"
    done = run("--quick", "--only", "latchfree,dict", "--keys", "200", "--seed", "7", "--json", str(file))
    assert done.returncode == 0, done.stderr
    assert "one key a call, from Python; 200 keys; 1 thread" in done.stdout
    assert "bulk: the loop is compiled; 200 keys; 2 threads" in done.stdout
    return json.loads(file.read_text())


def test_the_document_names_its_format_and_how_it_was_made(document):
    assert document["format"] == "latchfree-bench"
    assert document["version"] == 1
    assert document["unit"] == "nanoseconds per operation"
    assert document["settings"] == {"sizes": [200], "rounds": {"200": 8}, "seed": 7, "cold": False}
    assert set(document["peers"]) == {"latchfree", "dict"}
    assert document["skipped"] == {}
    assert document["machine"]["processors"] == os.cpu_count()


def test_there_is_one_row_for_everything_measured(document):
    common = ["put", "get", "update", "remove"]
    snapshots = ["snapshot", "writable snapshot", "snapshot and put", "put after snapshot"]
    alone = {
        ("latchfree", "single"): [*common, "iterate", *snapshots],
        ("latchfree", "bulk"): [*common, "snapshot", "snapshot and put", "put after snapshot"],
        ("dict", "single"): [*common, "iterate", "snapshot"],
        ("dict", "bulk"): [*common, "snapshot"],
    }
    expected = [
        (peer, call, threads, operation)
        for (peer, call), operations in alone.items()
        for threads in (1, 2)
        for operation in (operations if threads == 1 else common)
    ]
    rows = document["rows"]
    assert sorted((r["peer"], r["call"], r["threads"], r["operation"]) for r in rows) == sorted(expected)
    assert {row["keys"] for row in rows} == {200}


def test_figures_are_positive_and_overlaps_are_shares(document):
    for row in document["rows"]:
        # A put after a snapshot is a difference of two measurements, each with its own noise.
        least = 0 if row["operation"] == "put after snapshot" else 1e-9
        # Where the system counts processor time in ticks, a few calls take none.
        assert row["cpu"] >= 0, row
        assert row["wall"] >= least, row
        assert 0 <= row["overlap"] <= 1, row


def test_a_peer_that_is_missing_is_skipped_and_the_reason_printed(tmp_path):
    (tmp_path / "lmdb.py").write_text("raise ImportError('no lmdb here')\n")
    done = run("--quick", "--only", "dict,lmdb", "--keys", "200", path=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "skipped lmdb: no lmdb here; pip install 'latchfree[bench]'" in done.stdout


def test_one_kind_of_call_can_be_chosen():
    done = run("--quick", "--only", "dict", "--keys", "200", "--call", "bulk")
    assert done.returncode == 0, done.stderr
    assert "bulk: the loop is compiled; 200 keys; 1 thread" in done.stdout
    assert "one key a call" not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "dict,nothing"], "no peer called 'nothing'"),
        (["--keys", "ten"], "expected numbers separated by commas, got 'ten'"),
        (["--keys", "7"], "each must be even"),
        (["--call", "some"], "invalid choice: 'some'"),
    ],
)
def test_a_wrong_option_is_named(arguments, message):
    done = run(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
