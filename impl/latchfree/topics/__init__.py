"""Topic matching: which subscribers want a message published on a topic.

Names are loaded at first use, so that importing the package loads neither the compiler nor Arrow.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from latchfree.topics.bitmap import InvertedBitmap
    from latchfree.topics.cache import CachedMatcher
    from latchfree.topics.concurrent.trie import ConcurrentTrie
    from latchfree.topics.dialects import AMQP, DIALECTS, MQTT, NATS, Dialect, get_dialect
    from latchfree.topics.errors import FrozenMatcher, IndexInvalid, InvalidPattern, InvalidTopic, UnknownSubscription
    from latchfree.topics.fields import PRESENT, FieldMatcher, FieldSubscription
    from latchfree.topics.filtering import TopicFilter
    from latchfree.topics.mask.index import MaskIndex
    from latchfree.topics.matcher import Matcher, Stats, Subscription
    from latchfree.topics.naive import NaiveMatcher
    from latchfree.topics.optimized import OptimizedInvertedBitmap
    from latchfree.topics.pattern import Kind, Pattern
    from latchfree.topics.queues import QueueGroups, Random, RoundRobin, Sticky
    from latchfree.topics.relations import TooComplex, overlapping, overlaps, subsumes, without_subsumed
    from latchfree.topics.remote import RemoteInterest, RoutedSubKey
    from latchfree.topics.snapshot import Difference, Snapshot
    from latchfree.topics.trie import LockedTrie

__all__ = [
    "AMQP",
    "DIALECTS",
    "MQTT",
    "NATS",
    "PRESENT",
    "CachedMatcher",
    "ConcurrentTrie",
    "Dialect",
    "Difference",
    "FieldMatcher",
    "FieldSubscription",
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
    "QueueGroups",
    "Random",
    "RemoteInterest",
    "RoundRobin",
    "RoutedSubKey",
    "Snapshot",
    "Stats",
    "Sticky",
    "Subscription",
    "TooComplex",
    "TopicFilter",
    "UnknownSubscription",
    "get_dialect",
    "overlapping",
    "overlaps",
    "subsumes",
    "without_subsumed",
]

_HOME = {
    "AMQP": "dialects",
    "DIALECTS": "dialects",
    "MQTT": "dialects",
    "NATS": "dialects",
    "PRESENT": "fields",
    "CachedMatcher": "cache",
    "ConcurrentTrie": "concurrent.trie",
    "Dialect": "dialects",
    "Difference": "snapshot",
    "FieldMatcher": "fields",
    "FieldSubscription": "fields",
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
    "QueueGroups": "queues",
    "Random": "queues",
    "RemoteInterest": "remote",
    "RoundRobin": "queues",
    "RoutedSubKey": "remote",
    "Snapshot": "snapshot",
    "Stats": "matcher",
    "Sticky": "queues",
    "Subscription": "matcher",
    "TooComplex": "relations",
    "TopicFilter": "filtering",
    "UnknownSubscription": "errors",
    "get_dialect": "dialects",
    "overlapping": "relations",
    "overlaps": "relations",
    "subsumes": "relations",
    "without_subsumed": "relations",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'latchfree.topics' has no attribute {name!r}")
    try:
        return getattr(import_module(f"latchfree.topics.{_HOME[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name != "pyroaring":
            raise
        message = f'{name} needs pyroaring, which is not installed: pip install "latchfree[topics]"'
        raise ModuleNotFoundError(message, name="pyroaring") from None
