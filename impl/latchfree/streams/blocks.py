"""`Blocks`: the blocks of messages that a call has, from when they are taken or got until they are put or freed.

Example: a put of three messages takes three blocks and writes them. The ring has room for two; a compiled call puts
these, and writes 0 in their place. The call ends, in the way it likes, and what is left in `Blocks` is freed.

Invariant: a block is in one `Blocks`, or in the ring, or free, and only compiled calls change which. So a signal
handler that raises between two steps of Python finds every block in one place. A child that is forked by a handler has
a copy of its parent's `Blocks`, and whatever it does with them raises `MadeBeforeFork`. Specified in
`spec/Messages.tla`.
"""

from __future__ import annotations

import numpy as np

from latchfree.arena import Arena
from latchfree.arena.patience import Patience
from latchfree.errors import ArenaFull
from latchfree.streams.border import RING


class Blocks:
    """Blocks that a call has.

    Parameters
    ----------
    arena : Arena
    count : int
        Of how many blocks there is room for.

    Attributes
    ----------
    words : ndarray of int64
        The offsets of the blocks, and 0 where there is none.
    maker : int
        The identity of the opening whose they are, see `Arena.interpreter_participant`; 0 in a private arena, of which
        a child has a copy.
    """

    __slots__ = ("arena", "maker", "words")

    def __init__(self, arena: Arena, count: int) -> None:
        self.arena = arena
        self.words = np.zeros(count, np.int64)
        self.maker = arena.region.identity if arena.shared else 0

    def renew(self) -> None:
        """Belong to this process if there is no block: a child that goes on waiting for one gets blocks of its own."""
        if self.maker and not self.words.any():
            self.maker = self.arena.region.identity

    def write(self, place: int, data: bytes) -> None:
        """Write the bytes of a message into a new block.

        Raises
        ------
        ArenaFull
            If the arena has no room for them.
        ArenaClosed, MadeBeforeFork
            As from `Arena.interpreter_participant`.
        """
        arena, size, take, patience = self.arena, len(data), RING.take_block, Patience(self.arena)
        base, own = arena.base, self.words[place : place + 1]
        while not take(base, arena.interpreter_participant(self.maker), size, own):
            if not patience.make_room():
                raise ArenaFull(
                    f"{arena!r} has no room for a message of {size:,} bytes; get some, or use a larger arena"
                )
        given, into = np.frombuffer(data, np.uint8), self._bytes(place, size)
        with arena.call():
            arena.interpreter_participant(self.maker)
            into[:] = given

    def read(self, place: int) -> bytes:
        """Return the bytes of a message.

        Raises
        ------
        ArenaClosed, MadeBeforeFork
            As from `Arena.interpreter_participant`.
        """
        arena = self.arena
        with arena.call():
            size = int(arena.words[int(self.words[place])])
            arena.interpreter_participant(self.maker)  # else the block may be another's by now, and the size anything
            data = self._bytes(place, size).tobytes()
            arena.interpreter_participant(self.maker)
        return data

    def free(self) -> None:
        """Free the blocks that are left; a child that was forked meanwhile leaves them to its parent."""
        arena, free = self.arena, RING.free_blocks
        if not self.words.any() or arena.closing or (self.maker and arena.forked_since(self.maker)):
            return
        free(arena.base, arena.interpreter_participant(self.maker), self.words)

    def _bytes(self, place: int, size: int) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
        first = int(self.words[place]) + 1
        return self.arena.words[first : first + -(-size // 8)].view(np.uint8)[:size]
