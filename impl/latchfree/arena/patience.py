"""Patience with a full arena: make room, try again, and know when to give up.

Example: an insert finds the arena full, while a thousand nodes that were retired a moment ago wait in limbo. The caller
makes room once, which frees them, and the second attempt succeeds.

Rule: after every attempt that got nowhere, collect; after the fourth in a row, also merge neighbouring free pieces;
after the sixth, give up. Three collections free whatever was retired just before, so the fourth shows that pieces of
the needed size are missing.
"""

from __future__ import annotations

from typing import Final

from latchfree.arena.arena import Arena

#: Attempts in a row that may get nowhere before the caller gives up, and before free pieces are merged.
_LIMIT: Final = 5
_COLLECTIONS: Final = 3


class Patience:
    """The attempts of one call that finds its arena full.

    Parameters
    ----------
    arena : Arena
    bulk : bool
        Whether the call runs without the interpreter lock, on the participant of its thread.
    """

    __slots__ = ("_arena", "_bulk", "_vain")

    def __init__(self, arena: Arena, *, bulk: bool = False) -> None:
        self._arena = arena
        self._bulk = bulk
        self._vain = 0

    def make_room(self, *, progress: bool = False) -> bool:
        """Free memory after an attempt that ran out of it.

        Parameters
        ----------
        progress : bool
            Whether the attempt did part of its work.

        Returns
        -------
        bool
            Whether to try again; False after too many attempts in a row without progress.
        """
        self._vain = 0 if progress else self._vain + 1
        if self._vain > _LIMIT:
            return False
        self._arena.collect()
        if self._vain > _COLLECTIONS:
            self._arena.merge(bulk=self._bulk)
        return True
