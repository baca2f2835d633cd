"""Filtering: is anybody interested at all? The first subscription that matches ends the search.

Patterns that another subsumes are left out. The others stand in blocks from those with the most wildcards, which are
the likeliest to match, to those with none; each block is an optimised inverted bitmap, and most topics that match
anything end in the first.

Source: Sustrik's section on filtering in "Fast Topic Matching" of OpenAMQ.
"""

from __future__ import annotations

from collections.abc import Iterable

from latchfree.topics.dialects import Dialect, get_dialect
from latchfree.topics.engines.optimized import OptimizedInvertedBitmap
from latchfree.topics.relations import without_subsumed


class TopicFilter:
    """An unchanging filter.

    Parameters
    ----------
    patterns : iterable of str
    dialect : str or Dialect
    block : int
        Patterns evaluated together.
    reduce : bool
        Whether to leave out subsumed patterns: quadratic in their number.
    """

    def __init__(
        self, patterns: Iterable[str], dialect: str | Dialect = "amqp", *, block: int = 256, reduce: bool = True
    ) -> None:
        if block < 1:
            raise ValueError(f"block must be 1 or more, not {block}")
        self._dialect = get_dialect(dialect)
        distinct = list(dict.fromkeys(patterns))
        kept = without_subsumed(distinct, self._dialect) if reduce else distinct
        kept.sort(key=lambda text: -self._dialect.pattern(text).wildcards)
        self._blocks = []
        for low in range(0, len(kept), block):
            matcher = OptimizedInvertedBitmap(self._dialect)
            matcher.subscribe_many(kept[low : low + block], None)
            self._blocks.append(matcher)
        self.patterns = tuple(kept)
        self.evaluated = 0
        """Blocks evaluated so far."""

    def has_interest(self, topic: str | bytes) -> bool:
        """Return whether any pattern matches a topic."""
        self._dialect.topic(topic)
        for block in self._blocks:
            self.evaluated += 1
            if block.has_interest(topic):
                return True
        return False
