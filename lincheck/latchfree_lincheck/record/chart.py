"""Draw how many calls ended in each moment of a run, and when faults were on, as SVG.

A call is counted where it ended; a call that never ended where it began. Bands are faults.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from typing import Final

from latchfree_lincheck.record.entries import RecordedCall, RecordedFault

WIDTH: Final = 1040
HEIGHT: Final = 240
LEFT: Final = 56
BOTTOM: Final = 24
LINE: Final = 15
BINS: Final = 100

ENDS: Final = ("return", "fail", "lost")
"""The ends of calls, from the bottom of a bar to its top."""


def chart(
    calls: Sequence[RecordedCall],
    faults: Sequence[RecordedFault],
    started: int,
    ended: int,
    failing: RecordedCall | None = None,
) -> str:
    """Return an SVG element.

    Parameters
    ----------
    calls, faults : sequence
        What was recorded.
    started, ended : int
        The time axis, in nanoseconds.
    failing : RecordedCall, optional
        A call to mark.
    """
    return "\n".join(_Chart(started, max(ended, started + 1)).draw(calls, faults, failing))


class _Chart:
    def __init__(self, started: int, ended: int) -> None:
        self._started = started
        self._length = ended - started

    def _x(self, time: int) -> float:
        share = min(max((time - self._started) / self._length, 0), 1)
        return LEFT + share * (WIDTH - LEFT)

    def draw(
        self, calls: Sequence[RecordedCall], faults: Sequence[RecordedFault], failing: RecordedCall | None
    ) -> Iterator[str]:
        bars = self._counted(calls)
        top = LINE * (1 + len(faults[:8]))
        floor = top + HEIGHT
        second = self._length / 1e9 / BINS
        highest = max(map(sum, bars)) or 1
        label = f"{len(calls)} calls in {self._length / 1e9:.1f} seconds, {len(faults)} faults"
        yield f'<svg viewBox="0 0 {WIDTH} {floor + BOTTOM}" role="img" aria-label="{label}">'
        for row, fault in enumerate(faults):
            left = self._x(fault.begun)
            right = self._x(self._started + self._length if fault.ended is None else fault.ended)
            yield f'<rect class="fault" x="{left:.1f}" y="0" width="{max(right - left, 1):.1f}" height="{floor}"/>'
            if row < 8:
                side = "end" if left > WIDTH * 0.75 else "start"
                name = html.escape(fault.name if len(fault.name) <= 60 else fault.name[:57] + "...")
                yield f'<text class="fault" x="{left:.1f}" y="{LINE * (row + 1)}" text-anchor="{side}">{name}</text>'
        wide = (WIDTH - LEFT) / BINS
        for number, counts in enumerate(bars):
            below = 0.0
            for end, count in zip(ENDS, counts, strict=True):
                high = count / highest * HEIGHT
                if count:
                    where = f'x="{LEFT + number * wide:.1f}" y="{floor - below - high:.1f}"'
                    yield f'<rect class="{end}" {where} width="{wide - 1:.1f}" height="{high:.1f}"/>'
                below += high
        yield f'<line class="axis" x1="{LEFT}" y1="{floor}" x2="{WIDTH}" y2="{floor}"/>'
        yield f'<text x="{LEFT - 6}" y="{top + 10}" text-anchor="end">{highest / second:,.0f}/s</text>'
        yield f'<text x="{LEFT - 6}" y="{floor}" text-anchor="end">0</text>'
        for fifth in range(6):
            time = self._started + self._length * fifth // 5
            side = ("start", "middle", "middle", "middle", "middle", "end")[fifth]
            text = f"{self._length / 5e9 * fifth:.2f} s"
            yield f'<text x="{self._x(time):.1f}" y="{floor + 16}" text-anchor="{side}">{text}</text>'
        if failing is not None:
            at = self._x(failing.ended or failing.begun)
            yield f'<line class="bad" x1="{at:.1f}" y1="{top}" x2="{at:.1f}" y2="{floor}"/>'
        yield "</svg>"

    def _counted(self, calls: Sequence[RecordedCall]) -> list[list[int]]:
        bars = [[0] * len(ENDS) for _ in range(BINS)]
        for call in calls:
            share = ((call.ended or call.begun) - self._started) / self._length
            bars[min(max(int(share * BINS), 0), BINS - 1)][ENDS.index(call.end)] += 1
        return bars
