"""`CopiedSnapshot`: the subscriptions that an engine in plain Python held at one moment."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from latchfree.topics.dialects import Dialect
from latchfree.topics.snapshot import Snapshot
from latchfree.topics.subscription import S, Subscription

if TYPE_CHECKING:
    from latchfree.topics.mask.index import MaskIndex


class CopiedSnapshot(Snapshot[S]):
    """Subscriptions that were copied, matched through a mask index.

    Parameters
    ----------
    dialect : Dialect
    held : iterator of Subscription
    """

    def __init__(self, dialect: Dialect, held: Iterator[Subscription[S]]) -> None:
        self._dialect = dialect
        self._held = tuple(held)

    @property
    def dialect(self) -> Dialect:
        """The dialect of patterns and topics."""
        return self._dialect

    def subscriptions(self, prefix: str | None = None) -> Iterator[Subscription[S]]:
        """Return the subscriptions, or those whose patterns have the words of `prefix` first."""
        words = self._dialect.prefix(prefix)
        return (each for each in self._held if not words or self._dialect.pattern(each.pattern).starts_with(words))

    def match(self, topic: str | bytes) -> frozenset[S]:
        """Return the subscribers whose patterns matched a topic at that moment."""
        return self._index.match(topic)

    def match_many(self, topics: Any) -> Any:
        """Return the subscribers of each topic, as an Arrow list array; see `Matcher.match_many`."""
        return self._index.match_many(topics)

    def freeze(self) -> MaskIndex[S]:
        """Return the index of these subscriptions for bulk matching."""
        return self._index

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, subscription: object) -> bool:
        return isinstance(subscription, Subscription) and subscription in self._members

    @cached_property
    def _members(self) -> frozenset[Subscription[S]]:
        return frozenset(self._held)

    @cached_property
    def _index(self) -> MaskIndex[S]:
        from latchfree.topics.mask.index import MaskIndex  # loads the compiler

        return MaskIndex.of(self._held, self._dialect)
