"""Rings of messages beside a deque: a block is its caller's, or the ring's, or free, and never two of them."""

from __future__ import annotations

import random

from latchfree.arena import layout
from latchfree.streams.kernels import entry_points, handing_over, payload
from latchfree.streams.kernels import layout as words
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.place import ALL, require, rounded
from latchfree_evidence.systematic.trials.ring import DONE, MISSING, NUMBER, REFUSED, SHUT, TELL, Ring

SIZES = (0, 1, 7, 8, 9, 15, 16, 55, 56, 57, 500)


class Messages(Ring):
    """A ring of blocks."""

    def take(self) -> int:
        """Take a block, and write into it."""
        size, own = self.rng.choice(SIZES), [0]
        me, before = self.place.who[0], self._live()
        require(self.call(payload.take_block, me, size, own) is True, "there is memory")
        words_ = 1 + (size + 7) // 8
        require(self._live() - before == rounded(words_), "a block is as large as it must be", size)
        require(self.mem[own[0]] == size, "a block says how many bytes it has")
        for k in range(1, words_):
            self.mem[own[0] + k] = k
        return own[0]

    def _live(self) -> int:
        return sum(self.mem[each + int(layout.P_LIVE)] for each in self.place.who) & ALL

    def freed(self, own: list[int]) -> None:
        """Free blocks."""
        before, held = self._live(), [block for block in own if block]
        size = sum(rounded(1 + (self.mem[block] + 7) // 8) for block in held)
        self.call(payload.free_blocks, self.place.who[0], own)
        require(not any(own) and before - self._live() == size, "all are free, and had no more")

    def put_one(self) -> None:
        """Put a block: then the ring has it, or the caller still."""
        block = self.take()
        own, number = [block], self.rng.choice((NUMBER, NUMBER, NUMBER, NUMBER + 1))
        outcome = self.call(handing_over.put_block, self.me(), self.at, number, self.rng.choice((0, 3)), own)
        full = len(self.held) == self.cells
        wanted = MISSING if number != NUMBER else SHUT if self.shut else REFUSED if full else DONE
        require(outcome & ~TELL == wanted, "put_block", outcome, wanted)
        require(own == [0 if wanted == DONE else block], "whose the block is", outcome, own)
        if wanted == DONE:
            self.held.append(block)
        self.freed(own)

    def put_some(self) -> None:
        """Put blocks from a place on."""
        given = [self.take() for _ in range(self.rng.randrange(7))]
        first, own = self.rng.randrange(len(given) + 1), list(given)
        done, outcome = self.call(handing_over.put_blocks, self.me(), self.at, NUMBER, first, 2, own)
        fit = 0 if self.shut else min(len(given) - first, self.cells - len(self.held))
        wanted = DONE if fit == len(given) - first else SHUT if self.shut else REFUSED
        require((done, outcome & ~TELL) == (first + fit, wanted), "put_blocks", done, outcome)
        require(own == [*given[:first], *[0] * fit, *given[first + fit :]], "whose the blocks are", own, given)
        self.held.extend(given[first : first + fit])
        self.freed(own)

    def get_one(self) -> None:
        """Get a block."""
        own, number = [0], self.rng.choice((NUMBER, NUMBER, NUMBER, NUMBER + 1))
        outcome = self.call(handing_over.get_block, self.me(), self.at, number, self.rng.choice((0, 3)), own)
        wanted = MISSING if number != NUMBER else DONE if self.held else SHUT if self.shut else REFUSED
        require(outcome & ~TELL == wanted, "get_block", outcome, wanted)
        require(own == [self.held.popleft() if wanted == DONE else 0], "the oldest block", own)
        self.freed(own)


def messages(world: World, seed: int) -> None:
    """Put and get blocks, and free a ring that has some."""
    rng = random.Random(seed)
    ring = Messages(world, rng, shared=seed % 2 == 0, weak=False, first=(0, 0, ALL - 60, ALL - 60)[seed % 4])
    ring.mem[ring.at + int(words.PAYLOAD)] = 1
    for _ in range(40):
        rng.choice((ring.put_one, ring.put_some, ring.get_one))()
        ring.idle()
        if rng.random() < 0.1:
            ring.arm(rng.choice(("NEWS", "ROOM")))
    if rng.random() < 0.5:
        ring.call(entry_points.shut, ring.me(), ring.at, NUMBER)
        ring.shut = True
        for _ in range(4):
            rng.choice((ring.put_one, ring.put_some, ring.get_one))()
    ring.free()
