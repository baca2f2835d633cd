"""What a lesson has to play: a wrong answer, a known bug of the package, or the states of a specification.

Wrong answers have no lines of source on their pages, since they share most lines with right ones.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from latchfree_teach.course.lesson import Lesson, read_lesson
from latchfree_teach.grading.assembling import target_of
from latchfree_teach.grading.syntax import admit
from latchfree_teach.play.alone import made_alone
from latchfree_teach.play.figure import figures
from latchfree_teach.play.making import Play, play_page


def answer_page(lesson: Lesson, answer: str, scenario: str, title: str = "") -> Play:
    """Return the play page of a wrong answer of a lesson; it shows accesses, and no line of source.

    Raises
    ------
    ValueError
        If the lesson has no such answer of compiled code.
    """
    if lesson.kind != "kernels" or answer not in lesson.wrong:
        raise ValueError(f"lesson {lesson.number} has no wrong answer {answer!r} of compiled code")
    file = lesson.folder / "wrong" / f"{answer}.py"
    target = target_of(lesson, admit(lesson.wrong[answer], lesson), file)
    return play_page(
        target, scenario, title=f"lesson {lesson.number}: {title or answer}", story=_story(lesson, answer), lines=False
    )


def _story(lesson: Lesson, answer: str) -> str:
    return f"A wrong answer to the lesson '{lesson.title}': {answer.replace('_', ' ')}."


def command_of(told: Mapping[str, str]) -> str:
    """Return the command that makes the page of a bug or a model; "" for a wrong answer, which has none."""
    name = told.get("mutant") or told.get("model")
    return f"latchfree play {name} -o {name}.html" if name else ""


def play_files(lesson: Lesson) -> dict[str, str]:
    """Return the play pages of a lesson's wrong answers, and the pictures of a shortest failure of each.

    The names are ``play-1.html`` and ``figure-1-0.svg``, the last number counting moves. Each page is made in a process
    of its own.

    Raises
    ------
    RuntimeError
        If a page cannot be made.
    """
    found: dict[str, str] = {}
    for number, told in enumerate(lesson.play):
        if "answer" in told:
            what = f"lesson {lesson.number}, play {number + 1}"
            found |= made_alone(what, "latchfree_teach.handouts.plays", str(lesson.folder), str(number))
    return found


def _files(lesson: Lesson, number: int) -> dict[str, str]:
    told = lesson.play[number]
    made = answer_page(lesson, told["answer"], told["scenario"], told["title"])
    pictures = {f"figure-{number + 1}-{k}.svg": text for k, text in enumerate(figures(made.data))}
    return {f"play-{number + 1}.html": made.text, **pictures}


if __name__ == "__main__":
    chosen = read_lesson(Path(sys.argv[1]))
    sys.stdout.write(json.dumps(_files(chosen, int(sys.argv[2]))))
