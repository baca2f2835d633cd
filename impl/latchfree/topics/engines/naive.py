"""Compare every pattern with the topic: the engine that all others must agree with.

Subscribing is O(1), matching O(patterns * words). Source: the hash map of patterns in Treat, "Fast Topic Matching".
"""

from __future__ import annotations

from collections.abc import Iterator

from latchfree.topics.dialects import Dialect
from latchfree.topics.engines.plain import PlainMatcher
from latchfree.topics.pattern import Pattern
from latchfree.topics.subscription import S, Subscription


class NaiveMatcher(PlainMatcher[S]):
    """Subscriptions by pattern; a match compares the topic with each pattern.

    Parameters
    ----------
    dialect : str or Dialect
        ``"amqp"``, ``"nats"`` or ``"mqtt"``.
    """

    def __init__(self, dialect: str | Dialect = "amqp") -> None:
        super().__init__(dialect)
        self._by_pattern: dict[Pattern, set[Subscription[S]]] = {}

    def _add(self, subscription: Subscription[S], pattern: Pattern) -> None:
        self._by_pattern.setdefault(pattern, set()).add(subscription)

    def _drop(self, subscription: Subscription[S], pattern: Pattern) -> None:
        held = self._by_pattern[pattern]
        held.remove(subscription)
        if not held:
            del self._by_pattern[pattern]

    def _find(self, words: tuple[str, ...]) -> Iterator[Subscription[S]]:
        for pattern, held in self._by_pattern.items():
            if self._dialect.matches(pattern, words):
                yield from held
