"""The desk keeps what a student wrote, and what has been done."""

import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from latchfree_teach import find_lesson, lessons
from latchfree_teach.learning.desk import STATE, Desk

FIRST, SECOND = find_lesson("1"), find_lesson("2")


def test_a_file_that_is_there_is_never_overwritten(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "new" / "lessons")
    path = desk.file(FIRST)
    assert path.read_text() == FIRST.hole
    path.write_text("mine")
    assert desk.file(FIRST).read_text() == "mine"


def test_a_reset_keeps_every_copy(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    for text in ("one", "two"):
        desk.file(FIRST).write_text(text)
        kept = desk.reset(FIRST)
        assert kept.read_text() == text
        assert desk.file(FIRST).read_text() == FIRST.hole
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "01_lost_update.py",
        "01_lost_update.py.1",
        "01_lost_update.py.2",
    ]


def test_what_has_been_done_is_there_the_next_time(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    assert desk.current == FIRST
    hints = [desk.hint(FIRST) for _ in range(4)]
    assert hints == [f"hint {k + 1} of 3: {FIRST.hints[k]}" for k in (0, 1, 2, 2)]
    desk.finish(FIRST)
    desk.finish(FIRST)
    again = Desk(tmp_path)
    assert (again.finished, again.current) == ([FIRST.name], SECOND)
    for lesson in lessons():
        again.finish(lesson)
    assert Desk(tmp_path).current is None


@pytest.mark.parametrize(
    "text",
    ["", "x", "[]", "{}", '{"version": 2, "finished": [], "hints": {}}', '{"version": 1, "finished": {}, "hints": {}}',
     '{"version": 1, "finished": [1], "hints": {}}', '{"version": 1, "finished": [], "hints": {"a": -1}}',
     "[" * 100_000],
)  # fmt: skip
def test_a_foreign_state_is_refused_and_left(tmp_path: Path, text: str) -> None:
    (tmp_path / STATE).write_text(text)
    with pytest.raises(ValueError, match="no state that latchfree learn wrote"):
        Desk(tmp_path)
    assert (tmp_path / STATE).read_text() == text


def test_two_terminals_lose_nothing(tmp_path: Path) -> None:
    one, other = Desk(tmp_path), Desk(tmp_path)
    one.finish(FIRST)
    other.finish(SECOND)
    other.hint(FIRST)
    one.hint(SECOND)
    assert Desk(tmp_path).finished == [FIRST.name, SECOND.name]
    assert Desk(tmp_path).hint(FIRST).startswith("hint 2")
    assert Desk(tmp_path).hint(SECOND).startswith("hint 2")


def test_processes_that_finish_lessons_at_once_lose_none(tmp_path: Path) -> None:
    program = "import sys; from pathlib import Path; from latchfree_teach import find_lesson; "
    program += "from latchfree_teach.learning.desk import Desk; desk = Desk(Path(sys.argv[1])); sys.stdin.read(1); "
    program += "[desk.finish(find_lesson(n)) for n in sys.argv[2:]]"
    command = [sys.executable, "-c", program, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    halves = [[str(n) for n in range(first, 13, 2)] for first in (1, 2)]
    started = [subprocess.Popen([*command, *half], stdin=subprocess.PIPE, env=environment) for half in halves]
    for process in started:
        assert process.stdin is not None
        process.stdin.write(b"!")
        process.stdin.close()
    assert [process.wait() for process in started] == [0, 0]
    assert Desk(tmp_path).finished == [lesson.name for lesson in lessons()]


def test_half_a_hole_is_not_left(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    limited = resource.getrlimit(resource.RLIMIT_FSIZE)
    kept = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limited[1]))
    try:
        assert len(FIRST.hole) > 100
        with pytest.raises(OSError, match="File too large"):
            desk.file(FIRST)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limited)
        signal.signal(signal.SIGXFSZ, kept)
    assert list(tmp_path.iterdir()) == []
    assert desk.file(FIRST).read_text() == FIRST.hole


def test_a_state_of_lessons_that_are_gone_is_taken(tmp_path: Path) -> None:
    (tmp_path / STATE).write_text(json.dumps({"version": 1, "finished": ["99_gone"], "hints": {}}))
    assert Desk(tmp_path).finished == []


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        Desk(tmp_path / "file")
