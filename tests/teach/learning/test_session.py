"""A session grades what is saved, answers keys, and moves on only when it is asked to."""

import os
from contextlib import suppress
from pathlib import Path

import pytest

from latchfree_teach import Graded, find_lesson, lessons
from latchfree_teach.grading.result import FAILED, PASSED, CheckResult
from latchfree_teach.learning import keyboard as keys
from latchfree_teach.learning.desk import Desk
from latchfree_teach.learning.session import HELP, Session, quiz_of

FIRST = find_lesson("1")


class Quick:
    """A grader without a process: a text passes if it says so."""

    def __init__(self) -> None:
        self.graded: list[str] = []

    def grade(self, lesson, text, name):
        self.graded.append(name)
        right = "right" in text
        check = CheckResult("a | b", 1, PASSED if right else FAILED, "" if right else "deadlock", "all wait")
        return Graded(name, lesson.name, "graded", checks=[check], hint="" if right else "look again")


class Student:
    """Presses keys and saves the file, one step each time the session waits."""

    def __init__(self, *steps: str | tuple[Path, str]) -> None:
        self.steps = list(steps)

    def __call__(self, seconds: float) -> str:
        step = self.steps.pop(0) if self.steps else "q"
        if isinstance(step, str):
            return step
        path, text = step
        path.write_text(text)
        os.utime(path, ns=(0, len(self.steps) + 1))  # a coarse clock must not hide the second of two quick saves
        return ""


def run(folder: Path, *steps: str | tuple[Path, str]) -> tuple[list[str], Quick, Session]:
    said: list[str] = []
    quick = Quick()
    session = Session(Desk(folder), FIRST, quick, said.append)
    session.run(Student(*steps))
    return said, quick, session


def test_each_save_is_graded_once(tmp_path: Path) -> None:
    path = tmp_path / "01_lost_update.py"
    said, quick, session = run(tmp_path, "", (path, "wrong"), "", "", (path, "right"), "", "")
    assert quick.graded == ["01_lost_update.py"] * 3  # the hole, and what was saved
    assert "hint: look again" in said[-3]
    assert said[-2] == "01_lost_update.py: 1 of 1 points: every check passed"
    assert said[-1] == quiz_of(FIRST)
    assert session.desk.finished == [FIRST.name]


def test_it_moves_on_when_asked_and_passed(tmp_path: Path) -> None:
    path = tmp_path / "01_lost_update.py"
    said, _, session = run(tmp_path, "n", (path, "right"), "")
    assert "not been passed" in "".join(said)
    assert session.lesson == FIRST
    said, quick, session = run(tmp_path, "n", "")
    assert session.lesson == find_lesson("2")
    assert quick.graded == ["01_lost_update.py", "02_locks.py"]
    assert (tmp_path / "02_locks.py").read_text() == find_lesson("2").hole
    assert any(text.startswith("lesson 2: Locks") for text in said)


def test_after_the_last_lesson_there_is_none(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    said: list[str] = []
    session = Session(desk, lessons()[-1], Quick(), said.append)
    desk.finish(lessons()[-1])
    session.press("n")
    assert said == ["this is the last lesson there is"]


def test_keys(tmp_path: Path) -> None:
    said, quick, session = run(tmp_path, "p", "l", "h", "?", "r", "", "c")
    text = "\n".join(said)
    assert FIRST.page.rstrip() in said
    assert " 1  here  The lost update (45 minutes)" in text
    assert f"hint 1 of 3: {FIRST.hints[0]}" in said
    assert HELP in said
    assert "the hole is back in place" in text
    assert (tmp_path / "01_lost_update.py.1").read_text() == FIRST.hole
    assert len(quick.graded) == 3  # at the beginning, after the reset, and for "c"
    assert session.lesson == FIRST


def test_an_editor_that_puts_another_file_in_its_place_loses_nothing(tmp_path: Path) -> None:
    session = Session(Desk(tmp_path), FIRST, Quick(), lambda text: None)
    session.begin()
    assert session.changed()
    path = tmp_path / "01_lost_update.py"
    path.rename(tmp_path / "aside")
    assert not session.changed()
    assert not path.exists()
    (tmp_path / "aside").rename(path)
    assert not session.changed()


def test_a_file_that_is_no_text_is_said_and_watched_on(tmp_path: Path) -> None:
    said: list[str] = []
    session = Session(Desk(tmp_path), FIRST, Quick(), said.append)
    session.begin()
    path = tmp_path / "01_lost_update.py"
    path.write_bytes(b"\xff")
    assert not session.check()
    assert "UTF-8" in said[-1]
    path.unlink()
    assert not session.check()
    assert said[-1] == f"{path}: No such file or directory"


def test_keys_of_a_terminal_come_one_by_one_and_the_terminal_is_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    import termios

    ours, theirs = os.openpty()
    before = termios.tcgetattr(theirs)
    with os.fdopen(theirs) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        with suppress(KeyboardInterrupt), keys.keyboard() as key:
            assert termios.tcgetattr(theirs)[3] & termios.ICANON == 0
            os.write(ours, b"Hn")
            assert (key(60), key(60), key(0)) == ("h", "n", "")
            raise KeyboardInterrupt
        assert termios.tcgetattr(theirs) == before
    os.close(ours)


def test_lines_of_a_pipe_are_keys_and_its_end_is_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"h\n")
    os.close(writing)
    with os.fdopen(reading) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        with keys.keyboard() as key:
            assert [key(60) for _ in range(3)] == ["h", "", "q"]


def test_without_standard_input_nobody_presses_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with keys.keyboard() as key:
        assert key(0) == ""
