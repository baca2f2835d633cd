"""Two archives: what students get, without a line of a solution, and what teachers get.

Invariant: the student archive is made of pages, holes and questions only. Nothing in it is read from a solution, a
right variant or a wrong answer.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from latchfree_teach.course.lesson import Lesson, Question, lessons

_DATE: Final = (1980, 1, 1, 0, 0, 0)
_EXAM_EACH: Final = 2
"""Wrong answers of each lesson that the exam asks about."""


def student_files() -> dict[str, str]:
    """Return the files for students: a folder for each lesson with its page, its hole and its questions."""
    found = {"README.md": _index()}
    for lesson in lessons():
        found[f"{lesson.name}/page.md"] = lesson.page
        found[f"{lesson.name}/{lesson.name}.py"] = lesson.hole
        found[f"{lesson.name}/questions.md"] = _questions(lesson, answers=False)
    return found


def teacher_files() -> dict[str, str]:
    """Return the files for teachers: the lessons with all answers, a syllabus, and an exam."""
    found = {
        "syllabus.md": (Path(__file__).parent / "syllabus.md").read_text(encoding="utf-8"),
        "exam.md": _exam(answers=False),
        "exam-answers.md": _exam(answers=True),
    }
    for lesson in lessons():
        found[f"{lesson.name}/page.md"] = lesson.page
        found[f"{lesson.name}/hole.py"] = lesson.hole
        found[f"{lesson.name}/solution.py"] = lesson.solution
        found[f"{lesson.name}/questions.md"] = _questions(lesson, answers=True)
        found[f"{lesson.name}/mistakes.md"] = _mistakes(lesson)
        for kind, texts in (("right", lesson.right), ("wrong", lesson.wrong)):
            found |= {f"{lesson.name}/{kind}/{name}.py": text for name, text in texts.items()}
    return found


def archive(files: Mapping[str, str]) -> bytes:
    """Return files as a zip archive: the same bytes for the same files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name in sorted(files):
            made.writestr(zipfile.ZipInfo(name, _DATE), files[name].encode(), zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _index() -> str:
    lines = [
        "# A course: write code without locks",
        "",
        "Read the page of a lesson. `latchfree learn`, with the number of the lesson, puts the file with the hole",
        "into a folder `lessons`, and says what you have reached whenever you save it. Hand in the file.",
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
    lines += [f"- [{name}](wrong/{name}.py): {known['hint'].strip()}" for name, known in lesson.mistakes.items()]
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
                else ["```python", lesson.wrong[name].rstrip(), "```", ""]
            )
    return "\n".join(lines).rstrip() + "\n"
