"""Make the library of this package: of the calls that its modules declare."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from latchfree.arena.border import ARENA
from latchfree.border import Border
from latchfree.ctrie.border import TRIE
from latchfree.native.build import build
from latchfree.native.key import processor
from latchfree.native.library import LATCHFREE
from latchfree.streams.border import RING
from latchfree.topics.concurrent.border import TOPICS
from latchfree.topics.mask.border import MASK

BORDERS: Final[tuple[Border, ...]] = (ARENA, TRIE, RING, TOPICS, MASK)
"""All calls of the package."""


def make(report: Callable[[int, int], object] = lambda done, of: None) -> None:
    """Make the library for this processor, where `Library.file` says.

    Parameters
    ----------
    report : callable
        Called with the number of functions done, and of all.

    Raises
    ------
    NoLinker
        If there is no linker.
    RuntimeError
        If no library is made for this system.
    """
    wanted, file = processor(), LATCHFREE.file()
    if wanted is None or file is None:
        raise RuntimeError("no library is made for this system, only for Linux on x86-64-v2 or aarch64")
    build(BORDERS, LATCHFREE.folders, file, wanted, report)
