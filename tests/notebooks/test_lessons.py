"""Notebooks of the lessons: every one is a notebook, and runs from its first cell to its last."""

import re

import pytest

from latchfree_teach import find_lesson, lessons, play_page
from latchfree_teach.handouts.notebooks import notebook


@pytest.mark.parametrize("lesson", lessons(), ids=lambda lesson: lesson.name)
def test_a_notebook_has_the_page_and_the_hole(lesson):
    text = notebook(lesson)
    cells = text.split("# %%")[1:]
    assert len(cells) == 5 + lesson.page.count("\n## ")
    code = "\n".join(re.sub(r"^ \[markdown\].*", "", cell, flags=re.DOTALL) for cell in cells)
    compile(code, "notebook", "exec")
    for name in lesson.holes:
        assert name in code


@pytest.mark.slow
@pytest.mark.parametrize("number", ["1", "6", "7", "9"])
def test_a_notebook_runs(number):
    jupytext = pytest.importorskip("jupytext")
    nbclient = pytest.importorskip("nbclient")
    made = jupytext.reads(notebook(find_lesson(number)), fmt="py:percent")
    nbclient.NotebookClient(made, timeout=600, kernel_name="python3").execute()
    shown = [output["data"] for cell in made.cells for output in cell.get("outputs", []) if "data" in output]
    assert any("my answer: " in data.get("text/html", "") for data in shown)


def test_a_grade_and_a_play_page_show_themselves(grader):
    lesson = find_lesson("1")
    graded = grader.grade(lesson, lesson.wrong["load_store"], "<b>ada</b>", play=True)
    shown = graded._repr_html_()
    assert "&lt;b&gt;ada&lt;/b&gt;" in shown
    assert "<b>ada" not in shown
    assert shown.count("<iframe") == 1
    assert 'sandbox="allow-scripts"' in shown
    assert "srcdoc=" in shown
    from latchfree_explore.examples.counter import LOST_UPDATE

    assert "par is 2" in play_page(LOST_UPDATE, "increment | increment")._repr_html_()
