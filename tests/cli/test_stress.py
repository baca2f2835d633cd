"""``latchfree stress`` and ``latchfree mutants`` on the compiled Ctrie: small runs, each mutant in a fresh process."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

import latchfree_lincheck.mutants
from latchfree_cli import code_mutants, exits, specs
from latchfree_cli.main import app
from latchfree_cli.settings import Settings

DATA = Path(__file__).parents[1] / "model" / "data"


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run where files may be written."""
    monkeypatch.chdir(tmp_path)


def start(arguments: Sequence[str]) -> subprocess.Popen[str]:
    """Run the command in a fresh process."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    return subprocess.Popen(
        [sys.executable, "-m", "latchfree_cli.main", *arguments],
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
        (["stack"], "no target is called 'stack'; the targets are ctrie"),
        (["ctrie", "--shape", "cube"], "unknown shape 'cube'"),
        (["ctrie", "--keys", "1000"], "keys must be from 1 to 64"),
        (["ctrie", "--mutant", "Z9"], "unknown mutant 'Z9'; there are: S1"),
    ],
)
def test_wrong_usage(arguments: list[str], words: str) -> None:
    result = CliRunner().invoke(app, ["stress", *arguments])
    assert result.exit_code == exits.USAGE
    assert words in result.stderr


def test_a_mutant_is_a_violation_that_its_last_line_reproduces() -> None:
    with start(["stress", "ctrie", "--mutant", "W1", "--seed", "3", "-o", "files"]) as process:
        stdout, stderr = process.communicate(timeout=300)
    assert process.returncode == exits.VIOLATION, stdout + stderr
    command = stdout.splitlines()[-1].split()
    assert command == ["latchfree", "check", "files/stress-ctrie-3.jsonl", "--model", "map"]
    assert CliRunner().invoke(app, command[1:]).exit_code == exits.VIOLATION


def test_interrupt() -> None:
    with start(["stress", "ctrie", "--operations", "1000000000"]) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("stress ctrie: seed ")
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=120)
    assert process.returncode == exits.INTERRUPTED
    assert stderr.endswith("latchfree: interrupted\n")


def only(monkeypatch: pytest.MonkeyPatch, **options: dict[str, object] | None) -> None:
    """Pretend that these are all the mutants of the code."""
    mutants = {name: SimpleNamespace(summary="", stress=stress) for name, stress in options.items()}
    monkeypatch.setattr(latchfree_lincheck.mutants, "MUTANTS", mutants)
    monkeypatch.setattr(specs, "spec_dir", lambda: DATA)


def test_the_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, W1={"shape": "tree"}, X1=None)
    result = CliRunner().invoke(app, ["mutants", "--seed", "1"])
    assert result.exit_code == exits.OK, result.output
    rows = [[cell.split("(")[0].strip() for cell in line.split("│")[1:-1]] for line in result.stdout.splitlines()]
    assert [row for row in rows if row] == [["C1", "caught", "not applicable"], ["W1", "not applicable", "caught"]]
    assert result.stdout.splitlines()[-1] == "2 of 2 caught (seed 1)"


def test_a_mutant_that_is_missed_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two operations cannot show any mutant to be wrong."""
    only(monkeypatch, W1={"operations": 2, "threads": 2})
    result = CliRunner().invoke(app, ["mutants", "--layer", "stress", "--seed", "1"])
    assert result.exit_code == exits.VIOLATION
    assert "MISSED" in result.stdout
    assert result.stdout.splitlines()[-1].startswith("latchfree stress ctrie --mutant W1 --operations 2")


def test_a_mutant_that_does_not_run_is_no_catch(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, Z9={})
    result = CliRunner().invoke(app, ["mutants", "--layer", "stress", "--json"])
    assert result.exit_code == exits.TOOL
    (cell,) = json.loads(result.stdout)["mutants"]
    assert cell["status"] == "failed"
    assert "unknown mutant 'Z9'" in cell["detail"]


@pytest.mark.parametrize(
    ("code", "stdout", "status"),
    [
        (1, '{"verdict": "violation", "reason": "r"}', "caught"),
        (1, "Traceback", "failed"),
        (0, '{"verdict": "ok", "operations": 5}', "MISSED"),
        (3, '{"verdict": "unknown", "reason": "timeout"}', "unknown"),
        (70, '{"verdict": null, "error": "e"}', "failed"),
        (-9, "", "failed"),
    ],
)
def test_what_counts_as_caught(monkeypatch: pytest.MonkeyPatch, code: int, stdout: str, status: str) -> None:
    ended = subprocess.CompletedProcess([], code, stdout, "")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: ended)
    assert code_mutants.run_mutant("S1", {"shape": "tree"}, Settings(seed=1)).status == status


def test_no_mutants(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch)
    assert CliRunner().invoke(app, ["mutants", "--layer", "stress"]).exit_code == exits.NOTHING
