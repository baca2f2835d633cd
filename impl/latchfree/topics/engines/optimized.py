"""Optimised inverted bitmap: for each position, the bitmaps of the subscriptions that accept a word there.

Example: the topic ``a.b`` matches the patterns in (row ``a`` or ``other`` of position 0) and (row ``b`` or ``other`` of
position 1) and (row ``null`` of position 2).

A pattern accepts a word at position p by naming the word (row of the word) or by a wildcard (row ``other``). A pattern
accepts the end of the topic at p by having no word left (row ``null``). A topic of n words matches the AND of the rows
of its words and of ``null`` at n. Positions after n are not looked at: a pattern that accepts the end at n accepts the
end later, too, if it accepts any later end. An empty AND ends the match early. A topic word that no pattern names
needs no row.

A pattern that goes on after a wildcard for many words is kept as if the pattern ended in the wildcard. So kept, the
pattern accepts too much, and is compared with the topic afterwards. A slot is free only when its bit is cleared in the
rows of *every* position.

Source: Sustrik's section in "Fast Topic Matching" of OpenAMQ; Treat's post of that name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from latchfree.extras import optional
from latchfree.topics.dialects import Dialect
from latchfree.topics.engines.plain import PlainMatcher
from latchfree.topics.engines.slots import Slots
from latchfree.topics.pattern import Kind, Pattern
from latchfree.topics.subscription import S, Subscription

if TYPE_CHECKING:
    from pyroaring import BitMap

roaring: Any = optional("pyroaring", "topics")


class Position:
    """The rows of one position."""

    __slots__ = ("null", "other", "words")

    def __init__(self, null: BitMap, other: BitMap) -> None:
        self.words: dict[str, BitMap] = {}
        self.null = null
        self.other = other


class OptimizedInvertedBitmap(PlainMatcher[S]):
    """Bitmaps of subscriptions by position and word.

    Parameters
    ----------
    dialect : str or Dialect
        ``"amqp"``, ``"nats"`` or ``"mqtt"``.
    """

    def __init__(self, dialect: str | Dialect = "amqp") -> None:
        super().__init__(dialect)
        self._slots: Slots[S] = Slots()
        self._positions = [Position(roaring.BitMap(), roaring.BitMap())]
        self._lengths: Counter[int] = Counter()  # how many subscriptions need how many positions
        self._all = roaring.BitMap()
        self._open = roaring.BitMap()  # accept any words from some position on
        self._wild_first = roaring.BitMap()
        self._inexact = roaring.BitMap()  # accept too much

    def _add(self, subscription: Subscription[S], pattern: Pattern) -> None:
        slot = self._slots.take(subscription, pattern)
        fixed, ends = self._shape(pattern)
        while len(self._positions) <= max(fixed, ends):
            self._positions.append(Position(roaring.BitMap(self._all), roaring.BitMap(self._open)))
        self._lengths[max(fixed, ends)] += 1
        is_open = fixed < len(pattern.words)
        self._all.add(slot)
        if is_open:
            self._open.add(slot)
        if pattern.wild_first:
            self._wild_first.add(slot)
        if Kind.MANY in pattern.kinds[:-1]:
            self._inexact.add(slot)
        for p, position in enumerate(self._positions):
            if p >= ends:
                position.null.add(slot)
            if p < fixed and pattern.kinds[p] == Kind.LITERAL:
                position.words.setdefault(pattern.words[p], roaring.BitMap()).add(slot)
            elif p < fixed or is_open:
                position.other.add(slot)

    def _drop(self, subscription: Subscription[S], pattern: Pattern) -> None:
        slot = self._slots.free(subscription)
        fixed, ends = self._shape(pattern)
        for p, position in enumerate(self._positions):
            position.null.discard(slot)
            position.other.discard(slot)
            if p < fixed and pattern.kinds[p] == Kind.LITERAL:
                row = position.words[pattern.words[p]]
                row.discard(slot)
                if not row:
                    del position.words[pattern.words[p]]
        for bitmap in (self._all, self._open, self._wild_first, self._inexact):
            bitmap.discard(slot)
        self._lengths[max(fixed, ends)] -= 1
        while len(self._positions) > 1 and not self._lengths[len(self._positions) - 1]:
            del self._lengths[len(self._positions) - 1]
            self._positions.pop()

    def _find(self, words: tuple[str, ...]) -> Iterator[Subscription[S]]:
        found = self._all - self._wild_first if self._dialect.hidden(words) else self._all
        for word, position in zip(words, self._positions, strict=False):
            row = position.words.get(word)
            found = found & (position.other if row is None else row | position.other)
            if not found:
                return
        if len(words) < len(self._positions):
            found = found & self._positions[len(words)].null
        for slot in found:
            if slot not in self._inexact or self._dialect.matches(self._slots.pattern(slot), words):
                yield from self._slots.holders([slot])

    def _shape(self, pattern: Pattern) -> tuple[int, int]:
        """Return how many words come before the first wildcard for many, and how many a topic must have at least."""
        kinds = pattern.kinds
        if Kind.MANY not in kinds:
            return len(kinds), len(kinds)
        many = kinds.count(Kind.MANY)
        return kinds.index(Kind.MANY), len(kinds) - many + many * self._dialect.least

    def _details(self) -> Mapping[str, float]:
        rows = sum(len(position.words) + 2 for position in self._positions)
        return {"positions": len(self._positions), "rows": rows}
