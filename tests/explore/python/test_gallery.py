"""Shapes of published bugs: each is found, with as few preemptions as the page says, and absent when corrected."""

import re
import sys
from pathlib import Path

import pytest

pytest.importorskip("greenlet")

from gallery import SHAPES

THE_VERSION_OF_THE_PAGE = (3, 11)
PAGE = Path(__file__).parents[3] / "docs" / "exploring-gallery.md"
ROW = re.compile(
    r"^\| (?P<name>[^|]+?) \| (?P<kind>[^|]+?) \| (?P<fewest>\d+) \| (?P<schedules>[\d,]+) \|$", re.MULTILINE
)


def rows():
    return {each["name"]: each for each in ROW.finditer(PAGE.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_is_found_and_absent_from_its_correction(name):
    shape = SHAPES[name]
    wrong = shape.wrong(strategy="dpor", raises=False)
    assert wrong.wrong is not None
    assert wrong.wrong.kind == shape.kind, wrong.explain()
    right = shape.right(strategy="dpor", raises=False)
    assert right.verdict == "ok", right.explain()
    assert right.complete
    row = rows()[name]
    assert (row["kind"], row["fewest"]) == (shape.kind, str(wrong.preemptions))
    if sys.version_info[:2] == THE_VERSION_OF_THE_PAGE:  # the workers of a pool wait otherwise from 3.13 on
        assert row["schedules"] == f"{right.schedules:,}"


def test_the_page_has_all_shapes():
    assert list(rows()) == list(SHAPES)
