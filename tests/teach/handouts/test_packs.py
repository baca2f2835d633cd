"""The student archive has no line of a solution; the teacher archive has them all."""

import io
import zipfile

import pytest

from latchfree_teach import lessons
from latchfree_teach.handouts.packs import archive, student_files, teacher_files

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


def test_slides_have_a_section_for_each_heading_and_each_question():
    for lesson in lessons():
        made = student_files()[f"{lesson.name}/slides.html"]
        assert made.count("<section>") == 1 + lesson.page.count("\n## ") + len(lesson.quiz)
        assert all(question.why not in made for question in lesson.quiz)


def test_markdown_of_a_lesson_cannot_bring_a_script_along():
    from latchfree_teach.handouts.markdown import html_of

    evil = "# <script>\n\n<script>x</script> `<b>` [a](javascript:x) **<i>**\n\n| <u> |\n|---|\n| a |\n"
    evil += "\n```\n<pre>\n```\n- <s>\n"
    made = html_of(evil)
    for tag in ("<script", "<b>", "<i>", "<u>", "<s>", "javascript:"):
        assert tag not in made
    assert "&lt;script&gt;" in made
    assert "<table>" in made
    assert "<ul>" in made


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("*a* and **b** and `c*d*`", "<p><em>a</em> and <strong>b</strong> and <code>c*d*</code></p>"),
        ("1. one\n2. two\n   more", "<ol><li>one</li><li>two more</li></ol>"),
        (
            "| a | b |\n|---|--:|\n| `x` | 1 |",
            "<table><tr><th>a</th><th>b</th></tr><tr><td><code>x</code></td><td>1</td></tr></table>",
        ),
        ("## h\n\n[w](https://x.y)", '<h2>h</h2>\n<p><a href="https://x.y">w</a></p>'),
    ],
)
def test_markdown(text, made):
    from latchfree_teach.handouts.markdown import html_of

    assert html_of(text) == made


def test_a_bug_is_drawn_for_each_student():
    from latchfree_teach.course.capstone import answers, drawn

    found = [drawn(number).id for number in range(200)]
    assert found == [drawn(number).id for number in range(200)]
    assert len(set(found)) > 10
    assert all(f"| {name} |" in answers() for name in found)
    with pytest.raises(ValueError, match="at least 0"):
        drawn(-1)


def test_the_container_of_the_archive_is_json():
    import json

    told = json.loads(student_files()[".devcontainer/devcontainer.json"])
    assert "latchfree" in told["postCreateCommand"]


def test_a_play_page_of_a_lesson_shows_no_line_of_source_and_its_figures_are_pictures():
    import xml.etree.ElementTree as ET

    from latchfree_teach.handouts.plays import play_files

    lesson = lessons()[0]
    files = play_files(lesson)
    assert "play-1.html" in files
    pictures = [text for name, text in files.items() if name.endswith(".svg")]
    assert len(pictures) >= 4, "the beginning, and a picture for each move"
    assert [ET.fromstring(text).tag for text in pictures] == ["{http://www.w3.org/2000/svg}svg"] * len(pictures)
    assert "not linearizable" in pictures[-1]
    assert "not linearizable" not in pictures[0]
    for line in telling(lesson.solution) | telling(lesson.wrong["load_store"]):
        assert line not in files["play-1.html"]
