"""A lesson as a notebook: its page in pieces, the hole as a cell, and a cell that grades it.

The text is in jupytext's percent format: a Python file that editors show as cells, and that ``jupytext --to ipynb``
makes a notebook of. It has no line of an answer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from latchfree_teach.course.lesson import Lesson

_HEAD = """# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---
"""


def notebook(lesson: Lesson) -> str:
    """Return the notebook of a lesson."""
    title, *sections = lesson.page.rstrip().split("\n## ")
    cells = [
        _words(title),
        *(_words(f"## {section}") for section in sections),
        _code(
            "from latchfree_teach import Grader, find_lesson",
            "",
            f'lesson = find_lesson("{lesson.number}")',
            "grader = Grader()",
        ),
        _words("What there is to fill in. Change it, and run the cell below."),
        _code(f'answer = r"""\n{_asked(lesson)}"""'),
        _code('graded = grader.grade(lesson, answer, "my answer", play=True)', "graded"),
    ]
    return _HEAD + "\n".join(["", *cells])


def _words(text: str) -> str:
    return "\n".join(["# %% [markdown]", *(f"# {line}".rstrip() for line in text.rstrip().splitlines()), ""])


def _code(*lines: str) -> str:
    return "\n".join(["# %%", *lines, ""])


def _asked(lesson: Lesson) -> str:
    """Return the definitions that the student writes, as the hole has them."""
    if lesson.kind == "spec":
        return lesson.hole
    return "\n\n".join(_functions(lesson))


def _functions(lesson: Lesson) -> Iterator[str]:
    lines = lesson.hole.splitlines()
    for node in ast.parse(lesson.hole).body:
        if isinstance(node, ast.FunctionDef) and node.name in lesson.holes:
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            text = "\n".join(lines[first - 1 : node.end_lineno])
            yield text.replace('"""', "'''") + "\n"
