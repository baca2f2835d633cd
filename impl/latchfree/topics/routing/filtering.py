"""`TopicFilter`: decide whether any pattern matches a topic. The first match ends the search.

A pattern that another pattern subsumes is left out. The others stand in blocks, patterns with the most wildcards
first, as they match most often. Each block is an optimised inverted bitmap; most topics that match at all match in the
first block.

Source: Sustrik's section on filtering in "Fast Topic Matching" of OpenAMQ.
"""

from __future__ import annotations

from collections.abc import Iterable

from latchfree.arguments import flag, hashable, many, whole
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
        block, reduce = whole(block, "block", 1), flag(reduce, "reduce")
        self._dialect = get_dialect(dialect)
        distinct = list(
            dict.fromkeys(hashable(each, "each of patterns") for each in many(patterns, "patterns", "[pattern]"))
        )
        kept = without_subsumed(distinct, self._dialect) if reduce else distinct
        kept.sort(key=lambda text: -self._dialect.pattern(text).wildcards)
        self._blocks = []
        for low in range(0, len(kept), block):
            matcher = OptimizedInvertedBitmap[None](self._dialect)
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
