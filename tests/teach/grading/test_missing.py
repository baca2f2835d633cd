"""What the grader needs and is not installed is named before its process is started."""

import sys

import pytest

from latchfree.errors import MissingExtra
from latchfree_teach.course.lesson import find_lesson
from latchfree_teach.grading.grader import Grader


def test_a_package_that_is_missing_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    with (
        Grader() as grader,
        pytest.raises(MissingExtra, match=r'^numba is not installed; fix: pip install "latchfree\[jit\]"$'),
    ):
        grader.grade(find_lesson("1"), "")
