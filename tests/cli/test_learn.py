"""`latchfree learn`: what it prints, how it ends, and that Ctrl-C and a reader that has gone end it cleanly."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli_processes import environment
from typer.testing import CliRunner, Result

from latchfree_cli import exits
from latchfree_cli.app import app
from latchfree_teach import find_lesson, lessons

LESSON = find_lesson("1")


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run where files may be written."""
    monkeypatch.chdir(tmp_path)


def learn(*words: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(app, ["learn", *words])


def started(*words: str) -> subprocess.Popen[str]:
    """Start the command with pipes."""
    return subprocess.Popen(
        [sys.executable, "-m", "latchfree_cli", "learn", *words],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(),
    )  # fmt: skip


def test_the_list_has_every_lesson() -> None:
    result = learn("--list")
    assert result.exit_code == exits.OK
    assert len(result.stdout.splitlines()) == len(lessons())


def test_a_check_ends_with_the_verdict() -> None:
    result = learn("1", "--check")
    assert result.exit_code == exits.VIOLATION, result.output
    assert Path("lessons/01_lost_update.py").read_text() == LESSON.hole
    Path("lessons/01_lost_update.py").write_text(LESSON.solution)
    result = learn("--check", "--json")
    assert result.exit_code == exits.OK, result.output
    assert '"finished": ["01_lost_update"]' in result.stdout


def test_without_files_there_is_nothing_to_check() -> None:
    assert learn("--check").exit_code == exits.OK


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["99"], "there is no lesson '99'"),
        (["--folder", "taken"], "taken: File exists"),
        (["--folder", "broken"], "no state that latchfree learn wrote"),
    ],
)
def test_what_makes_no_sense_is_usage(words: list[str], problem: str) -> None:
    Path("taken").write_text("")
    Path("broken").mkdir()
    Path("broken/progress.json").write_text("x")
    result = learn(*words)
    assert result.exit_code == exits.USAGE
    assert problem in result.stderr


def test_ctrl_c_ends_it_and_its_grader() -> None:
    process = started()
    assert process.stdout is not None
    while "points" not in process.stdout.readline():
        pass
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert (process.returncode, errors) == (exits.INTERRUPTED, "latchfree: interrupted\n")


def test_a_reader_that_has_gone_ends_it() -> None:
    process = started()
    assert process.stdout is not None
    assert process.stdout.readline().startswith("lesson 1")
    process.stdout.close()
    assert process.wait(timeout=300) == exits.PIPE_CLOSED
    for pipe in (process.stdin, process.stderr):
        assert pipe is not None
        pipe.close()
    assert [path.name for path in Path("lessons").iterdir()] == ["01_lost_update.py"]
