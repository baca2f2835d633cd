"""`latchfree learn`: what it prints, how it ends, and that Ctrl-C and a reader that has gone end it cleanly."""

import errno
import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from contextlib import suppress
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
    result = learn("--check")
    assert result.exit_code == exits.USAGE
    assert "no lesson has been begun in lessons" in result.stderr
    assert not Path("lessons").exists()


def test_a_full_disk_is_said_and_leaves_no_half_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "lessons/02_locks.py")

    monkeypatch.setattr("latchfree_teach.learning.desk.Desk.file", full)
    result = learn("2", "--check")
    assert result.exit_code == exits.USAGE
    assert "cannot use lessons/02_locks.py: No space left on device; choose another folder" in result.stderr


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


def test_the_end_while_an_answer_is_graded_leaves_no_trace() -> None:
    """An answer without an end is still graded when the student leaves."""
    Path("lessons").mkdir()
    endless = LESSON.hole.replace("count = load(mem, root)", "while ONE == ONE:\n        pass")
    Path("lessons/01_lost_update.py").write_text(endless)
    process = started("1")
    assert process.stdout is not None
    assert process.stdout.readline().startswith("lesson 1")
    assert process.stdout.readline().startswith("write")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert (process.returncode, errors) == (exits.INTERRUPTED, "latchfree: interrupted\n")


def test_a_terminal_of_any_size_and_its_end() -> None:
    """Ctrl-D in a terminal of one column ends the session as q does, and the terminal is as it was."""
    child, terminal = pty.fork()
    if child == 0:
        os.execvpe(sys.executable, [sys.executable, "-m", "latchfree_cli", "learn"], environment())
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 1, 1, 0, 0))
    said = b""
    while b"points" not in said:
        said += os.read(terminal, 1 << 16)
    os.write(terminal, b"l\x00\xff\x04")
    with suppress(OSError):  # as Linux says that the other side has closed
        while piece := os.read(terminal, 1 << 16):
            said += piece
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == exits.OK
    assert b"Stores that wait" in said
    assert b"Traceback" not in said


def test_sigterm_leaves_the_terminal_as_it_was() -> None:
    ours, theirs = pty.openpty()
    before = termios.tcgetattr(theirs)
    command = [sys.executable, "-m", "latchfree_cli", "learn"]
    process = subprocess.Popen(command, stdin=theirs, stdout=subprocess.PIPE, env=environment(), text=True)
    assert process.stdout is not None
    while "points" not in process.stdout.readline():
        pass
    assert termios.tcgetattr(theirs) != before
    process.terminate()
    assert process.wait(timeout=300) == -signal.SIGTERM
    process.stdout.close()
    assert termios.tcgetattr(theirs) == before
    os.close(ours)
    os.close(theirs)


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
