"""Topic matching: which subscribers want a message published on a topic.

Names are loaded at first use, so that importing the package loads neither the compiler nor Arrow.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from latchfree.topics.bitmap import InvertedBitmap
    from latchfree.topics.concurrent.trie import ConcurrentTrie
    from latchfree.topics.dialects import AMQP, DIALECTS, MQTT, NATS, Dialect, get_dialect
    from latchfree.topics.errors import FrozenMatcher, IndexInvalid, InvalidPattern, InvalidTopic, UnknownSubscription
    from latchfree.topics.mask.index import MaskIndex
    from latchfree.topics.matcher import Matcher, Stats, Subscription
    from latchfree.topics.naive import NaiveMatcher
    from latchfree.topics.optimized import OptimizedInvertedBitmap
    from latchfree.topics.pattern import Kind, Pattern
    from latchfree.topics.snapshot import Difference, Snapshot
    from latchfree.topics.trie import LockedTrie

__all__ = [
    "AMQP",
    "DIALECTS",
    "MQTT",
    "NATS",
    "ConcurrentTrie",
    "Dialect",
    "Difference",
    "FrozenMatcher",
    "IndexInvalid",
    "InvalidPattern",
    "InvalidTopic",
    "InvertedBitmap",
    "Kind",
    "LockedTrie",
    "MaskIndex",
    "Matcher",
    "NaiveMatcher",
    "OptimizedInvertedBitmap",
    "Pattern",
    "Snapshot",
    "Stats",
    "Subscription",
    "UnknownSubscription",
    "get_dialect",
]

_HOME = {
    "AMQP": "dialects",
    "ConcurrentTrie": "concurrent.trie",
    "DIALECTS": "dialects",
    "MQTT": "dialects",
    "NATS": "dialects",
    "Dialect": "dialects",
    "Difference": "snapshot",
    "FrozenMatcher": "errors",
    "IndexInvalid": "errors",
    "InvalidPattern": "errors",
    "InvalidTopic": "errors",
    "InvertedBitmap": "bitmap",
    "Kind": "pattern",
    "LockedTrie": "trie",
    "MaskIndex": "mask.index",
    "Matcher": "matcher",
    "NaiveMatcher": "naive",
    "OptimizedInvertedBitmap": "optimized",
    "Pattern": "pattern",
    "Snapshot": "snapshot",
    "Stats": "matcher",
    "Subscription": "matcher",
    "UnknownSubscription": "errors",
    "get_dialect": "dialects",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'latchfree.topics' has no attribute {name!r}")
    return getattr(import_module(f"latchfree.topics.{_HOME[name]}"), name)
