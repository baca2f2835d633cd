"""What objects show in a notebook: small pieces of HTML and SVG, all text of users escaped, none larger than 100 kB.

Example: `panel("ok: linearizable", [table([("operations", "12")])])` is a heading with a table below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

LIMIT: Final = 100_000
"""Characters of one piece."""
_LONGEST: Final = 200


def panel(title: str, parts: Iterable[str]) -> str:
    """Return a heading with parts of HTML below it; parts that would make it too large are left out, and it says so."""
    head = f'<div class="latchfree"><p><b>{escape(title)}</b></p>'
    size, kept = len(head), []
    for part in parts:
        if size + len(part) > LIMIT - 100:
            kept.append("<p>The rest is too large to show here.</p>")
            break
        kept.append(part)
        size += len(part)
    return f"{head}{''.join(kept)}</div>"


def table(rows: Iterable[Sequence[object]], head: Sequence[str] = ()) -> str:
    """Return a table of plain values."""
    top = f"<tr>{''.join(f'<th>{escape(name)}</th>' for name in head)}</tr>" if head else ""
    body = "".join(f"<tr>{''.join(f'<td>{escape(clipped(str(cell)))}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table>{top}{body}</table>"


def pre(text: str) -> str:
    """Return a text as it is, line by line; the middle of a very long one is left out."""
    if len(text) > LIMIT // 4:
        text = f"{text[: LIMIT // 8]}\n...\n{text[-LIMIT // 8 :]}"
    return f"<pre>{escape(text)}</pre>"


def frame(text: str, *, height: int = 620) -> str:
    """Return a page in a frame that may run its script and reach nothing else; one that is too large is not shown."""
    if len(text) > LIMIT // 2:
        return "<p>The page is too large to show here.</p>"
    inside = escape(text)
    return f'<iframe sandbox="allow-scripts" style="width:100%;height:{height}px;border:0" srcdoc="{inside}"></iframe>'


def clipped(text: str) -> str:
    """Return a text, cut where it is very long."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
