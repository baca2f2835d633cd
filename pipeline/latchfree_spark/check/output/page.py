"""Render the summary as one page of HTML, which works from a file and needs no network."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any, Final
from urllib.parse import quote

_STYLE: Final = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 70em; padding: 0 1em; color: #222; }
table { border-collapse: collapse; margin: .5em 0 2em; width: 100%; }
th, td { border-bottom: 1px solid #ddd; padding: .3em .8em .3em 0; text-align: left; vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
code { background: #f4f4f4; padding: .1em .3em; overflow-wrap: anywhere; }
.bar { display: flex; height: 1.2em; margin: 1em 0; background: #eee; }
.ok { background: #3a923a; } .violation { background: #c03d3e; }
.unknown { background: #e1812c; } .error { background: #777; }
.key { display: inline-block; width: .8em; height: .8em; margin-right: .5em; }
"""

_MEANING: Final = {
    "ok": "an order explains what was seen",
    "violation": "no order explains what was seen",
    "unknown": "undecided within the bounds",
    "error": "no history, or not one of this model",
}


def page(document: dict[str, Any], title: str) -> str:
    """Return the page for what `summarize` gathers."""
    counts = document["verdicts"]
    whole = max(1, document["histories"])
    bar = "".join(
        f'<div class="{name}" style="width:{100 * count / whole:.4f}%"></div>'
        for name, count in counts.items()
        if count
    )
    totals = [
        [f'<span class="key {name}"></span>{name}', _number(count), _MEANING[name]] for name, count in counts.items()
    ]
    parts = [
        f"<h1>{html.escape(title)}</h1>",
        f"<p>{document['histories']:,} histories, {document['operations']:,} operations.</p>",
        f'<div class="bar">{bar}</div>',
        _table(["verdict", "histories", ""], totals),
        _section(
            "Failing histories",
            ["history", "operations", "why", "where", "files", "to see it again"],
            map(_failing, document["failing"]),
        ),
        _section("Undecided", ["history", "operations", "why"], map(_undecided, document["unknown"])),
        _section("Could not be read", ["what"], ([html.escape(text)] for text in document["problems"])),
        _section(
            "Slowest",
            ["history", "verdict", "engine", "operations", "steps", "seconds"],
            map(_slow, document["slowest"]),
        ),
    ]
    head = f'<meta charset="utf-8"><title>{html.escape(title)}: histories judged</title><style>{_STYLE}</style>'
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n' + "\n".join(parts) + "\n</body></html>\n"


def _failing(row: dict[str, Any]) -> list[str]:
    named = (("whole", row["saved"]), ("shrunk", row["small"]), ("drawn", row["page"]))
    links = " ".join(f'<a href="{quote(file)}">{name}</a>' for name, file in named if file)
    command = f"<code>{html.escape(row['replay'])}</code>" if row["replay"] else "in the input only"
    where = " ".join(f"{name} {row[name]}" for name in ("object", "key") if row[name] is not None)
    texts = [html.escape(row["reason"]), html.escape(where)]
    return [_name(row), _number(row["operations"]), *texts, links, command]


def _undecided(row: dict[str, Any]) -> list[str]:
    return [_name(row), _number(row["operations"]), html.escape(row["reason"])]


def _slow(row: dict[str, Any]) -> list[str]:
    texts = [html.escape(row[name]) for name in ("verdict", "engine")]
    return [_name(row), *texts, _number(row["operations"]), _number(row["states"]), f"{row['seconds']:.6f}"]


def _name(row: dict[str, Any]) -> str:
    return html.escape(": ".join(filter(None, (row.get("source"), row["history"]))))


def _number(count: int) -> str:
    return f"{count:,}"


def _section(title: str, head: Sequence[str], rows: Iterable[list[str]]) -> str:
    listed = list(rows)
    return f"<h2>{title}</h2>\n{_table(head, listed)}" if listed else ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["<tr>" + "".join(f"<th>{name}</th>" for name in head) + "</tr>"]
    for row in rows:
        cells = (
            f'<td class="number">{cell}</td>'
            if cell.replace(",", "").replace(".", "").isdigit()
            else f"<td>{cell}</td>"
            for cell in row
        )
        lines.append("<tr>" + "".join(cells) + "</tr>")
    return "<table>" + "\n".join(lines) + "</table>"
