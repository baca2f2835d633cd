"""The student archive has no line of a solution; the teacher archive has them all."""

import io
import zipfile

import pytest

from latchfree_teach import lessons
from latchfree_teach.course.packs import archive, student_files, teacher_files

SHORT = 16
"""Shorter lines, such as ``while True:`` and ``return value``, give nothing away."""


def telling(text: str) -> set[str]:
    """The lines of a program that are long enough to give something away."""
    return {line.strip() for line in text.splitlines() if len(line.strip()) >= SHORT}


@pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: lesson.name)
def test_students_get_no_line_of_a_solution(lesson):
    everything = "\n".join(student_files().values())
    lines = telling(lesson.solution) - telling(lesson.hole)
    assert lines
    assert not lines & telling(everything)
    for text in (lesson.solution, *lesson.right.values()):
        assert text.strip() not in everything


def test_a_leak_would_be_seen():
    lesson = lessons()[0]
    assert telling(lesson.solution) - telling(lesson.hole) <= telling("\n".join(teacher_files().values()))


def test_students_get_no_reason_and_no_hint():
    everything = "\n".join(student_files().values())
    for lesson in lessons():
        assert all(question.why not in everything for question in lesson.quiz)
        assert all(question.text in everything for question in lesson.quiz)
        assert all(known["hint"] not in everything for known in lesson.mistakes.values())
        assert all(hint not in everything for hint in lesson.hints)


def test_every_lesson_is_in_both_and_links_lead_to_files():
    import re

    for files in (student_files(), teacher_files()):
        for lesson in lessons():
            assert files[f"{lesson.name}/page.md"] == lesson.page
        for name, text in files.items():
            folder = name.rpartition("/")[0]
            for link in re.findall(r"\]\(([^)#:]+)\)", text):
                assert f"{folder}/{link}".lstrip("/") in files, (name, link)


def test_the_exam_has_programs_and_the_answers_apart():
    files = teacher_files()
    for lesson in lessons():
        name = next(iter(lesson.mistakes))
        assert lesson.wrong[name].rstrip() in files["exam.md"]
        assert lesson.mistakes[name]["hint"] in files["exam-answers.md"]
        assert lesson.mistakes[name]["hint"] not in files["exam.md"]


def test_an_archive_has_the_same_bytes_each_time():
    files = student_files()
    made = archive(files)
    assert made == archive(dict(reversed(files.items())))
    with zipfile.ZipFile(io.BytesIO(made)) as opened:
        assert opened.testzip() is None
        assert {name: opened.read(name).decode() for name in opened.namelist()} == files
