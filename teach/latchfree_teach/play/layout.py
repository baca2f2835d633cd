"""Positions of boxes, the same in every state of a page, so that nothing moves between two steps.

Boxes of one path and row stand side by side. Two that are never seen together share a column (interval colouring,
greedy, in the order in which they were first seen), so a page does not grow with every node that was replaced.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from latchfree_teach.play.painters.picture import Picture

WIDTH: Final = 132
HEIGHT: Final = 44
GAP: Final = 18
_ROW: Final = HEIGHT + 30


def positions(pictures: Sequence[Picture]) -> dict[str, tuple[int, int]]:
    """Return the left upper corner of each box."""
    place: dict[str, tuple[tuple[int, ...], int]] = {}
    beside: dict[str, set[str]] = {}
    for picture in pictures:
        groups: dict[tuple[tuple[int, ...], int], list[str]] = {}
        for box in picture.boxes:
            home = place.setdefault(box.id, (box.path, box.row))
            groups.setdefault(home, []).append(box.id)
        for together in groups.values():
            for name in together:
                beside.setdefault(name, set()).update(together)
    column: dict[str, int] = {}
    for name in place:
        taken = {column[other] for other in beside[name] if other in column and other != name}
        column[name] = next(k for k in range(len(taken) + 1) if k not in taken)
    columns: dict[tuple[int, ...], int] = {}
    for name, (path, _) in place.items():
        columns[path] = max(columns.get(path, 1), column[name] + 1)
    left = _left_edges(columns)
    rows = sorted({row for _, row in place.values()})
    return {
        name: (left[path] + column[name] * (WIDTH + GAP), 26 + rows.index(row) * _ROW)
        for name, (path, row) in place.items()
    }


def _left_edges(columns: dict[tuple[int, ...], int]) -> dict[tuple[int, ...], int]:
    """Return where the columns of each path begin: a parent stands in the middle above its children."""
    for path in list(columns):
        for k in range(len(path)):
            columns.setdefault(path[:k], 1)
    children: dict[tuple[int, ...], list[tuple[int, ...]]] = {path: [] for path in columns}
    for path in sorted(columns):
        if path:
            children[path[:-1]].append(path)
    width: dict[tuple[int, ...], int] = {}
    for path in sorted(columns, key=len, reverse=True):
        width[path] = max(columns[path] * (WIDTH + GAP), sum(width[child] for child in children[path]))
    left: dict[tuple[int, ...], int] = {}
    begin: dict[tuple[int, ...], int] = {(): GAP}
    for path in sorted(columns, key=lambda path: (len(path), path)):
        left[path] = begin[path] + (width[path] - columns[path] * (WIDTH + GAP)) // 2
        at = begin[path] + (width[path] - sum(width[child] for child in children[path])) // 2
        for child in children[path]:
            begin[child] = at
            at += width[child]
    return left
