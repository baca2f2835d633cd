"""A bounded cache of results in front of a matcher, checked by generation.

Each change of the subscriptions begins a generation. A result is valid only in the generation that was read *before*
the matching: a subscription that comes during the matching makes the result stale, never wrong. When the cache is
full, a sweep drops the oldest results.

Source: the result cache of SubList, NATS.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic

from latchfree.extras import optional
from latchfree.topics.columns import text_column
from latchfree.topics.dialects import Dialect
from latchfree.topics.errors import InvalidTopic
from latchfree.topics.matcher import Matcher
from latchfree.topics.subscription import S, Stats, Subscription

pa: Any = optional("pyarrow", "topics")
pc: Any = optional("pyarrow.compute", "topics")

if TYPE_CHECKING:
    from latchfree.topics.mask.index import MaskIndex
    from latchfree.topics.snapshot import Snapshot


class CachedMatcher(Generic[S]):
    """A matcher behind a cache; every change must go through the cache.

    Parameters
    ----------
    matcher : Matcher
    entries : int
        Results kept at most.
    sweep : int
        Results dropped when there are more.
    """

    def __init__(self, matcher: Matcher[S], entries: int = 1024, sweep: int = 256) -> None:
        if not 0 < sweep <= entries:
            raise ValueError(f"sweep must be 1 to entries ({entries}), not {sweep}")
        self._matcher = matcher
        self._entries = entries
        self._sweep = sweep
        self._generation = 0
        self._results: dict[str | bytes, tuple[int, frozenset[S]]] = {}
        self._bulk: tuple[int, Any, Any] | None = None
        self._lock = threading.Lock()
        self._hits = 0
        self._misses = 0

    @property
    def dialect(self) -> Dialect:
        """The dialect of patterns and topics."""
        return self._matcher.dialect

    def subscribe(self, pattern: str | bytes, subscriber: S, *, queue: str | None = None) -> Subscription[S]:
        """Add a subscription; earlier results are no longer valid."""
        added = self._matcher.subscribe(pattern, subscriber, queue=queue)
        self.invalidate()
        return added

    def unsubscribe(self, subscription: Subscription[S]) -> None:
        """Take a subscription away; earlier results are no longer valid."""
        self._matcher.unsubscribe(subscription)
        self.invalidate()

    def invalidate(self) -> None:
        """Begin a generation; call `invalidate` after a change that did not go through this cache."""
        with self._lock:
            self._generation += 1

    def match(self, topic: str | bytes, *, cached: bool = True) -> frozenset[S]:
        """Return the subscribers whose patterns match a topic; with `cached` False, past the cache."""
        if not cached:
            return self._matcher.match(topic)
        generation = self._generation
        entry = self._results.get(topic)
        if entry is not None and entry[0] == generation:
            self._hits += 1
            return entry[1]
        found = self._matcher.match(topic)
        with self._lock:
            self._misses += 1
            self._results.pop(topic, None)
            self._results[topic] = generation, found
            if len(self._results) > self._entries:
                for old in list(islice(self._results, self._sweep)):
                    del self._results[old]
        return found

    def match_many(self, topics: Any, *, cached: bool = True) -> Any:
        """Return the subscribers of each topic, as an Arrow list array; with `cached` False, past the cache.

        Bulk calls share a cache of their own: the first topics seen in a generation, matched once.
        """
        column = text_column(topics)
        if not cached:
            return self._matcher.match_many(column)
        generation = self._generation
        known = self._bulk
        if known is None or known[0] != generation or known[1].type != column.type:
            known = generation, column[:0], None
        at = pc.index_in(column, value_set=known[1])
        misses = pc.unique(column.filter(pc.is_null(at))) if at.null_count else column[:0]
        if not len(misses) and known[2] is not None:
            with self._lock:
                self._hits += len(column)
            return known[2].take(at)
        try:
            found = self._matcher.match_many(misses)
        except InvalidTopic as error:
            raise error.at_row(pc.index(column, misses[error.row or 0]).as_py()) from None
        every = misses if known[2] is None else pa.concat_arrays([known[1], misses])
        results = found if known[2] is None else pa.concat_arrays([known[2], found])
        rows = results.take(pc.index_in(column, value_set=every))
        with self._lock:
            self._hits += len(column) - len(misses)
            self._misses += len(misses)
            self._bulk = generation, every[: self._entries], results[: self._entries]
        return rows

    def matching(self, topic: str | bytes) -> list[Subscription[S]]:
        """Return the subscriptions that match a topic, past the cache."""
        return self._matcher.matching(topic)

    def has_interest(self, topic: str | bytes) -> bool:
        """Return whether any subscription matches a topic."""
        entry = self._results.get(topic)
        if entry is not None and entry[0] == self._generation:
            return bool(entry[1])
        return self._matcher.has_interest(topic)

    def subscriptions(self, prefix: str | None = None) -> Iterator[Subscription[S]]:
        """Return the subscriptions, or those whose patterns have the words of `prefix` first."""
        return self._matcher.subscriptions(prefix)

    def snapshot(self) -> Snapshot[S]:
        """Return the current subscriptions, unchanging."""
        return self._matcher.snapshot()

    def freeze(self) -> MaskIndex[S]:
        """Return an unchanging index of the current subscriptions, for bulk matching."""
        return self._matcher.freeze()

    def stats(self) -> Stats:
        """Return the stats of the matcher, and the hits and misses of the cache."""
        stats = self._matcher.stats()
        asked = self._hits + self._misses
        cache = {
            "cache entries": len(self._results) + (0 if self._bulk is None else len(self._bulk[1])),
            "cache hits": self._hits,
            "cache misses": self._misses,
            "cache hit rate": self._hits / asked if asked else 0.0,
        }
        return replace(stats, details={**stats.details, **cache})

    def __len__(self) -> int:
        return len(self._matcher)
