"""Two archives: what students get, without a line of a solution, and what teachers get.

Invariant: the student archive is made of pages, holes and questions only. Nothing in it is read from a solution, a
right variant or a wrong answer.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Mapping
from typing import Final

from latchfree_teach.course.capstone import answers as capstone_answers
from latchfree_teach.course.lesson import FOLDER, Lesson, Question, lessons
from latchfree_teach.handouts.notebooks import notebook
from latchfree_teach.handouts.plays import command_of, play_files
from latchfree_teach.handouts.slides import slides

DEVCONTAINER: Final = ".devcontainer/devcontainer.json"
_DATE: Final = (1980, 1, 1, 0, 0, 0)
_EXAM_EACH: Final = 2
"""Wrong answers of each lesson that the exam asks about."""


def student_files() -> dict[str, str]:
    """Return the files for students: a folder for each lesson with its page, its hole, its questions and its slides."""
    found = {"README.md": _index(), "capstone.md": _own("capstone.md"), DEVCONTAINER: _own("devcontainer.json")}
    for lesson in lessons():
        found[f"{lesson.name}/slides.html"] = slides(lesson)
        found[f"{lesson.name}/notebook.py"] = notebook(lesson)
        found[f"{lesson.name}/play.md"] = _play(lesson)
        found[f"{lesson.name}/page.md"] = lesson.page
        found[f"{lesson.name}/{lesson.name}{lesson.suffix}"] = lesson.hole
        found[f"{lesson.name}/questions.md"] = _questions(lesson, answers=False)
    return found


def teacher_files() -> dict[str, str]:
    """Return the files for teachers: the lessons with all answers, a syllabus, and an exam."""
    found = {
        "syllabus.md": _own("syllabus.md"),
        "capstone.md": _own("capstone.md"),
        "capstone-answers.md": capstone_answers(),
        DEVCONTAINER: _own("devcontainer.json"),
        "exam.md": _exam(answers=False),
        "exam-answers.md": _exam(answers=True),
    }
    for lesson in lessons():
        found[f"{lesson.name}/slides.html"] = slides(lesson)
        found[f"{lesson.name}/play.md"] = _play(lesson)
        found[f"{lesson.name}/page.md"] = lesson.page
        found[f"{lesson.name}/hole{lesson.suffix}"] = lesson.hole
        found[f"{lesson.name}/solution{lesson.suffix}"] = lesson.solution
        found[f"{lesson.name}/questions.md"] = _questions(lesson, answers=True)
        found[f"{lesson.name}/mistakes.md"] = _mistakes(lesson)
        for kind, texts in (("right", lesson.right), ("wrong", lesson.wrong)):
            found |= {f"{lesson.name}/{kind}/{name}{lesson.suffix}": text for name, text in texts.items()}
    return found


def play_pages() -> dict[str, str]:
    """Return the play pages and the pictures of all lessons; it takes a minute or more."""
    found: dict[str, str] = {}
    for lesson in lessons():
        found |= {f"{lesson.name}/{name}": text for name, text in play_files(lesson).items()}
    return found


def archive(files: Mapping[str, str]) -> bytes:
    """Return files as a zip archive: the same bytes for the same files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name in sorted(files):
            made.writestr(zipfile.ZipInfo(name, _DATE), files[name].encode(), zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _own(name: str) -> str:
    return (FOLDER.parent / name).read_text(encoding="utf-8")


def _play(lesson: Lesson) -> str:
    lines = [f"# Lesson {lesson.number}: to play", ""]
    for number, each in enumerate(lesson.play, start=1):
        command = command_of(each)
        where = f"`{command}`" if command else f"`play-{number}.html`, if it is there. Scenario: `{each['scenario']}`"
        lines.append(f"- {each['title']}: {where}")
    return "\n".join(lines) + "\n"


def _index() -> str:
    lines = [
        "# A course: write code without locks",
        "",
        "Read the page of a lesson. `latchfree learn`, with the number of the lesson, puts the file with the hole",
        "into a folder `lessons`, and says what you have reached whenever you save it. Hand in the file.",
        "The last task is in [capstone.md](capstone.md).",
        "",
        "| lesson | minutes | you write |",
        "|---|---:|---|",
        *(
            f"| [{each.number}. {each.title}]({each.name}/page.md) | {each.minutes} | {', '.join(each.holes)} |"
            for each in lessons()
        ),
    ]
    return "\n".join(lines) + "\n"


def _questions(lesson: Lesson, *, answers: bool) -> str:
    lines = [f"# Lesson {lesson.number}: questions", ""]
    for number, question in enumerate(lesson.quiz, start=1):
        lines += _question(number, question, answers=answers)
    return "\n".join(lines).rstrip() + "\n"


def _question(number: int, question: Question, *, answers: bool) -> Iterable[str]:
    yield f"{number}. {question.text}"
    for k, answer in enumerate(question.answers):
        yield f"   - ({'abcdef'[k]}) {answer}"
    if answers:
        yield f"   - **Right: ({'abcdef'[question.right]}).** {question.why}"
    yield ""


def _mistakes(lesson: Lesson) -> str:
    lines = [f"# Lesson {lesson.number}: known mistakes, and what their authors are told", ""]
    end = lesson.suffix
    lines += [f"- [{name}](wrong/{name}{end}): {known['hint'].strip()}" for name, known in lesson.mistakes.items()]
    return "\n".join(lines) + "\n"


def _exam(*, answers: bool) -> str:
    lines = ["# Exam: answers" if answers else "# Exam", ""]
    if not answers:
        lines += ["Each program below is an answer to a lesson, and wrong. Name a schedule in which it fails.", ""]
    number = 0
    for lesson in lessons():
        for name in list(lesson.mistakes)[:_EXAM_EACH]:
            number += 1
            lines += [f"## {number}. {lesson.title}", ""]
            lines += (
                [f"`{name}`: {lesson.mistakes[name]['hint'].strip()}", ""]
                if answers
                else ["```tla" if lesson.kind == "spec" else "```python", lesson.wrong[name].rstrip(), "```", ""]
            )
    return "\n".join(lines).rstrip() + "\n"
