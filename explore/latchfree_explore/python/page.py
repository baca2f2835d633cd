"""A failing schedule as one HTML page: a column for each thread, changes of threads marked, keys that step.

The page holds all it needs, and loads nothing.
"""

from __future__ import annotations

import json
import linecache
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from latchfree_explore.python.core.places import OUTSIDE
from latchfree_explore.python.core.steps import Step
from latchfree_explore.python.showing import columns


def page(wrong: str, facts: Sequence[str], names: Sequence[str], steps: Sequence[Step]) -> str:
    """Return the page of a failing schedule.

    Parameters
    ----------
    wrong : str
        What is wrong: the heading.
    facts : sequence of str
        Lines below the heading.
    names : sequence of str
        What each thread is called; threads of one name share a column.
    steps : sequence of Step
        Told in words.
    """
    headings, column = columns(names)
    document = {
        "wrong": wrong,
        "facts": list(facts),
        "columns": headings,
        "steps": [{"column": column[step.thread], "lines": _lines(step)} for step in steps],
    }
    text = files("latchfree_explore.python").joinpath("static", "page.html").read_text(encoding="utf-8")
    return text.replace("@DATA@", json.dumps(document).replace("<", "\\u003c"))


def _lines(step: Step) -> list[dict[str, Any]]:
    """Return the lines of source that a step runs through, each with what the line did."""
    found: list[dict[str, Any]] = []
    before: tuple[str, int] | None = None
    for file, line, words in step.texts:
        if (file, line) != before:
            known = file not in ("", OUTSIDE)
            found.append({
                "at": f"{Path(file).name}:{line}" if known else "in the library" if not file else "",
                "source": linecache.getline(file, line).strip() if known else "",
                "did": [],
            })  # fmt: skip
            before = file, line
        found[-1]["did"].append(words)
    return found
