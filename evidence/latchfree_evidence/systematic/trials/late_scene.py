"""A trie with a call that is late: it stops, while others register snapshots and drop them, and goes on.

After a scene the snapshots that are open are as they were, and in the end no slot of the registry is left.
"""

from __future__ import annotations

from typing import Any

from latchfree.ctrie.kernels import entry_points, insert
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials import walking
from latchfree_evidence.systematic.trials.halting import Halted
from latchfree_evidence.systematic.trials.place import require
from latchfree_evidence.systematic.trials.tries import KINDS, Frozen, Trial

_OWNER, _KEYS = 20, 6


class Scene:
    """A trie of a few keys; the third participant is the one who stops."""

    def __init__(self, world: World, steps: World, snapshots: int = 0) -> None:
        self.world, self.steps = world, steps
        self.trial = Trial(world, KINDS[0], 0)
        self.mem, self.trie, self.late = self.trial.mem, self.trial.trie, self.trial.place.who[2]
        self.round = 0
        self.write()
        for _ in range(snapshots):
            self.trial.freeze(self.trie)
            self.write()

    def write(self) -> None:
        """Put all keys."""
        self.round += 1
        me = self.trial.place.who[0]
        for number in range(_KEYS):
            value = 100 * self.round + number
            key = self.trial.key(number)
            self.trial.place.pinned(me, insert.insert, self.trie.at, me, key, value, 0, 0)
            self.trie.held[number] = value

    def open(self) -> Frozen:
        """Take a snapshot."""
        self.trial.freeze(self.trie)
        return self.trie.frozen[-1]

    def come_and_go(self) -> None:
        """Take a snapshot and drop it."""
        self.trial.drop(self.trie, self.open())

    def calling(self, kernel: Any, *arguments: Any) -> Halted:
        """Begin a call of the late one, who is pinned."""
        self.trial.place.pin(self.late)
        return Halted(self.steps, kernel, self.mem, *arguments)

    def dropping(self, which: Frozen, me: int = 0) -> Halted:
        """Begin to drop a snapshot."""
        self.trie.frozen.remove(which)
        return Halted(self.steps, entry_points.drop, self.mem, self.trie.at, me or self.late, which.slot)

    def end(self) -> None:
        """Overwrite all keys twice, and look at all snapshots; in the end no slot is in use."""
        self.trial.place.unpin(self.late)
        for _ in range(2):
            self.write()
        self.trial.place.settle(self.trial.reclaim)
        self.trial.check()
        for frozen in list(self.trie.frozen):
            self.trial.drop(self.trie, frozen)
        for table in walking.tables(self.mem, self.trie.at):
            for slot in range(table + 2, table + 2 + walking.TABLE_SLOTS):
                require(self.mem[slot + _OWNER] == 0, "no slot is left", slot)
        self.trial.finish()
