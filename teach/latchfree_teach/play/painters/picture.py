"""A picture: boxes at symbolic places, arrows between them; positions are computed for all states of a page at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from latchfree_teach.play.walking import Thread


class Box(NamedTuple):
    """A box: its name, where it is (a path in a tree, and a row there), two lines of text, and classes of its style."""

    id: str
    path: tuple[int, ...]
    row: int
    title: str
    text: str
    style: str


class Arrow(NamedTuple):
    """An arrow from box to box, with classes of its style."""

    source: str
    target: str
    style: str


@dataclass
class Picture:
    """What one state looks like; `homes` tells in which box a word of memory is."""

    boxes: list[Box] = field(default_factory=list)
    arrows: list[Arrow] = field(default_factory=list)
    homes: dict[int, str] = field(default_factory=dict)


Words = NDArray[np.uint64]
Pending = Mapping[int, Thread]


class Painter(Protocol):
    """Draws the memory of one structure."""

    def paint(self, memory: Words, pending: Pending) -> Picture:
        """Return the picture of memory, with what threads in the midst of an operation are about to do."""
        ...
