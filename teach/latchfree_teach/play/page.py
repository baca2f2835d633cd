"""The play page: style, script and data in one file that needs no network.

The page's policy names the digests of its own style and script: a browser runs nothing else, and loads nothing.
"""

from __future__ import annotations

import base64
import hashlib
import html
import string
from importlib.resources import files
from typing import Any

from latchfree_lincheck.show.report import as_json


def page(data: dict[str, Any]) -> str:
    """Return the HTML page of a document (`latchfree_teach.play.document`)."""
    style = static("play.css")
    script = '"use strict";\n(() => {\n' + static("game.js") + static("draw.js") + static("play.js") + "})();\n"
    return string.Template(static("play.html")).substitute(
        title=html.escape(data["title"]),
        style=style,
        style_hash=_digest(style),
        script=script,
        script_hash=_digest(script),
        data=as_json(data),
    )


def static(name: str) -> str:
    """Return a part of the page."""
    return (files("latchfree_teach.play") / "static" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
