"""The ring: two counters, and the cells that they lead to."""

from __future__ import annotations

from latchfree.streams.kernels import layout as r
from latchfree_teach.play.painters.picture import Arrow, Box, Pending, Picture, Words


def _signed(word: int) -> int:
    return word - (1 << 64) if word >> 63 else word


class RingPainter:
    """Draws the ring at an offset."""

    def __init__(self, ring: int) -> None:
        self._ring = ring

    def paint(self, memory: Words, pending: Pending) -> Picture:
        """Return counters above cells; an arrow leads from a counter to the cell of its position."""
        picture = Picture()
        mask = int(memory[self._ring + int(r.MASK)])
        cells = int(memory[self._ring + int(r.CELLS)])
        for name, at in (("next put", self._ring + int(r.ENQ)), ("next get", self._ring + int(r.DEQ))):
            position = int(memory[at])
            picture.boxes.append(Box(name, (), 0, name, f"position {_signed(position)}", "root"))
            picture.arrows.append(Arrow(name, f"cell{position & mask}", "next"))
            picture.homes[at] = name
        for k in range(mask + 1):
            cell = cells + 2 * k
            turn, value = (int(memory[cell + int(at)]) for at in (r.TURN, r.VALUE))
            picture.boxes.append(Box(f"cell{k}", (), 1, f"cell {k}: {value}", f"turn {_signed(turn)}", "cell"))
            picture.homes[cell] = picture.homes[cell + 1] = f"cell{k}"
        return picture
