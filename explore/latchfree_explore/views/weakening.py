"""Accesses made weaker than the code says, chosen by their source lines: they show which orders are needed.

A site is the address of the text "file:line" that the compiler baked into an access; a line that was compiled into
several functions has several. Nothing is compiled anew.
"""

from __future__ import annotations

from typing import Final

from latchfree.jit import kernel
from latchfree.kinds import Word
from latchfree_explore.board import layout as b
from latchfree_explore.board.layout import get

# How an access is weakened.
AS_CODED: Final = 0
NOT_SEQ: Final = 1  # acquire for a load, release for a store, both for an update; not sequentially consistent
RELAXED: Final = 2  # neither acquire nor release
AS_STORE: Final = 3  # an exchange is a release store, whose result is the newest value


@kernel
def weakening(board: Word, site: Word) -> Word:
    """Return how the accesses of a site are weakened."""
    sites = get(board, b.WEAK_SITES)
    for k in range(get(board, b.WEAKENED)):
        if get(sites, 2 * k) == site:
            return get(sites, 2 * k + 1)
    return AS_CODED
