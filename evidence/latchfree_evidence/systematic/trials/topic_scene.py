"""A topic trie in memory that knows which words are free, beside a list of the subscriptions that it must hold.

Example: three patterns are subscribed in one call, and one is taken away. Then `look` matches topics in all ways, and
finds what the dialect says of the other two.

Invariant: after every call that was not disturbed, `check` passes: the tree is as small as it can be, see
`latchfree_evidence.systematic.trials.topic_shape`. In the end `account` finds every word.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from latchfree.arena import layout
from latchfree.ctrie.kernels import registry, snapshot, trees
from latchfree.topics.concurrent.kernels import collect, near, rows, whole
from latchfree.topics.concurrent.packed_dialect import grammar_of
from latchfree.topics.dialects import DIALECTS
from latchfree_evidence.systematic.plain.arrays import View
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials import walking
from latchfree_evidence.systematic.trials.place import ALL, Place, require
from latchfree_evidence.systematic.trials.topic_arrays import Column, Fenced, words
from latchfree_evidence.systematic.trials.topic_shape import Held, Shape
from latchfree_evidence.systematic.trials.tries import spares

_FULL: Final = ALL
_NUMBERS: Final = 7
_PAYLOAD: Final = 16


class Topics:
    """A trie, and the subscriptions that it must hold.

    Parameters
    ----------
    world : World
    dialect : str
    mask : int
        The bits of digits that count.
    capacity : int
        Bytes of the arena.

    Attributes
    ----------
    held : dict
        Number -> pattern and subscriber.
    """

    def __init__(self, world: World, dialect: str, mask: int = ALL, capacity: int = 1 << 21) -> None:
        self.world, self.dialect, self.mask = world, DIALECTS[dialect], mask
        self.grammar = grammar_of(self.dialect)
        self.place = Place(world, 3, capacity)
        self.mem = self.place.mem
        self.mem[int(layout.H_GENERATION)] = self.mem[int(layout.H_CHUNK)] - 1
        self.trie = self.place.pinned(self.place.who[0], whole.create, mask, self.place.who[0], 5)
        require(self.mem[self.trie + _NUMBERS] == 5, "the number of the first subscription")
        self.held: Held = {}
        self.fenced = Fenced()

    # changes --------------------------------------------------------------------------------------------------------

    def descent(self, longest: int = 300) -> rows.Descent:
        """Return arrays for a change."""
        return rows.Descent(words(longest + 3), words(longest + 3), words(22 * (longest + 2) + 4))

    def add(self, me: int, patterns: list[str], subscribers: list[int], step: int = _PAYLOAD) -> list[int]:
        """Subscribe a column; return the numbers of those for which there was room."""
        column, numbers = Column(patterns), words(len(patterns))
        payloads = np.zeros((max(1, len(patterns)), 2), np.int64)
        payloads[: len(patterns), 0] = subscribers
        done = self.world[rows.add_rows](
            self.mem, self.trie, me, self.grammar.rules, column.address, column.places, payloads.ctypes.data, 16, step,
            0, numbers, self.descent(column.longest),
        )  # fmt: skip
        require(self.mem[me + int(layout.P_PIN)] == 0, "a call ends its pin")
        made = [numbers[k] for k in range(done)]
        require(len(set(made)) == len(made) and not set(made) & set(self.held), "numbers are new", made)
        for k, number in enumerate(made):
            self.held[number] = patterns[k], subscribers[k if step else 0]
        return made

    def drop(self, me: int, patterns: list[str], numbers: list[int]) -> int:
        """Unsubscribe a column; return how many rows were looked at."""
        column, given, found = Column(patterns), words(len(numbers)), View(np.full(len(numbers), -9, np.int64))
        for k, number in enumerate(numbers):
            given[k] = number
        done: int = self.world[rows.drop_rows](
            self.mem, self.trie, me, self.grammar.rules, column.address, column.places, given, found, 0,
            self.descent(column.longest),
        )  # fmt: skip
        require(self.mem[me + int(layout.P_PIN)] == 0, "a call ends its pin")
        for k in range(done):
            pattern, subscriber = self.held.get(numbers[k], ("", 0))
            there = numbers[k] in self.held and pattern == patterns[k]
            require(given[k] == (numbers[k] if there else 0), "whether it was subscribed", patterns[k], numbers[k])
            require(found[k] == (subscriber if there else -9), "the subscriber that is gone", patterns[k], found[k])
            if there:
                del self.held[numbers[k]]
        return done

    # reads ----------------------------------------------------------------------------------------------------------

    def freeze(self, me: int) -> int:
        """Take a snapshot; return its slot."""
        slot = self.place.pinned(me, snapshot.freeze, self.trie, me)
        require(slot not in (0, _FULL), "a snapshot is taken", slot)
        return int(slot)

    def root(self, slot: int) -> int:
        """Return the root of a snapshot."""
        return int(self.mem[slot + int(registry.FROZEN)])

    def thaw(self, me: int, slot: int) -> None:
        """Drop a snapshot."""
        self.place.pinned(me, registry.drop, self.trie, me, slot)

    def matching(self, held: Held, topic: str) -> Held:
        """Return which of some subscriptions match, as the dialect says."""
        split, parse = self.dialect.split(topic), self.dialect.pattern
        return {n: it for n, it in held.items() if self.dialect.matches(parse(it[0]), split)}

    def buffers(self, longest: int, room: tuple[int, int, int] = (900, 600, 300), most: int = ALL - 1) -> Any:
        """Return arrays for a collection: of a text's words, of frames, notes and S-nodes."""
        counts = words(4)
        counts[int(collect.MOST)] = most
        self.fenced = Fenced()
        starts, strings, frames, noted, found = map(self.fenced.words, (longest + 2, longest + 2, *room))
        return collect.Buffers(starts, strings, frames, noted, found, counts)

    def rows(
        self,
        me: int,
        topics: list[str],
        buffers: Any,
        *,
        root: int = 0,
        values: int = 1,
        out: int = 900,
        first: int = 0,
    ) -> tuple[int, list[int], View]:
        """Match a column; return the first row that was not, the offsets, and the array of what was found."""
        column, offsets = Column(topics), View(np.zeros(len(topics) + 1, np.int64))
        found = View(np.full(out, -9, np.int64))
        done: int = self.world[rows.match_rows](
            self.mem, self.trie, root, me, self.grammar, values, column.address, column.places, first, offsets, found,
            buffers,
        )  # fmt: skip
        require(self.mem[me + int(layout.P_PIN)] == 0, "a call ends its pin")
        self.fenced.check()
        return done, [offsets[k] for k in range(len(offsets))], found

    def look(self, me: int, topics: list[str], held: Held, root: int = 0) -> None:
        """Match topics, for subscribers and for copies of S-nodes."""
        buffers = self.buffers(max((len(each.encode()) for each in topics), default=0))
        done, offsets, out = self.rows(me, topics, buffers, root=root, out=3000)
        require(done == len(topics) and offsets[0] == 0, "all topics are matched", done)
        for k, topic in enumerate(topics):
            found = [out[j] for j in range(offsets[k], offsets[k + 1])]
            wanted = {subscriber for _, subscriber in self.matching(held, topic).values()}
            require(len(found) == len(set(found)) and set(found) == wanted, "who is matched", topic, found, wanted)
        done, offsets, out = self.rows(me, topics, buffers, root=root, values=0, out=9000)
        require(done == len(topics), "all topics are matched, for copies")
        copies = self.copies(out, offsets[-1], buffers.counts[0])
        for k, topic in enumerate(topics):
            numbers = [copies[out[j]] for j in range(offsets[k], offsets[k + 1])]
            require(sorted(numbers) == sorted(self.matching(held, topic)), "what is matched", topic, numbers)

    def copies(self, out: View, count: int, end: int) -> dict[int, int]:
        """Return the numbers of subscriptions by the S-nodes that were copied, which are as they are in memory."""
        nodes = [out[k] for k in range(count)]
        require([out[count + k] for k in range(count)] == sorted(nodes), "S-nodes in order")
        found, at = {}, 2 * count
        for node in sorted(set(nodes)):
            size = walking.size_of(self.mem, node)
            require(out[at] == node, "a record begins with its S-node", at)
            copy = [out[at + k] & ALL for k in range(1, size)]
            require(copy == [self.mem[node + k] for k in range(1, size)], "a record is a copy", node)
            found[node] = out[at + 1] >> 1
            at += size
        require(end == at, "the end of the records", end, at)
        return found

    def scanned(self, me: int, root: int, stack: int = 900, room: int = 300) -> tuple[int, list[int]]:
        """Read all of a frozen tree; return the count, and the numbers of subscriptions."""
        array, found = words(stack), words(room)
        count: int = self.world[whole.scan](self.mem, root, me, array, found)
        require(self.mem[me + int(layout.P_PIN)] == 0, "a call ends its pin")
        return count, [self.mem[found[k] + 1] >> 1 for k in range(min(count, room))] if count <= room else []

    def near(self, me: int, root: int, pattern: str, frames: int = 900, room: int = 300) -> tuple[int, list[int]]:
        """Find what may overlap with a pattern; return the count, and the numbers of subscriptions."""
        column, found = Column([pattern]), words(room)
        starts, strings, length = words(column.longest + 2), words(column.longest + 2), column.longest
        count: int = self.world[near.near](
            self.mem, root, me, self.grammar.rules, self.mask, column.address, length, starts, strings, words(frames),
            found,
        )  # fmt: skip
        require(self.mem[me + int(layout.P_PIN)] == 0, "a call ends its pin")
        return count, [self.mem[found[k] + 1] >> 1 for k in range(count)] if count <= room else []

    def check(self, *, tombs: bool = False, root: int = 0, held: Held | None = None) -> Shape:
        """Look at every node below a root, or of the trie as it is; return its shape."""
        held = self.held if held is None else held
        shape = Shape(self.mem, self.dialect, self.mask, held, tombs=tombs)
        shape.check(root or self.mem[self.trie + 1])
        return shape

    # the end --------------------------------------------------------------------------------------------------------

    def account(self) -> None:
        """Free all that waits, and account for every word; no snapshot is open."""
        self.place.settle(lambda me: self.world[trees.reclaim](self.mem, me))
        require(self.mem[self.trie + 4] == 0, "no snapshot is counted", self.mem[self.trie + 4])
        spare = [(block, 68) for me in self.place.who for block in spares(self.mem, me)]
        self.place.account([*walking.of_trie(self.mem, self.trie), *spare])
