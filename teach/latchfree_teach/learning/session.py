"""A session: watch one file, grade it whenever it is saved, and answer the keys of the student.

A key is a letter: n next lesson, h hint, p page, l list, r reset, c check all, q quit. The session moves on to the next
lesson only when it is asked to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from latchfree_teach.course.lesson import Lesson, lessons
from latchfree_teach.grading.grader import Grader, read_submission
from latchfree_teach.grading.reports.text import line_of, report
from latchfree_teach.learning.desk import Desk

HELP: Final = "n next  h hint  p page  l list  r reset  c check all  q quit"
POLL: Final = 0.2
"""Seconds between two looks at the file."""


class Session:
    """What a student does with the lessons.

    Parameters
    ----------
    desk : Desk
    lesson : Lesson
        Where to begin.
    grader : Grader
    say : callable
        Prints a text.
    """

    def __init__(self, desk: Desk, lesson: Lesson, grader: Grader, say: Callable[[str], None]) -> None:
        self.desk, self.lesson, self._grader, self._say = desk, lesson, grader, say
        self._seen: tuple[int, int] | None = None
        self._keys: dict[str, Callable[[], object]] = {
            "n": self.next,
            "h": lambda: say(desk.hint(self.lesson)),
            "p": self.page,
            "l": self.list,
            "r": self.reset,
            "c": self.check_all,
        }

    def run(self, key: Callable[[float], str]) -> None:
        """Watch until the student quits.

        Parameters
        ----------
        key : callable
            Waits up to so many seconds, and returns the key that was pressed: "" if none was, "q" to quit.
        """
        self.begin()
        while True:
            if self.changed():
                self.check()
            pressed = key(POLL)
            if pressed == "q":
                return
            if pressed:
                self.press(pressed)

    def begin(self) -> None:
        """Say what the lesson is about and where its file is."""
        path = self.desk.file(self.lesson)
        self._seen = None
        self._say(f"lesson {self.lesson.number}: {self.lesson.title}, about {self.lesson.minutes} minutes")
        self._say(f"write {', '.join(self.lesson.holes)} in {path}, and save; {HELP}")

    def press(self, key: str) -> None:
        """Do what a key says."""
        act = self._keys.get(key)
        if act is None:
            self._say(HELP)
            return
        try:
            act()
        except OSError as error:
            self._say(f"{error.filename or self.desk.folder}: {error.strerror}; put it right, or begin anew elsewhere")

    def changed(self) -> bool:
        """Return whether the file has been saved since the last look, or has not been looked at."""
        try:
            found = self.desk.path(self.lesson).stat()
        except OSError:  # an editor is putting another in its place, or it cannot be looked at
            return False
        now = found.st_mtime_ns, found.st_size
        if now == self._seen:
            return False
        self._seen = now
        return True

    def check(self, *, whole: bool = True) -> bool:
        """Grade the file of this lesson; return whether it passed."""
        path = self.desk.path(self.lesson)
        try:
            text = read_submission(path)
        except (OSError, ValueError) as error:
            self._say(f"{path}: {error.strerror}" if isinstance(error, OSError) else str(error))
            return False
        graded = self._grader.grade(self.lesson, text, path.name)
        self._say(report(graded) if whole and not graded.passed else line_of(graded))
        if graded.passed:
            self.desk.finish(self.lesson)
            if whole:
                self._say(quiz_of(self.lesson))
        return graded.passed

    def next(self) -> None:
        """Go on to the next lesson, if this one has been passed."""
        known = lessons()
        if self.lesson.name not in self.desk.finished:
            self._say("this lesson has not been passed yet; h gives a hint")
        elif self.lesson.number == len(known):
            self._say("this is the last lesson there is")
        else:
            self.lesson = known[self.lesson.number]
            self.begin()

    def page(self) -> None:
        """Print the page of the lesson."""
        self._say(self.lesson.page.rstrip())

    def list(self) -> None:
        """Print all lessons, and which have been passed."""
        self._say(listing(self.desk, self.lesson))

    def reset(self) -> None:
        """Put the hole back in place, and keep what was there."""
        kept = self.desk.reset(self.lesson)
        self._say(f"the hole is back in place; what you had is in {kept}")

    def check_all(self) -> bool:
        """Grade every lesson that has a file; return whether all of them passed."""
        here = self.lesson
        passed = []
        for lesson in lessons():
            if self.desk.path(lesson).exists():
                self.lesson = lesson
                passed.append(self.check(whole=False))
        self.lesson = here
        return all(passed)


def listing(desk: Desk, current: Lesson | None = None) -> str:
    """Return all lessons as text, a line each."""
    lines = []
    for lesson in lessons():
        mark = "done" if lesson.name in desk.finished else "here" if lesson == current else ""
        lines.append(f"{lesson.number:>2}  {mark:<4}  {lesson.title} ({lesson.minutes} minutes)")
    return "\n".join(lines)


def quiz_of(lesson: Lesson) -> str:
    """Return the questions of a lesson as text, the answers below."""
    lines = ["questions to think about:"]
    for number, question in enumerate(lesson.quiz, start=1):
        lines.append(f"  {number}. {question.text}")
        lines += [f"     {'abcdef'[k]}) {answer}" for k, answer in enumerate(question.answers)]
    lines.append("answers:")
    lines += [f"  {k}. {'abcdef'[question.right]}) {question.why}" for k, question in enumerate(lesson.quiz, start=1)]
    return "\n".join(lines)
