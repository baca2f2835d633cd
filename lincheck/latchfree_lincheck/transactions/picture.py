"""The picture of an anomaly: transactions as boxes, one below the other, and the edges between them.

Example: of a cycle T0 -> T1 -> T0, T0 stands above T1. The edge down is drawn at the right, the edge back at the left,
each with its kind, its key and its version. A micro-operation that an edge is about is bold.

Invariant: all text of the history is escaped, so that a key or a value can neither end an element nor begin one.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Final

from latchfree_lincheck.transactions.anomaly import Anomaly
from latchfree_lincheck.transactions.edges import Edge
from latchfree_lincheck.transactions.transaction import Transaction, shown

_CHARACTER: Final = 7.8
_LINE: Final = 18
_PAD: Final = 10
_GAP: Final = 46
_LONGEST: Final = 70
_MOST: Final = 24

Line = tuple[str, bool]
"""A line of a box, and whether an edge is about it."""


def picture(anomaly: Anomaly, history: Sequence[Transaction]) -> str:
    """Return an SVG element that shows the transactions of an anomaly, and its edges if it is a cycle.

    A cycle of very many transactions is cut: the text beside the picture has them all.
    """
    chosen = anomaly.transactions[:_MOST]
    edges = [edge for edge in anomaly.edges if edge.source in chosen and edge.target in chosen]
    boxes = [_lines(index, history[index], edges) for index in chosen]
    titles = [_title(index, history[index]) for index in chosen]
    texts = [text for box in boxes for text, _ in box] + titles
    width = _CHARACTER * max(map(len, texts)) + 2 * _PAD
    labels = [_label(edge) for edge in edges]
    margin = _CHARACTER * max(map(len, labels), default=0) + 60
    left = margin if len(edges) == len(chosen) else 20.0
    tops, y = [], 20.0
    for box in boxes:
        tops.append(y)
        y += _LINE * (len(box) + 1) + _PAD + _GAP
    height = y - _GAP + 20
    bottoms = [top + _LINE * (len(box) + 1) + _PAD for top, box in zip(tops, boxes, strict=True)]
    parts = []
    for title, box, top, bottom in zip(titles, boxes, tops, bottoms, strict=True):
        parts.append(
            f'<rect x="{left:.0f}" y="{top:.0f}" width="{width:.0f}" height="{bottom - top:.0f}" rx="6"/>'
            + _text(left + _PAD, top + _LINE, title, "title")
        )
        for number, (line, told) in enumerate(box, start=2):
            parts.append(_text(left + _PAD, top + _LINE * number, line, "told" if told else "line"))
    place = {index: at for at, index in enumerate(chosen)}
    for edge, label in zip(edges, labels, strict=True):
        first, second = place[edge.source], place[edge.target]
        middle = left + width / 2
        if second == first + 1:
            parts.append(_arrow(edge.kind, f"M{middle:.0f} {bottoms[first]:.0f}V{tops[second] - 7:.0f}"))
            parts.append(_text(middle + 10, (bottoms[first] + tops[second]) / 2 + 4, label, edge.kind))
        else:
            start, end = (tops[first] + bottoms[first]) / 2, (tops[second] + bottoms[second]) / 2
            out = left - 60
            path = f"M{left:.0f} {start:.0f}C{out:.0f} {start:.0f} {out:.0f} {end:.0f} {left - 7:.0f} {end:.0f}"
            parts.append(_arrow(edge.kind, path))
            parts.append(_text(left - 56, (start + end) / 2, label, f"{edge.kind} end"))
    right = left + width + 20
    right = max(right, left + width / 2 + margin)
    return (
        f'<svg viewBox="0 0 {right:.0f} {height:.0f}" width="{right:.0f}" height="{height:.0f}" role="img" '
        f'aria-label="{html.escape(anomaly.name)}">{"".join(parts)}</svg>'
    )


def plain(text: str) -> str:
    """Return text that may stand in HTML and SVG: escaped, without control characters and lone surrogates."""
    clean = "".join(sign if sign.isprintable() or sign in "\n\t " else f"\\x{ord(sign):02x}" for sign in text)
    return html.escape(clean)


def _lines(index: int, transaction: Transaction, edges: Sequence[Edge]) -> list[Line]:
    """Return the micro-operations of a box; those between, of a very long transaction, are left out."""
    lines = []
    for operation in transaction.operations:
        told = any(_is_about(edge, index, operation) for edge in edges)
        text = str(Transaction((operation,)))
        lines.append((text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…", told))
    if len(lines) > _MOST:
        kept = [line for at, line in enumerate(lines) if line[1] or at < _MOST // 2]
        lines = [*kept[:_MOST], ("…", False)]
    return lines


def _is_about(edge: Edge, index: int, operation: tuple[str, object, object]) -> bool:
    """Return whether an edge comes from, or leads to, this operation of a transaction."""
    f, key, value = operation
    if key != edge.key or edge.kind in ("process", "realtime"):
        return False
    if index == edge.source:
        return f == "r" if edge.kind == "rw" else f != "r" and value == edge.before
    return index == edge.target and (f == "r" if edge.kind == "wr" else f != "r" and value == edge.after)


def _title(index: int, transaction: Transaction) -> str:
    parts = [f"T{index}"]
    if transaction.type != "ok":
        parts.append({"fail": "aborted", "info": "outcome unknown"}[transaction.type])
    if transaction.process is not None:
        parts.append(f"process {shown(transaction.process)}")
    if transaction.line:
        parts.append(f"line {transaction.line}")
    return "  ".join(parts)[:_LONGEST]


def _label(edge: Edge) -> str:
    if edge.kind in ("process", "realtime"):
        return edge.kind
    version = edge.before if edge.kind == "wr" else edge.after
    return f"{edge.kind} {shown(edge.key)} {shown(version)}"[: _LONGEST // 2]


def _arrow(kind: str, path: str) -> str:
    """Return a path with a head; an SVG marker would need an identifier that is unique in its page."""
    x, y = (float(number) for number in _end_of(path))
    if "C" in path:
        head = f"M{x + 7:.0f} {y:.0f}l-9 -4v8z"
    else:
        head = f"M{x:.0f} {y + 7:.0f}l-4 -9h8z"
    return f'<path class="{kind}" d="{path}"/><path class="head {kind}" d="{head}"/>'


def _end_of(path: str) -> tuple[str, str]:
    if "C" in path:
        *_, x, y = path.split()
        return x, y
    start, y = path[1:].split("V")
    return start.split()[0], y


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" class="{kind}">{plain(text)}</text>'
