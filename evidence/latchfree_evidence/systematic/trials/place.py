"""An arena in plain Python for one trial, with participants; and what every word of it must be in the end.

Example: a trial has dropped its snapshots and emptied all limbos. Each word given out is then on a free list, in the
rest of a chunk, or in a node that the trial's structures reach. Any other word is lost, and fails the trial.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from latchfree.arena import layout
from latchfree.arena.kernels import epochs, freelists, participants
from latchfree_evidence.systematic.plain.memory import Memory
from latchfree_evidence.systematic.plain.world import World

ALL: Final = (1 << 64) - 1
OFFSET: Final = (1 << 40) - 1


def require(condition: object, what: str, *values: object) -> None:
    """Fail a trial unless a condition holds."""
    if not condition:
        raise AssertionError(f"{what}: {', '.join(map(str, values))}")


class Place:
    """An arena, and kernels that work in it.

    Parameters
    ----------
    world : World
    count : int
        How many participants are claimed.
    capacity : int
        Bytes.

    Attributes
    ----------
    mem : Memory
    who : list of int
        The participants.
    """

    def __init__(self, world: World | Any, count: int = 3, capacity: int = 4 << 20) -> None:
        self.world = world
        self.mem = Memory(capacity)
        claim = world[participants.claim]
        self.who: list[int] = [claim(self.mem, (k + 1) << 16) for k in range(count)]
        expected = [layout.PARTICIPANTS + k * layout.PARTICIPANT_WORDS for k in range(count)]
        require(self.who == expected, "participants of a new arena are the first ones", self.who)
        self._pin, self._unpin = world[epochs.pin], world[epochs.unpin]

    def pin(self, me: int) -> None:
        """Pin a participant."""
        self._pin(self.mem, me)

    def unpin(self, me: int) -> None:
        """End the pin of a participant."""
        self._unpin(self.mem, me)

    def pinned(self, me: int, kernel: Any, *arguments: Any) -> Any:
        """Call a kernel with a participant pinned."""
        self._pin(self.mem, me)
        require(self.mem[me + int(layout.P_PIN)] & 1, "a pin is there")
        result = self.world[kernel](self.mem, *arguments)
        self._unpin(self.mem, me)
        require(self.mem[me + int(layout.P_PIN)] == 0, "a pin is gone")
        return result

    def settle(self, reclaim: Callable[[int], None]) -> None:
        """Free all that waits: the epoch can advance, and nobody is pinned."""
        collect = self.world[participants.collect]
        for _ in range(4):
            for me in self.who:
                collect(self.mem, me)
                reclaim(me)

    def account(self, used: Iterable[tuple[int, int]], *, exact: bool = True, killed: bool = False) -> None:
        """Fail unless each word is free, in a chunk's rest, or in one of the nodes `used`, which share no word.

        Without `exact` a list may be longer than its length says. After somebody was `killed`, words may be lost.
        """
        mem = self.mem
        uses = bytearray(mem.bare[int(layout.H_BUMP)])

        def take(start: int, size: int, what: str) -> None:
            require(start >= layout.FIRST_NODE and start + size <= len(uses), f"{what} is in the arena", start, size)
            require(not any(uses[start : start + size]), f"{what} shares no word", start, size)
            uses[start : start + size] = b"\1" * size

        live = 0
        for start, size in used:
            size = rounded(size)
            take(start, size, "a node")
            require(not any(mem.marks[start : start + size]), "a node in use is not free", start, size)
            live += size
        counted = sum(mem.bare[me + int(layout.P_LIVE)] for me in self.who) & ALL
        require(killed or counted == live, "words allocated less words freed are the words in use", counted, live)
        for me in self.who:
            self._account_private(me, take, exact=exact, killed=killed)
        for kind in range(int(freelists.CLASSES)):
            batch = mem.bare[int(layout.SHARED_LISTS) + kind] & OFFSET
            while batch:
                self._account_list(batch, kind, take)
                batch = mem.bare[batch + 1] & OFFSET
        lost = [at for at in range(layout.FIRST_NODE, len(uses)) if not uses[at]]
        require(killed or not lost, "no word is lost", lost[:5], len(lost))

    def _account_private(self, me: int, take: Callable[[int, int, str], None], *, exact: bool, killed: bool) -> None:
        mem = self.mem
        bump, limit = mem.bare[me + int(layout.P_BUMP)], mem.bare[me + int(layout.P_LIMIT)]
        if bump < limit:
            take(bump, limit - bump, "the rest of a chunk")
        for kind in range(int(freelists.CLASSES)):
            found = self._account_list(mem.bare[me + int(layout.P_FREE) + kind], kind, take)
            length = mem.bare[me + int(layout.P_LENGTH) + kind]
            require(
                killed or length == found or (length < found and not exact),
                "a list is as long as its length says",
                kind,
                length,
                found,
            )

    def _account_list(self, node: int, kind: int, take: Callable[[int, int, str], None]) -> int:
        found = 0
        while node:
            size = _class_words(kind)
            require(all(self.mem.marks[node : node + size]), "what is on a free list is free", node)
            take(node, size, "a free node")
            node = self.mem.bare[node]
            found += 1
        return found


def rounded(words: int) -> int:
    """Return the words of the class that holds so many, as documented."""
    if words <= 8:
        return words
    return (words + 3) // 4 * 4 if words <= 72 else max(128, 1 << (words - 1).bit_length())


def _class_words(kind: int) -> int:
    return kind + 1 if kind < 72 else 1 << (7 + kind - 72)
