"""A history as a picture: a row a process, time runs from left to right, a bar an operation.

Example: `put('k', 1)` from time 0 to 3 is a bar over the columns of its two events. A pending operation has a dashed
bar to the right end.
"""

from __future__ import annotations

from collections.abc import Collection
from html import escape
from typing import Final, Protocol

from latchfree_lincheck.history.operation import Operation
from latchfree_model import UNKNOWN
from latchfree_support.notebook import LIMIT

MOST: Final = 120
"""Operations drawn at most."""
_LEFT: Final = 110
_STEP: Final = 34
_ROW: Final = 34
_LETTER: Final = 6.6
_COLOURS: Final = ("#cfe8f7", "#fde3b8", "#c9ebd9", "#f6d3e6", "#d9d2ef", "#f8cfc0")


class Recorded(Protocol):
    """What is drawn of a history."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The operations, in any order."""


def history_svg(history: Recorded, marked: Collection[int] = ()) -> str:
    """Return a history as an SVG document of at most 100 kB.

    Parameters
    ----------
    history : History
        The first 120 operations are drawn.
    marked : collection of int
        Indices of operations with a red border.
    """
    count = MOST
    while True:
        text = _drawn(history, marked, count)
        if len(text) <= LIMIT or count == 1:
            return text
        count //= 2


def _drawn(history: Recorded, marked: Collection[int], most: int) -> str:
    shown = sorted(enumerate(history.operations), key=lambda pair: pair[1].invoke)[:most]
    times = sorted({time for _, each in shown for time in (each.invoke, each.return_) if time is not None})
    column = {time: k for k, time in enumerate(times)}
    rows = {
        name: k for k, name in enumerate(sorted({str(each.process) for _, each in shown}, key=lambda n: (len(n), n)))
    }
    end = len(times)
    bars = [_bar(each, index in marked, column, rows, end) for index, each in shown]
    labels = [
        f'<text x="6" y="{_ROW * k + 39}">{escape(f"process {name}"[:16])}</text>'
        f'<path d="M{_LEFT} {_ROW * k + 52}H{_LEFT + _STEP * (end + 1)}" stroke="#cccccc"/>'
        for name, k in rows.items()
    ]
    hidden = len(history.operations) - len(shown)
    more = (
        [f'<text x="6" y="14">the first {len(shown)} of {len(history.operations)} operations</text>'] if hidden else []
    )
    width, height = _LEFT + _STEP * (end + 1) + 160, _ROW * len(rows) + 34
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="monospace" font-size="11" role="img"><title>'
        f'{escape(history.name)}</title><rect width="{width}" height="{height}" fill="#ffffff"/>'
        f"{''.join((*more, *labels, *bars))}</svg>"
    )


def _bar(each: Operation, wrong: bool, column: dict[int, int], rows: dict[str, int], end: int) -> str:
    left = _LEFT + _STEP * column[each.invoke]
    right = _LEFT + _STEP * (end if each.return_ is None else column[each.return_])
    right = max(right, left + 12)
    y = _ROW * rows[str(each.process)] + 24
    call = f"{each.f}({', '.join(map(repr, each.arguments))})"
    text = call if each.result is UNKNOWN else f"{call} → {each.result!r}"
    room = max(int((right - left) / _LETTER), 3)
    short = text if len(text) <= room else text[: room - 1] + "…"
    dash = ' stroke-dasharray="4 3"' if each.return_ is None else ""
    colour = "#c01f2b" if wrong else "#333333"
    fill = _COLOURS[rows[str(each.process)] % len(_COLOURS)]
    return (
        f'<g><title>{escape(text[:200])}</title><rect x="{left}" y="{y}" width="{right - left}" height="22" rx="4" '
        f'fill="{fill}" stroke="{colour}" stroke-width="{2 if wrong else 1}"{dash}/>'
        f'<text x="{left + 3}" y="{y + 15}">{escape(short)}</text></g>'
    )
