r"""The HTML page: style, script and data in one file that needs no network.

The data stands in a ``<script type="application/json">`` element. The only way out of such an element is text that
starts with ``<``, so no ``<`` is left in it: JSON may write it as ``\u003c``, and it occurs in strings only. The
page's policy names the digests of its own style and script, so that a browser runs nothing else, and loads nothing.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import string
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Final, Literal

from latchfree_lincheck.show.document import document
from latchfree_lincheck.show.judging import Judged
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
    style = _static("page.css")
    script = '"use strict";\n(() => {\n' + "".join(_static(name) for name in SCRIPTS) + "})();\n"
    return string.Template(_static("page.html")).substitute(
        title=html.escape(title),
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
        data=as_json(data),
    )


def as_json(data: object) -> str:
    """Return JSON text that may stand inside any HTML element."""
    return json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def save(path: str | Path, text: str) -> None:
    """Write a page, whole or not at all: a file that is there stays as it was until the new one is complete.

    Raises
    ------
    OSError
        If it cannot be written there; nothing is changed then.
    """
    publish_file(path, text.encode(errors="backslashreplace"))  # half of a surrogate pair has no bytes


def _hash(text: str) -> str:
    """Return the digest by which a content security policy allows an inline element."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode(errors="backslashreplace")).digest()).decode()


def _static(name: str) -> str:
    return (files("latchfree_lincheck.show") / "static" / name).read_text(encoding="utf-8")
