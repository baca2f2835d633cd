"""The part of Markdown that the lessons use, as HTML: headings, paragraphs, lists, tables, code, links. No raw HTML.

All text is escaped first, so a lesson cannot bring a script along.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from typing import Final

_ITEM: Final = re.compile(r"(?:-|\d+\.) +")
_INLINE: Final = re.compile(
    r"`(?P<code>[^`]+)`|\*\*(?P<bold>[^*]+)\*\*|\*(?P<slanted>[^*\s][^*]*)\*|\[(?P<words>[^\]]+)\]\((?P<link>[^)\s]+)\)"
)
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def html_of(text: str) -> str:
    """Return a text in Markdown as HTML."""
    return "\n".join(_blocks(text.splitlines()))


def inline(text: str) -> str:
    """Return the text of one paragraph as HTML."""
    made, at = [], 0
    for found in _INLINE.finditer(text):
        made.append(escape(text[at : found.start()]))
        at = found.end()
        if found["code"]:
            made.append(f"<code>{escape(found['code'])}</code>")
        elif found["bold"]:
            made.append(f"<strong>{inline(found['bold'])}</strong>")
        elif found["slanted"]:
            made.append(f"<em>{inline(found['slanted'])}</em>")
        elif _SCHEME.match(found["link"]) and not found["link"].startswith(("https:", "http:")):
            made.append(inline(found["words"]))
        else:
            made.append(f'<a href="{escape(found["link"])}">{inline(found["words"])}</a>')
    return "".join([*made, escape(text[at:])])


def _blocks(lines: list[str]) -> Iterator[str]:
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            at += 1
        elif line.startswith("```"):
            end = next((k for k in range(at + 1, len(lines)) if lines[k].startswith("```")), len(lines))
            yield f"<pre><code>{escape(chr(10).join(lines[at + 1 : end]))}</code></pre>"
            at = end + 1
        elif heading := re.fullmatch(r"(#{1,6}) +(.+)", line):
            level = len(heading[1])
            yield f"<h{level}>{inline(heading[2])}</h{level}>"
            at += 1
        else:
            end = next(
                (k for k in range(at, len(lines)) if not lines[k].strip() or lines[k].startswith("```")), len(lines)
            )
            yield _block(lines[at:end])
            at = end


def _block(lines: list[str]) -> str:
    """Return a table, a list or a paragraph."""
    if lines[0].startswith("|") and len(lines) > 1:
        return _table(lines)
    if _ITEM.match(lines[0]):
        tag = "ul" if lines[0].startswith("-") else "ol"
        items: list[str] = []
        for line in lines:
            if _ITEM.match(line):
                items.append(_ITEM.sub("", line, count=1))
            else:
                items[-1] += f" {line.strip()}"
        return f"<{tag}>{''.join(f'<li>{inline(item)}</li>' for item in items)}</{tag}>"
    return f"<p>{inline(' '.join(lines))}</p>"


def _table(lines: list[str]) -> str:
    rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))] for line in lines]
    head = "".join(f"<th>{inline(cell)}</th>" for cell in rows[0])
    body = "".join(f"<tr>{''.join(f'<td>{inline(cell)}</td>' for cell in row)}</tr>" for row in rows[2:])
    return f"<table><tr>{head}</tr>{body}</table>"
