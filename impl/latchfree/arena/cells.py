"""`Cells`: where compiled code finds the participant of calls for a single key.

Example: ``trie[5]`` is compiled code, which is given the address of a *cell*, a word of this process. The word holds
the offset of a slot, or 0: then the code does nothing, and Python asks `Arena.interpreter_participant`, which fills the
cell.

There is a cell for what all may use, and one for each identity that the opening of the arena has had: its snapshots and
private structures. A fork empties all cells of the child, and gives the opening there another identity. So the cell of
the parent's identity stays empty in the child, and compiled code touches nothing that is the parent's.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

#: The identity under which the cell for everybody is.
ANYBODY: Final = 0


class Cells:
    """The cells of one opening of an arena.

    Parameters
    ----------
    identity : int
        The identity of the opening.

    Attributes
    ----------
    words : dict
        The cells by identity, arrays of one word.
    shown : memoryview
        The cell for everybody, which is read without a call.
    """

    def __init__(self, identity: int) -> None:
        self.words: dict[int, NDArray[np.uint64]] = {}
        self._addresses: dict[int, int] = {}
        for maker in (ANYBODY, identity):
            self.address(maker)
        self.shown: Any = self.words[ANYBODY].data

    def address(self, maker: int) -> int:
        """Return the address of the cell of an identity; a cell stays where it is."""
        found = self._addresses.get(maker)
        if found is None:
            word = self.words.setdefault(maker, np.zeros(1, np.uint64))
            found = self._addresses[maker] = int(word.ctypes.data)
        return found

    def empty(self) -> None:
        """Have no participant in any cell."""
        for word in list(self.words.values()):
            word[0] = 0
