"""A lesson: a folder with a page, a hole to fill, a solution, wrong answers, right variants, hints and a quiz.

Example: `find_lesson("1")` reads ``lessons/01_lost_update``. Its ``hole.py`` is a whole program in which the functions
that ``lesson.toml`` lists are left to the student.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent / "lessons"


@dataclass(frozen=True)
class Check:
    """One scenario of a lesson.

    Attributes
    ----------
    scenario : str
        As `latchfree_explore.Scenario` reads it.
    points : int
    alone : bool
        Whether each thread alone must also finish its operation, from every state that is reached.
    random : int
        So many random schedules instead of all, the same ones each time: for long programs, in which a thread is
        disturbed again and again.
    options : mapping
        What a check of another kind than compiled kernels needs.
    """

    scenario: str
    points: int = 1
    alone: bool = False
    random: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The scenario, and what else is asked."""
        asked = "; each thread alone finishes" if self.alone else ""
        return f"{self.scenario}{asked}{f'; {self.random:,} random schedules' if self.random else ''}"


@dataclass(frozen=True)
class Question:
    """One question of a quiz: the answers to choose from, the number of the right one, and why."""

    text: str
    answers: tuple[str, ...]
    right: int
    why: str


@dataclass(frozen=True)
class Lesson:
    """A lesson.

    Attributes
    ----------
    folder : Path
    number : int
    title : str
    minutes : int
        What a student takes for it.
    target : str
        The name of the target in ``hole.py``.
    holes : tuple of str
        The functions that the student writes.
    names : tuple of str
        What the student may use of the names that ``hole.py`` imports or defines.
    checks : tuple of Check
        From small to large.
    hints : tuple of str
        Three, each saying more than the one before.
    quiz : tuple of Question
    mistakes : mapping
        The name of each wrong answer -> its fingerprint and its hint.
    play : tuple of mapping
        What there is to play: a `mutant`, or a wrong `answer` with a `scenario`; each with a `title`.
    kind : str
        "kernels", which the explorer runs; "histories", plain functions; "spec", a module for TLC.
    """

    folder: Path
    number: int
    title: str
    minutes: int
    target: str
    holes: tuple[str, ...]
    names: tuple[str, ...]
    checks: tuple[Check, ...]
    hints: tuple[str, ...]
    quiz: tuple[Question, ...]
    mistakes: dict[str, dict[str, str]] = field(repr=False)
    play: tuple[dict[str, str], ...] = ()
    kind: str = "kernels"

    @property
    def name(self) -> str:
        """The name of its folder, such as ``01_lost_update``."""
        return self.folder.name

    @property
    def suffix(self) -> str:
        """How the names of its programs end."""
        return ".tla" if self.kind == "spec" else ".py"

    @property
    def points(self) -> int:
        """What a right answer is worth."""
        return sum(check.points for check in self.checks)

    @cached_property
    def page(self) -> str:
        """The text to read."""
        return self._read("page.md")

    @cached_property
    def hole(self) -> str:
        """The program with the hole."""
        return self._read(f"hole{self.suffix}")

    @cached_property
    def solution(self) -> str:
        """An answer that is right."""
        return self._read(f"solution{self.suffix}")

    @property
    def wrong(self) -> dict[str, str]:
        """The wrong answers, by name."""
        return self._answers("wrong")

    @property
    def right(self) -> dict[str, str]:
        """Right answers written otherwise than the solution, by name."""
        return self._answers("right")

    def mistake(self, fingerprint: str) -> str:
        """Return the name of the wrong answer that behaves so, "" if none is known."""
        return next((name for name, known in self.mistakes.items() if known["fingerprint"] == fingerprint), "")

    def _read(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def _answers(self, folder: str) -> dict[str, str]:
        found = sorted((self.folder / folder).glob(f"*{self.suffix}"))
        return {file.stem: file.read_text(encoding="utf-8") for file in found}


def read_lesson(folder: Path) -> Lesson:
    """Read the lesson in a folder."""
    told: dict[str, Any] = tomllib.loads((folder / "lesson.toml").read_text(encoding="utf-8"))
    return Lesson(
        folder=folder,
        number=int(folder.name.partition("_")[0]),
        title=told["title"],
        minutes=told["minutes"],
        target=told["target"],
        holes=tuple(told["holes"]),
        names=tuple(told["names"]),
        checks=tuple(Check(**each) for each in told["check"]),
        hints=tuple(told["hints"]),
        quiz=tuple(Question(each["text"], tuple(each["answers"]), each["right"], each["why"]) for each in told["quiz"]),
        mistakes=told["wrong"],
        play=tuple(told.get("play", ())),
        kind=told.get("kind", "kernels"),
    )


def lessons() -> list[Lesson]:
    """Return all lessons, in order."""
    return [read_lesson(folder) for folder in sorted(FOLDER.iterdir()) if (folder / "lesson.toml").is_file()]


def find_lesson(name: str) -> Lesson:
    """Return the lesson of a number, such as "1", or of a name, such as "lost_update" or "01_lost_update".

    Raises
    ------
    ValueError
        If there is none; the message lists them.
    """
    known = lessons()
    for lesson in known:
        if name in (str(lesson.number), lesson.name, lesson.name.partition("_")[2]):
            return lesson
    listing = ", ".join(f"{lesson.number} {lesson.name.partition('_')[2]}" for lesson in known)
    raise ValueError(f"there is no lesson {name!r}; the lessons are {listing}")
