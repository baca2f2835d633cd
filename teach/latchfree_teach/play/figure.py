"""A state of a play page as a picture by itself, for a slide or a book: SVG, without a script.

Example: `figure(data, 0)` is the memory at the beginning; `figures(data)` is the beginning and each move of a shortest
way to a violation.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any, Final

_COLOURS: Final = ("#1d63b8", "#a8480a", "#23713a", "#7a35b0")
_LETTERS: Final = 20


def figures(data: Mapping[str, Any]) -> list[str]:
    """Return the pictures of a shortest way to a violation, the beginning first; of a right page the beginning."""
    return [figure(data, state) for state in _way(data["states"])]


def figure(data: Mapping[str, Any], state: int) -> str:
    """Return the memory of one state, and which words the threads are about to touch.

    Parameters
    ----------
    data : mapping
        What `latchfree_teach.play.document.document` returns.
    state : int
        Its number.
    """
    wide, high = data["size"]
    boxes = {data["boxes"][k][0]: data["boxes"][k] for k in data["states"][state][0]}
    arrows = [data["arrows"][k] for k in data["states"][state][1]]
    right = max((box[1] for box in boxes.values()), default=0) + wide + 20
    bottom = max((box[2] for box in boxes.values()), default=0) + high + 20
    marks = _marks(data, state, boxes, wide)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {right} {bottom}" width="{right}" height="{bottom}" '
        f'font-family="monospace" font-size="12" role="img"><title>{escape(_caption(data, state))}</title>'
        '<defs><marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#333333"/></marker></defs>'
        f'<rect width="{right}" height="{bottom}" fill="#ffffff"/>'
        f"{''.join(_arrow(each, boxes, wide, high) for each in arrows)}"
        f"{''.join(_box(each, wide, high) for each in boxes.values())}{marks}</svg>\n"
    )


def _caption(data: Mapping[str, Any], state: int) -> str:
    status = data["states"][state][5]
    return f"{data['title']}, {data['scenario']}{f': {status}' if status else ''}"


def _colour(style: str) -> str:
    return next((_COLOURS[k] for k in range(len(_COLOURS)) if f"t{k}" in style.split()), "#333333")


def _dash(style: str) -> str:
    soft = {"ghost", "old", "swing", "prev", "failed"}.intersection(style.split())
    return ' stroke-dasharray="5 3"' if soft else ""


def _fit(text: str) -> str:
    return escape(text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}…")


def _box(box: list[Any], wide: int, high: int) -> str:
    _, x, y, title, text, style = box
    colour = _colour(style)
    round_ = 20 if "inode" in style.split() else 3
    middle = f'x="{x + wide / 2:g}" text-anchor="middle" fill="{colour}"'
    return (
        f'<rect x="{x}" y="{y}" width="{wide}" height="{high}" rx="{round_}" fill="#ffffff" stroke="{colour}"'
        f"{_dash(style)}/>"
        f'<text y="{y + 17}" font-weight="600" {middle}>{_fit(title)}</text>'
        f'<text y="{y + 34}" {middle}>{_fit(text)}</text>'
    )


def _arrow(arrow: list[Any], boxes: Mapping[str, list[Any]], wide: int, high: int) -> str:
    first, second, style = arrow[0], arrow[1], arrow[2]
    if first not in boxes or second not in boxes:
        return ""
    (_, x1, y1, *_), (_, x2, y2, *_) = boxes[first], boxes[second]
    if y1 == y2:
        path = f"M{x1 + wide if x2 > x1 else x1} {y1 + high / 2:g}L{x2 if x2 > x1 else x2 + wide} {y2 + high / 2:g}"
    else:
        path = f"M{x1 + wide / 2:g} {y1 + high if y2 > y1 else y1}L{x2 + wide / 2:g} {y2 if y2 > y1 else y2 + high}"
    return f'<path d="{path}" fill="none" stroke="{_colour(style)}" marker-end="url(#end)"{_dash(style)}/>'


def _marks(data: Mapping[str, Any], state: int, boxes: Mapping[str, list[Any]], wide: int) -> str:
    """Return a mark at each box that a thread is about to touch."""
    made, beside = [], dict[str, int]()
    for thread, each in enumerate(data["states"][state][2]):
        if not isinstance(each, list) or len(each) < 4 or each[2] not in boxes:
            continue
        _, x, y, *_ = boxes[each[2]]
        k = beside[each[2]] = beside.get(each[2], -1) + 1
        at = x + wide - 34 * (k + 1)
        made.append(
            f'<rect x="{at}" y="{y - 12}" width="30" height="15" rx="3" fill="{_COLOURS[thread % 4]}"/>'
            f'<text x="{at + 15}" y="{y - 1}" text-anchor="middle" font-size="10" fill="#ffffff">T{thread}</text>'
        )
    return "".join(made)


def _way(states: list[Any]) -> list[int]:
    """Return the states of a way to a violation with as few moves as can be; the first state alone if there is none."""
    came = {0: -1}
    queue = [0]
    for state in queue:
        if states[state][5] not in ("", "done"):
            way = []
            while state >= 0:
                way.append(state)
                state = came[state]
            return way[::-1]
        for move in states[state][3]:
            if move[1] not in came:
                came[move[1]] = state
                queue.append(move[1])
    return [0]
