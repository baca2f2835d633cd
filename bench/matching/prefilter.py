"""What a Bloom filter before a matcher saves, or costs: topics with a subscriber, and topics without.

A `MaskIndex` has a filter of the keys of its patterns. It is measured as it is, and with a filter whose bits are all
set, so that it excludes nothing. A `ConcurrentTrie` has none; a topic without a subscriber leaves it at the first word
that no pattern has. Beside it: asking a `Bloom` about the same topics, the least that any filter before a trie costs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from latchfree import Bloom, MaskIndex
from matching.engines import concurrent, mask
from matching.patterns import w0_patterns, w0_topics

_TOPICS = 50_000

Least = Callable[[Callable[[], Any], int], tuple[float, Any]]


def without_filter(index: MaskIndex[Any]) -> MaskIndex[Any]:
    """Return an index whose filter excludes nothing."""
    index._arrays["filter"][:] = (1 << 64) - 1  # nobody else would want it
    return index


def prefilter(size: int, rounds: int, seed: int, least: Least) -> list[dict[str, Any]]:
    """Nanoseconds a topic, for topics that match and for topics whose last word no pattern has.

    Raises
    ------
    SystemExit
        If an index without its filter finds something else.
    """
    patterns = w0_patterns(size, seed)
    drawn = w0_topics(patterns, 4 * _TOPICS, seed)
    whole = mask(patterns)
    matched = whole.match_many(pa.array(drawn)).value_lengths().to_pylist()
    hit = [topic for topic, count in zip(drawn, matched, strict=True) if count][:_TOPICS]
    kinds = {
        "with subscribers": pa.array(hit),
        "of unknown last words": pa.array([f"{topic}x" for topic in hit]),
        "of unknown words": pa.array([f"x{topic}".replace("/", "/x") for topic in hit]),
    }
    bare = without_filter(mask(patterns))
    trie = concurrent(patterns)
    seen = Bloom(expected=size, false_positives=0.01)
    seen.add_many(patterns)
    asked: dict[str, Callable[[Any], Any]] = {
        "mask": whole.match_many,
        "mask, without its filter": bare.match_many,
        "concurrent": trie.match_many,
        "Bloom alone": seen.contains_many,
    }
    for topics in kinds.values():
        if whole.match_many(topics).to_pylist() != bare.match_many(topics).to_pylist():
            raise SystemExit("without its filter, the index finds something else")

    def spent(call: Callable[[Any], Any], topics: Any) -> float:
        return least(lambda: call(topics), rounds)[0] / len(topics)

    return [
        {"part": "filter", "engine": name, **{kind: spent(call, topics) for kind, topics in kinds.items()}}
        for name, call in asked.items()
    ]
