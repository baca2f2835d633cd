"""A ring beside a deque: each operation is compared with what the deque says, and with the counts of the ring."""

from __future__ import annotations

import random
from collections import deque
from typing import Any, Final

from latchfree.arena import layout
from latchfree.arena.kernels import epochs
from latchfree.streams.kernels import entry_points
from latchfree.streams.kernels import layout as words
from latchfree.streams.kernels import ring as r
from latchfree.streams.kernels.positions import JUMP
from latchfree_evidence.systematic.plain.world import World
from latchfree_evidence.systematic.trials.place import ALL, Place, require

DONE, REFUSED, STALLED, MISSING, SHUT, TELL = 0, 1, 2, 6, 7, 8
WORD: Final = {name: int(getattr(words, name)) for name in dir(words) if name.isupper()}
NUMBER: Final = 4711


class Ring:
    """A ring of an arena, shared or private, and what it must hold."""

    def __init__(self, world: World, rng: random.Random, *, shared: bool, weak: bool, first: int = 0) -> None:
        self.world, self.rng, self.shared = world, rng, shared
        self.place = Place(world, 3, (layout.FIRST_NODE + 30_000) * 8)
        self.mem = self.place.mem
        self.cells = rng.choice((2, 4, 8))
        self.identity = 77 if shared else 0
        at, slot = self.call(entry_points.create, self.place.who[0], self.identity, NUMBER, self.cells - 1, int(weak))
        require(at and (slot != 0) == shared and at % 16 == 0, "a ring is made", at, slot)
        self.at, self.slot = at, slot
        if first:
            r_format = world[r.format_ring]
            r_format(self.mem, at, self.mem[at + WORD["CELLS"]], self.cells - 1, int(weak), first)
            self.mem[at + WORD["NUMBER"]], self.mem[at + WORD["HEADER"]] = NUMBER, self._header
        self.held: deque[int] = deque()
        self.shut = False
        self.counts = dict.fromkeys(("REFUSED_PUTS", "REFUSED_GETS", "PUT_WAITS", "GET_WAITS", "DROPPED"), 0)
        self.most = 0

    def call(self, kernel: Any, *arguments: Any) -> Any:
        """Call a kernel."""
        result = self.world[kernel](self.mem, *arguments)
        if kernel is entry_points.create and result[0]:
            self._header = self.mem[result[0] + WORD["HEADER"]]
        return result

    def me(self) -> int:
        """Return who calls: 0 in a private arena."""
        return self.rng.choice(self.place.who) if self.shared else 0

    def idle(self) -> None:
        """Fail unless every participant is as between two calls."""
        for me in self.place.who:
            require(self.mem[me + int(layout.P_PIN)] == 0, "a call ends its pin")
            require(self.mem[me + int(layout.P_IN_HAND)] == 0, "a call withdraws what it has announced")

    def told(self, outcome: int, word: str, done: bool) -> int:
        """Return an outcome without `TELL`, which says whether somebody sleeps on a word."""
        news = self.at + WORD[word]
        require(not outcome & TELL or done, "only a change wakes")
        require(self.mem[news] & 1 == 0 or not done, "a change clears the bit of sleepers")
        return outcome & ~TELL

    def step(self) -> None:
        """Do something, and look at the counts."""
        what, rng = self.rng.random(), self.rng
        if what < 0.35:
            self.put(rng.randrange(-5, 1000))
        elif what < 0.65:
            self.get()
        elif what < 0.73:
            self.put_many()
        elif what < 0.81:
            self.get_many()
        elif what < 0.86:
            require(
                self.call(entry_points.count, self.me(), self.at, NUMBER) == len(self.held), "count", len(self.held)
            )
        elif what < 0.95:
            self.arm(rng.choice(("NEWS", "ROOM")))
        elif what < 0.97:
            self.call(entry_points.note, self.me(), self.at, NUMBER, WORD["DROPPED"])
            self.counts["DROPPED"] += 1
        else:
            self.wrong_number()
        self.idle()
        for name, count in self.counts.items():
            require(self.mem[self.at + WORD[name]] == count, "a count", name, self.mem[self.at + WORD[name]], count)
        require(self.mem[self.at + WORD["MOST"]] == self.most, "the most values held", self.most)

    def _slept(self, word: str) -> bool:
        return bool(self.mem[self.at + WORD[word]] & 1)

    def put(self, value: int) -> None:
        """Put one value."""
        asleep, before = self._slept("NEWS"), self.mem[self.at + WORD["NEWS"]]
        outcome = self.call(entry_points.put, self.me(), self.at, NUMBER, value & ALL, self.rng.choice((0, 3)))
        wanted = SHUT if self.shut else REFUSED if len(self.held) == self.cells else DONE
        require(bool(outcome & TELL) == (asleep and wanted == DONE), "who sleeps is woken", outcome)
        require(self.mem[self.at + WORD["NEWS"]] == before + (asleep and wanted == DONE), "the word of sleepers moves")
        require(self.told(outcome, "NEWS", wanted == DONE) == wanted, "put", outcome, wanted)
        if wanted == DONE:
            self.held.append(value)
        self.counts["REFUSED_PUTS"] += wanted == REFUSED
        self.most = max(self.most, len(self.held))

    def get(self) -> None:
        """Get one value."""
        asleep = self._slept("ROOM")
        outcome, value = self.call(entry_points.get, self.me(), self.at, NUMBER, self.rng.choice((0, 3)))
        wanted = DONE if self.held else SHUT if self.shut else REFUSED
        require(bool(outcome & TELL) == (asleep and wanted == DONE), "who sleeps is woken", outcome)
        require(self.told(outcome, "ROOM", wanted == DONE) == wanted, "get", outcome, wanted)
        require(value == (self.held.popleft() if wanted == DONE else 0), "the oldest value", value)
        self.counts["REFUSED_GETS"] += wanted == REFUSED

    def put_many(self) -> None:
        """Put some values of a list."""
        values = [self.rng.randrange(-9, 99) for _ in range(self.rng.randrange(0, 12))]
        first = self.rng.randrange(len(values) + 1)
        asleep = self._slept("NEWS")
        done, outcome = self.call(entry_points.put_many, self.me(), self.at, NUMBER, first, 2, values)
        fit = 0 if self.shut else min(len(values) - first, self.cells - len(self.held))
        wanted = DONE if fit == len(values) - first else SHUT if self.shut else REFUSED
        require(done == first + fit, "put_many", done, first, fit)
        require(outcome & ~TELL == wanted and bool(outcome & TELL) == (asleep and fit > 0), "put_many", outcome, wanted)
        self.held.extend(values[first : first + fit])
        self.counts["REFUSED_PUTS"] += wanted == REFUSED
        self.most = max(self.most, len(self.held))

    def get_many(self) -> None:
        """Get some values into a list."""
        values: Any = [12345] * self.rng.randrange(0, 12)
        first = self.rng.randrange(len(values) + 1)
        asleep = self._slept("ROOM")
        window = Window(values)
        done, outcome = self.call(entry_points.get_many, self.me(), self.at, NUMBER, first, 2, window)
        fit = min(len(values) - first, len(self.held))
        wanted = DONE if fit == len(values) - first else SHUT if self.shut else REFUSED
        require(done == first + fit, "get_many", done, first, fit)
        require(outcome & ~TELL == wanted and bool(outcome & TELL) == (asleep and fit > 0), "get_many", outcome, wanted)
        require(values[first:done] == [self.held.popleft() for _ in range(fit)], "the oldest values")
        require(values[:first] + values[done:] == [12345] * (len(values) - fit), "and no others are written")
        self.counts["REFUSED_GETS"] += wanted == REFUSED and fit == 0

    def arm(self, word: str) -> None:
        """Say that somebody is about to sleep."""
        before = self.mem[self.at + WORD[word]]
        armed = self.call(entry_points.arm, self.me(), self.at, NUMBER, WORD[word])
        require(armed == before | 1 == self.mem[self.at + WORD[word]], "a word is armed", armed)
        self.counts["GET_WAITS" if word == "NEWS" else "PUT_WAITS"] += 1

    def wrong_number(self) -> None:
        """Call a ring that is not there any more: nothing changes."""
        before, other = self.mem.array.copy(), NUMBER + 1
        me = self.me()
        require(self.call(entry_points.put, me, self.at, other, 1, 0) == MISSING, "put to no ring")
        require(self.call(entry_points.get, me, self.at, other, 0) == (MISSING, 0), "get from no ring")
        require(self.call(entry_points.count, me, self.at, other) == ALL, "count of no ring")
        require(self.call(entry_points.arm, me, self.at, other, WORD["NEWS"]) == ALL, "arm of no ring")
        require(self.call(entry_points.shut, me, self.at, other) == MISSING, "shut of no ring")
        self.call(entry_points.note, me, self.at, other, WORD["DROPPED"])
        require(self.call(entry_points.put_many, me, self.at, other, 1, 0, [1, 2]) == (1, MISSING), "put_many")
        require(self.call(entry_points.get_many, me, self.at, other, 1, 0, Window([1, 2])) == (1, MISSING), "get_many")
        require((before == self.mem.array).all(), "nothing has changed")

    def end(self) -> None:
        """Shut the ring down now and then, read what is left, and free it."""
        if self.rng.random() < 0.6:
            for word in ("NEWS", "ROOM"):
                if self.rng.random() < 0.5:
                    self.arm(word)
            self.counts = {name: self.mem[self.at + WORD[name]] for name in self.counts}
            for _ in range(2):
                require(self.call(entry_points.shut, self.me(), self.at, NUMBER) == DONE, "shut")
                require(not self._slept("NEWS") and not self._slept("ROOM"), "who sleeps is kept awake")
                self.shut = True
                for _ in range(12):
                    self.step()
            require(self.mem[self.at + WORD["SHUT_BEGUN"]] == 1, "a shutdown is seen")
            require(self.mem[self.at] - self.mem[self.at + 16] & int(JUMP), "the end is far ahead")
        self.free()

    def free(self) -> None:
        """Give the ring back, and account for every word."""
        if not self.shared:
            self.call(entry_points.free, self.place.who[0], self.at)
            require(self.mem.bare[self.at + WORD["NUMBER"]] != NUMBER or self.mem.marks[self.at], "it is gone")
        elif self.rng.random() < 0.5:
            self.call(entry_points.drop, self.place.who[0], self.slot)
            require(self.mem[self.slot] == self.mem[self.slot + 1] == 0, "an idle ring is freed at once")
        else:
            self._drop_under_pin()
        tables = [(self.mem[int(layout.H_OWNED)], 128)] if self.shared else []
        self.place.account(tables)

    def _drop_under_pin(self) -> None:
        """Give back a ring that somebody may be in a call of: it is freed later."""
        pinned = self.place.who[2]
        self.world[epochs.pin](self.mem, pinned)
        self.call(entry_points.drop, self.place.who[0], self.slot)
        require(self.mem[self.slot] == self.identity and self.mem[self.slot + 1] == self.at, "it waits")
        require(self.mem[self.at + WORD["NUMBER"]] == 0, "and takes no calls")
        if self.rng.random() < 0.5:
            self.mem[self.at + WORD["GONE"]] = 0  # its owner was killed before it had written the epoch
        for _ in range(4):
            self.call(entry_points.sweep, self.place.who[0], self.identity)
            require(not self.mem.marks[self.at], "a ring that somebody may be in is not freed")
        self.world[epochs.unpin](self.mem, pinned)
        self.call(entry_points.sweep, self.place.who[0], self.identity + 1)
        require(self.mem[self.slot] == self.identity, "nobody sweeps what is another's")
        for _ in range(2):
            self.call(epochs.try_advance)
        other, slot = self.call(entry_points.create, self.place.who[0], self.identity, NUMBER + 2, 1, 0)
        require(self.mem.marks[self.at] or other == self.at, "who makes a ring frees those that were given back")
        require(self.mem[self.slot] == 0 or slot == self.slot, "it is freed in the end")
        self.call(entry_points.drop, self.place.who[0], slot)


class Window:
    """A list that is sliced as an array is: the slice is a view."""

    def __init__(self, values: list[int], first: int = 0) -> None:
        self._values, self._first = values, first

    def __len__(self) -> int:
        return len(self._values) - self._first

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return Window(self._values, self._first + (at.start or 0))
        return self._values[self._first + at]

    def __setitem__(self, at: int, value: int) -> None:
        if at >= len(self):
            raise IndexError(at)
        self._values[self._first + at] = value
