"""Inverted bitmap: for each topic of a known set, the bitmap of the subscriptions that match it.

A match is one lookup; a subscription costs a comparison with each known topic. A topic outside the set is compared
with every pattern once and joins the set; `Stats.details` counts such topics as ``reindexed``.

Source: Hintjens and Sustrik, "Fast Topic Matching" of OpenAMQ, after Svalgaard and Tveden; Treat's post of that name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from latchfree.arguments import many
from latchfree.extras import optional, require
from latchfree.topics.dialects import Dialect
from latchfree.topics.engines.plain import PlainMatcher
from latchfree.topics.engines.slots import Slots
from latchfree.topics.pattern import Pattern
from latchfree.topics.subscription import S, Subscription

if TYPE_CHECKING:
    from pyroaring import BitMap

roaring: Any = optional("pyroaring", "topics")


class InvertedBitmap(PlainMatcher[S]):
    """Bitmaps of subscriptions by topic.

    Parameters
    ----------
    dialect : str or Dialect
        ``"amqp"``, ``"nats"`` or ``"mqtt"``.
    topics : iterable of str
        The topics that will be published; others are indexed when they are seen.

    Raises
    ------
    InvalidTopic
        If one of the topics breaks a rule of the dialect.
    """

    def __init__(self, dialect: str | Dialect = "amqp", topics: Iterable[str] = ()) -> None:
        super().__init__(dialect)
        require("pyroaring", "topics")
        self._slots: Slots[S] = Slots()
        self._rows: dict[tuple[str, ...], BitMap] = {
            self._dialect.topic(topic): roaring.BitMap() for topic in many(topics, "topics", "[topic]")
        }
        self._reindexed = 0

    def _add(self, subscription: Subscription[S], pattern: Pattern) -> None:
        slot = self._slots.take(subscription, pattern)
        for words, row in self._rows.items():
            if self._dialect.matches(pattern, words):
                row.add(slot)

    def _drop(self, subscription: Subscription[S], pattern: Pattern) -> None:
        slot = self._slots.free(subscription)
        for row in self._rows.values():
            row.discard(slot)

    def _find(self, words: tuple[str, ...]) -> Iterator[Subscription[S]]:
        row = self._rows.get(words)
        if row is None:
            self._reindexed += 1
            row = self._rows[words] = roaring.BitMap(
                [slot for slot, pattern in self._slots.patterns() if self._dialect.matches(pattern, words)]
            )
        return self._slots.holders(row)

    def _details(self) -> Mapping[str, float]:
        return {"topics": len(self._rows), "reindexed": self._reindexed}
