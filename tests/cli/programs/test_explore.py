"""``latchfree explore`` and ``latchfree replay``: verdicts, files, exit codes, Ctrl-C."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from typer.testing import CliRunner

import latchfree_explore
from latchfree_cli import exits
from latchfree_cli.app import app
from latchfree_cli.settings import Report, Settings

EXAMPLES = Path(latchfree_explore.__file__).parent / "examples"
LOST = f"{EXAMPLES / 'counter.py'}:lost_update"
CAS = f"{EXAMPLES / 'counter.py'}:cas_counter"
TREIBER = f"{EXAMPLES / 'treiber.py'}:treiber"


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run where files may be written."""
    monkeypatch.chdir(tmp_path)


def run(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.stdout


def test_everything_holds() -> None:
    code, text = run("explore", CAS, "--scenario", "increment | increment | increment", "--seed", "5")
    assert code == exits.OK
    assert "seed 5" in text.splitlines()[0]
    assert "ok: linearizable in every interleaving" in text
    assert "stand for 498 interleavings" in text


def test_a_violation_is_shown_written_and_replayed(tmp_path: Path) -> None:
    code, text = run("explore", LOST, "--scenario", "increment | increment", "--seed", "5", "--emit-test", "test_it.py")
    assert code == exits.VIOLATION
    assert "increment_in_two_steps counter.py:" in text
    assert "thread 0" in text
    assert "thread 1" in text
    assert (tmp_path / "test_it.py").is_file()
    command = text.splitlines()[-1].split()
    assert command[:2] == ["latchfree", "replay"]
    code, again = run(*command[1:])
    assert code == exits.VIOLATION
    assert again.splitlines()[-1].split() == command
    assert "not linearizable" in again


def test_json() -> None:
    code, text = run("explore", LOST, "--scenario", "increment | increment", "--json")
    document = json.loads(text)
    assert code == exits.VIOLATION
    assert document["verdict"] == "violation"
    assert document["failure"]["preemptions"] == 1
    assert document["reproduce"].startswith("latchfree replay out")


def test_cut_short_is_undecided() -> None:
    code, text = run(
        "explore", TREIBER, "--scenario", "push(1); pop | push(2); pop | push(3); pop", "--schedules", "20"
    )
    assert code == exits.INCONCLUSIVE
    assert "not every interleaving was run" in text


@pytest.mark.parametrize(
    "arguments",
    [
        ["explore", "nothing"],
        ["explore", "nowhere.py"],
        ["explore", LOST, "--scenario", "increment |"],
        ["explore", LOST, "--scenario", "decrement"],
        ["explore", LOST, "--strategy", "directed"],
        ["explore", "ctrie", "--mutant", "Z9"],
        ["explore", "ctrie", "--mutant", "X9"],
        ["explore", "reclaiming-ctrie", "--mutant", "Q1"],
        ["replay", "nowhere.json"],
    ],
)
def test_usage(arguments: list[str]) -> None:
    assert run(*arguments)[0] == exits.USAGE


def test_a_malformed_replay_file(tmp_path: Path) -> None:
    (tmp_path / "case.json").write_text('{"latchfree": "replay"}')
    result = CliRunner().invoke(app, ["replay", "case.json"])
    assert result.exit_code == exits.USAGE
    assert "case.json: version None" in result.stderr


def test_ctrl_c_ends_with_what_was_covered(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def pressed_at_the_first_report(settings: Settings, text: str) -> Iterator[Report]:
        def report(text: str) -> None:
            raise KeyboardInterrupt

        yield report

    monkeypatch.setattr(Settings, "progress", pressed_at_the_first_report)
    code, text = run("explore", TREIBER, "--scenario", "push(1); pop | push(2); pop | push(3); pop", "--json")
    document = json.loads(text)
    assert code == exits.INTERRUPTED
    assert document["interrupted"]
    assert document["schedules"] > 0
