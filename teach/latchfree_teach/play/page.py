"""The play page: style, script and data in one file that needs no network (`latchfree_support.pages`)."""

from __future__ import annotations

from importlib.resources import files
from typing import Any, Final

from latchfree_support.pages import scripted_page

_SCRIPTS: Final = ("game.js", "draw.js", "play.js")


def page(data: dict[str, Any]) -> str:
    """Return the HTML page of a document (`latchfree_teach.play.document`)."""
    return scripted_page(static, "play.html", "play.css", _SCRIPTS, data["title"], data)


def static(name: str) -> str:
    """Return a part of the page."""
    return (files("latchfree_teach.play") / "static" / name).read_text(encoding="utf-8")
