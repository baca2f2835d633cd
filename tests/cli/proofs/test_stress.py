"""``latchfree stress`` on the compiled Ctrie: small runs, a mutant in a fresh process."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from cli_processes import interrupt
from typer.testing import CliRunner

from latchfree_cli import exits
from latchfree_cli.app import app


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run where files may be written."""
    monkeypatch.chdir(tmp_path)


def start(arguments: Sequence[str]) -> subprocess.Popen[str]:
    """Run the command in a fresh process."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return subprocess.Popen(
        [sys.executable, "-m", "latchfree_cli", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def test_ok_prints_the_seed() -> None:
    result = CliRunner().invoke(app, ["stress", "ctrie", "--operations", "20000", "--seed", "7"])
    assert result.exit_code == exits.OK, result.output
    assert result.stdout.splitlines()[0] == "stress ctrie: seed 7"
    assert "ok: 20,000 operations" in result.stdout


def test_json() -> None:
    result = CliRunner().invoke(app, ["stress", "ctrie", "--operations", "8000", "--threads", "2", "--json"])
    document = json.loads(result.stdout)
    assert (document["version"], document["verdict"], document["operations"]) == (1, "ok", 8000)
    assert document["threads"] == 2
    assert document["seed"] >= 0
    assert [history["verdict"] for history in document["histories"]] == ["ok"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["stack"], "no target is called 'stack'; the targets are ctrie, topic-trie, lifecycle"),
        (["ctrie", "--shape", "cube"], "unknown shape 'cube'"),
        (["topic-trie", "--shape", "tree"], "unknown shape 'tree' of topic-trie; there are: apart, together, deep"),
        (["topic-trie", "--mutant", "W1"], "mutant W1 is one of ctrie, not of topic-trie"),
        (["ctrie", "--keys", "1000"], "keys must be from 1 to 64"),
        (["ctrie", "--mutant", "Z9"], "unknown mutant 'Z9'; there are: S1"),
    ],
)
def test_wrong_usage(arguments: list[str], words: str) -> None:
    result = CliRunner().invoke(app, ["stress", *arguments])
    assert result.exit_code == exits.USAGE
    assert words in result.stderr


def last_line_of_a_violation(target: str, mutant: str) -> list[str]:
    """Run the mutant until its threads meet where it is wrong, mostly at once; return the last line printed."""
    for seed in range(10):
        options = ["--mutant", mutant, "--memory", "jittered", "--seed", str(seed), "-o", "files"]
        with start(["stress", target, *options]) as process:
            stdout, stderr = process.communicate(timeout=1200)
        if process.returncode != exits.OK:
            break
    assert process.returncode == exits.VIOLATION, stdout + stderr
    command = stdout.splitlines()[-1].split()
    assert command[:3] == ["latchfree", "check", f"files/stress-{target}-{seed}.jsonl"]
    return command


def test_a_mutant_is_a_violation_that_its_last_line_reproduces() -> None:
    command = last_line_of_a_violation("ctrie", "W2")
    assert command[3:] == ["--model", "map"]
    assert CliRunner().invoke(app, command[1:]).exit_code == exits.VIOLATION


def test_a_topic_trie() -> None:
    result = CliRunner().invoke(app, ["stress", "topic-trie", "--operations", "4000", "--seed", "7"])
    assert result.exit_code == exits.OK, result.output
    assert "ok: 3,984 operations" in result.stdout, "whole rounds only"


@pytest.mark.slow
def test_a_mutant_of_the_topic_trie() -> None:
    command = last_line_of_a_violation("topic-trie", "C3")
    assert command[3:] == ["--model", "topic-index:mqtt"]
    assert CliRunner().invoke(app, command[1:]).exit_code == exits.VIOLATION


def test_interrupt() -> None:
    with start(["stress", "ctrie", "--operations", "1000000000"]) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("stress ctrie: seed ")
        _, stderr = interrupt(process)
    assert process.returncode == exits.INTERRUPTED
    assert stderr.endswith("latchfree: interrupted\n")


def test_lifecycle_prints_what_was_run() -> None:
    result = CliRunner().invoke(app, ["stress", "lifecycle", "--programs", "2", "--seed", "20120225"])
    assert result.exit_code == exits.OK, result.output
    first, second = result.stdout.splitlines()
    assert first == "stress lifecycle: seed 20120225"
    assert second.startswith("stress lifecycle: ok: 2 programs of ")


def test_lifecycle_as_json() -> None:
    result = CliRunner().invoke(app, ["stress", "lifecycle", "--programs", "1", "--seed", "20120225", "--json"])
    document = json.loads(result.stdout)
    assert (document["verdict"], document["target"], document["programs"]) == ("ok", "lifecycle", 1)
    assert document["seed"] == 20120225
    assert document["failure"] is None


def test_lifecycle_of_a_program_that_fails(tmp_path: Path) -> None:
    steps = [{"do": "pause", "for": 1}, {"do": "fault:crash"}]
    program = {
        "format": "latchfree lifecycle 2", "seed": 5, "number": 3, "arena": "path", "bystander": False,
        "processes": [{"who": 0, "steps": steps}], "signals": [],
    }  # fmt: skip
    (tmp_path / "program.json").write_text(json.dumps(program))
    arguments = ["stress", "lifecycle", "--program", "program.json", "-o", "found"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == exits.VIOLATION, result.output
    assert "process 0 died of SIGSEGV" in result.stdout
    command = result.stdout.splitlines()[-1].split()
    assert command == ["latchfree", "stress", "lifecycle", "--program", "found/lifecycle-5-3.json"]
    small = json.loads((tmp_path / "found/lifecycle-5-3.json").read_text())
    assert [each["steps"] for each in small["processes"]] == [[{"do": "fault:crash"}]]
    (tmp_path / "program.json").write_text("{}")
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == exits.USAGE
    assert "program.json: not a program of `latchfree stress lifecycle`" in result.stderr


def test_interrupted_lifecycle_leaves_no_process_and_no_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with start(["stress", "lifecycle", "--programs", "1000000"]) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("stress lifecycle: seed ")
        while not list(tmp_path.glob("lifecycle-*/lifecycle-*")):
            assert process.poll() is None
            time.sleep(0.05)
        _, stderr = interrupt(process)
    assert process.returncode == exits.INTERRUPTED
    assert stderr.endswith("latchfree: interrupted\n")
    assert list(tmp_path.iterdir()) == []
    assert not [path for path in Path("/proc").glob("[0-9]*/cmdline") if str(tmp_path).encode() in _content(path)]


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
