"""The HTML page: style, script and data in one file that needs no network (`latchfree_support.pages`)."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Final, Literal

from latchfree_lincheck.show.document import document
from latchfree_lincheck.show.judging import Judged
from latchfree_support.pages import scripted_page
from latchfree_support.publishing import publish_file

SCRIPTS: Final = (
    "history.js",
    "layout.js",
    "view.js",
    "overview.js",
    "canvas.js",
    "panel.js",
    "steps.js",
    "input.js",
    "app.js",
)
"""The page's script, in the order in which it is read."""


def page(judged: Sequence[Judged], *, open_at: Literal["start", "first-error"] = "first-error") -> str:
    """Return an HTML page that shows judged histories.

    Parameters
    ----------
    judged : sequence of Judged
        The histories; the page opens at the first that has a violation.
    open_at : "start" or "first-error"
        Where in it.

    Raises
    ------
    ValueError
        If there is no history.
    """
    if not judged:
        raise ValueError("a page needs at least one history")
    title = ", ".join(dict.fromkeys(each.history.name for each in judged[:3])) + (", …" if len(judged) > 3 else "")
    data = {"openAt": open_at, "histories": [document(each) for each in judged]}
    return scripted_page(_static, "page.html", "page.css", SCRIPTS, title, data)


def save(path: str | Path, text: str) -> None:
    """Write a page, whole or not at all: a file that is there stays as it was until the new one is complete.

    Raises
    ------
    OSError
        If it cannot be written there; nothing is changed then.
    """
    publish_file(path, text.encode(errors="backslashreplace"))  # half of a surrogate pair has no bytes


def _static(name: str) -> str:
    return (files("latchfree_lincheck.show") / "static" / name).read_text(encoding="utf-8")
