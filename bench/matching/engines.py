"""The matchers that are compared: ours, paho's and google-re2's, each made of patterns and asked how many match."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

OURS = {
    "naive": "NaiveMatcher",
    "bitmap": "InvertedBitmap",
    "optimized": "OptimizedInvertedBitmap",
    "trie": "LockedTrie",
    "concurrent": "ConcurrentTrie",
}


@dataclass(frozen=True)
class Engine:
    """A matcher: `build` makes it of patterns, `count` says how many pairs of topic and pattern match.

    `most` bounds the work: patterns at most; `topics` how many of the topics it gets for some number of patterns.
    """

    build: Callable[[list[str]], Any]
    prepare: Callable[[list[str]], Any]
    count: Callable[[Any, Any], int]
    topics: Callable[[int], int]


def maker(name: str, dialect: str = "mqtt") -> Callable[[], Any]:
    """Return what makes one of our matchers that change."""
    made = getattr(importlib.import_module("latchfree.topics"), OURS[name])
    return lambda: made(dialect)


def _ours(name: str) -> Callable[[list[str]], Any]:
    def build(patterns: list[str]) -> Any:
        matcher = maker(name)()
        for number, pattern in enumerate(patterns):
            matcher.subscribe(pattern, number)
        return matcher

    return build


def concurrent(patterns: list[str]) -> Any:
    """A `ConcurrentTrie` of patterns, numbered from 0."""
    from latchfree.topics import ConcurrentTrie

    matcher = ConcurrentTrie("mqtt")
    matcher.subscribe_column(pa.array(patterns), range(len(patterns)))
    return matcher


def mask(patterns: list[str]) -> Any:
    """A `MaskIndex` of patterns, numbered from 0."""
    from latchfree.topics import MaskIndex

    return MaskIndex.build(pa.array(patterns), pa.array(range(len(patterns))), "mqtt")


def _cached(patterns: list[str]) -> Any:
    from latchfree.topics import CachedMatcher

    return CachedMatcher(mask(patterns), entries=4096)


def _paho(patterns: list[str]) -> Any:
    from paho.mqtt.matcher import MQTTMatcher

    matcher = MQTTMatcher()
    held: dict[str, list[int]] = {}
    for number, pattern in enumerate(patterns):
        held.setdefault(pattern, []).append(number)
    for pattern, numbers in held.items():
        matcher[pattern] = numbers
    return matcher


def _paho_count(matcher: Any, topics: list[str]) -> int:
    return sum(len(numbers) for topic in topics for numbers in matcher.iter_match(topic))


def _re2(patterns: list[str]) -> Any:
    import re2

    options = re2.Options()
    options.max_mem = 4 << 30
    matcher = re2.Set.FullMatchSet(options)
    for pattern in patterns:
        matcher.Add("/".join("[^/]*" if word == "+" else re.escape(word) for word in pattern.split("/")))
    matcher.Compile()
    return matcher


def _bulk(matcher: Any, topics: Any) -> int:
    return len(matcher.match_many(topics).values)


def _single(matcher: Any, topics: list[str]) -> int:
    return sum(len(matcher.match(topic)) for topic in topics)


def _first_512(topics: list[str]) -> Any:
    return pa.array([topics[n & 511] for n in range(len(topics))])


ENGINES = {
    "mask": Engine(mask, pa.array, _bulk, lambda n: 100_000),
    "mask cached (512 topics)": Engine(_cached, _first_512, _bulk, lambda n: 100_000),
    "concurrent": Engine(concurrent, pa.array, _bulk, lambda n: 100_000),
    "trie": Engine(_ours("trie"), list, _single, lambda n: 10_000 if n <= 100_000 else 0),
    "optimized": Engine(_ours("optimized"), list, _single, lambda n: {1000: 2_000, 100_000: 200}.get(n, 0)),
    "naive": Engine(_ours("naive"), list, _single, lambda n: 20 if n <= 1000 else 0),
    "paho MQTTMatcher": Engine(_paho, list, _paho_count, lambda n: 20_000 if n <= 100_000 else 0),
    "google-re2 Set": Engine(
        _re2, list, lambda matcher, topics: sum(len(matcher.Match(topic) or ()) for topic in topics),
        lambda n: {1000: 5_000, 100_000: 500}.get(n, 0),
    ),
}  # fmt: skip
"""By name; 0 topics: not measured at that size, for it takes too long."""
