"""A bounded cache of results in front of a matcher.

Each change of the subscriptions begins with empty dicts of results. A match puts its result into the dict that was
there *before* the matching: a subscription that comes during the matching has replaced that dict, so the result is
lost with it, and never read. When the cache is full, a sweep drops the oldest results.

Source: the result cache of SubList, NATS.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from sys import getsizeof
from typing import Any, Final, Generic

from latchfree.arguments import flag, whole
from latchfree.extras import optional
from latchfree.topics.columns import text_column
from latchfree.topics.errors import InvalidTopic
from latchfree.topics.matcher import Matcher
from latchfree.topics.routing.around import Around
from latchfree.topics.subscription import S, Stats, Subscription

pa: Any = optional("pyarrow", "topics")
pc: Any = optional("pyarrow.compute", "topics")

#: Kinds of topics whose equality and hash are the interpreter's.
_PLAIN: Final = frozenset({str, bytes})
#: About the bytes of an entry of a dict, with its tuple.
_ENTRY: Final = 160


class _Results(Generic[S]):
    """The results of one generation: between two changes of the subscriptions.

    Attributes
    ----------
    single : dict
        By topic, a result and the bytes that it takes.
    nbytes : int
        About the bytes of all those.
    bulk : tuple or None
        Topics of bulk calls, and their results.
    """

    __slots__ = ("bulk", "nbytes", "single")

    def __init__(self) -> None:
        self.single: dict[str | bytes, tuple[frozenset[S], int]] = {}
        self.nbytes = 0
        self.bulk: tuple[Any, Any] | None = None

    def put(self, topic: str | bytes, found: frozenset[S], entries: int, sweep: int, most_bytes: int) -> None:
        """Keep a result, and drop the oldest where there are too many."""
        size = getsizeof(topic) + getsizeof(found) + _ENTRY
        if size > most_bytes:
            return
        self.single[topic] = found, size
        self.nbytes += size
        if len(self.single) > entries:
            self._drop(list(islice(self.single, sweep)))
        while self.nbytes > most_bytes and self.single:
            self._drop(list(islice(self.single, 1 + len(self.single) // 4)))

    def _drop(self, topics: list[str | bytes]) -> None:
        for topic in topics:
            _, size = self.single.pop(topic, (None, 0))
            self.nbytes -= size
        if not self.single:
            self.nbytes = 0


class CachedMatcher(Around[S]):
    """A matcher behind a cache; every change must go through the cache. `matching` does not look into it.

    Parameters
    ----------
    matcher : Matcher
    entries : int
        Results kept at most, 1 or more.
    sweep : int, optional
        Results dropped when there are more, from 1 to `entries`; by default a quarter of `entries`, 256 at most.
    most_bytes : int
        Bytes that the results take at most, and as many again the results of bulk calls; the subscribers themselves
        do not count.
    """

    def __init__(
        self, matcher: Matcher[S], entries: int = 1024, sweep: int | None = None, *, most_bytes: int = 4 << 20
    ) -> None:
        super().__init__(matcher)
        self._entries = whole(entries, "entries", 1)
        self._sweep = min(256, -(-self._entries // 4)) if sweep is None else whole(sweep, "sweep", 1, self._entries)
        self._most_bytes = whole(most_bytes, "most_bytes", 0)
        self._results: _Results[S] = _Results()
        self._hits = 0
        self._misses = 0

    def subscribe(self, pattern: str | bytes, subscriber: S, *, queue: str | None = None) -> Subscription[S]:
        """Add a subscription; earlier results are no longer valid."""
        added = self._matcher.subscribe(pattern, subscriber, queue=queue)
        self.invalidate()
        return added

    def unsubscribe(self, subscription: Subscription[S]) -> None:
        """Take a subscription away; earlier results are no longer valid."""
        self._matcher.unsubscribe(subscription)
        self.invalidate()

    def subscribe_many(
        self, patterns: Iterable[str | bytes], subscriber: S, *, queue: str | None = None
    ) -> list[Subscription[S]]:
        """Add subscriptions of one subscriber; earlier results are no longer valid, even if the call fails midway."""
        try:
            return self._matcher.subscribe_many(patterns, subscriber, queue=queue)
        finally:
            self.invalidate()

    def unsubscribe_all(self, subscriber: S) -> list[Subscription[S]]:
        """Take all subscriptions of a subscriber away and return them; earlier results are no longer valid."""
        try:
            return self._matcher.unsubscribe_all(subscriber)
        finally:
            self.invalidate()

    def invalidate(self) -> None:
        """Begin a generation; call `invalidate` after a change that did not go through this cache."""
        self._results = _Results()

    def match(self, topic: str | bytes, *, cached: bool = True) -> frozenset[S]:
        """Return the subscribers whose patterns match a topic; with `cached` False, past the cache."""
        if not flag(cached, "cached") or type(topic) not in _PLAIN:
            return self._matcher.match(topic)
        results = self._results
        entry = results.single.get(topic)
        if entry is not None:
            self._hits += 1
            return entry[0]
        found = self._matcher.match(topic)
        self._misses += 1
        results.put(topic, found, self._entries, self._sweep, self._most_bytes)
        return found

    def match_many(self, topics: Any, *, cached: bool = True) -> Any:
        """Return the subscribers of each topic, as an Arrow list array; with `cached` False, past the cache.

        Bulk calls share a cache of their own: the first topics seen in a generation, matched once.
        """
        column = text_column(topics)
        if not flag(cached, "cached"):
            return self._matcher.match_many(column)
        results = self._results
        known = results.bulk
        if known is None or known[0].type != column.type:
            known = column[:0], None
        at = pc.index_in(column, value_set=known[0])
        misses = pc.unique(column.filter(pc.is_null(at))) if at.null_count else column[:0]
        if not len(misses) and known[1] is not None:
            self._hits += len(column)
            return known[1].take(at)
        try:
            found = self._matcher.match_many(misses)
        except InvalidTopic as error:
            raise error.at_row(pc.index(column, misses[error.row or 0]).as_py()) from None
        every = misses if known[1] is None else pa.concat_arrays([known[0], misses])
        lists = found if known[1] is None else pa.concat_arrays([known[1], found])
        rows = lists.take(pc.index_in(column, value_set=every))
        self._hits += len(column) - len(misses)
        self._misses += len(misses)
        results.bulk = self._copies(every, lists)
        return rows

    def _copies(self, topics: Any, lists: Any) -> tuple[Any, Any]:
        """Return copies of the first results, as a slice would keep all of them in memory."""
        count = min(self._entries, len(topics))
        while count and topics[:count].nbytes + lists[:count].nbytes > self._most_bytes:
            count //= 2
        first = pa.array(range(count), pa.int64())
        return topics.take(first), lists.take(first)

    def has_interest(self, topic: str | bytes) -> bool:
        """Return whether any subscription matches a topic."""
        entry = self._results.single.get(topic) if type(topic) in _PLAIN else None
        if entry is not None:
            return bool(entry[0])
        return self._matcher.has_interest(topic)

    def stats(self) -> Stats:
        """Return the stats of the matcher, and the hits and misses of the cache."""
        stats = self._matcher.stats()
        results = self._results
        asked = self._hits + self._misses
        cache = {
            "cache entries": len(results.single) + (0 if results.bulk is None else len(results.bulk[0])),
            "cache hits": self._hits,
            "cache misses": self._misses,
            "cache hit rate": self._hits / asked if asked else 0.0,
        }
        return replace(stats, details={**stats.details, **cache})
