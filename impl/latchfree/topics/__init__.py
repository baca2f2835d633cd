"""Topic matching: which subscribers want a message published on a topic.

Names are loaded at first use, so that importing the package loads neither the compiler nor Arrow.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from latchfree.topics.concurrent.trie import ConcurrentTrie
    from latchfree.topics.dialects import AMQP, DIALECTS, MQTT, NATS, Dialect, get_dialect
    from latchfree.topics.engines.bitmap import InvertedBitmap
    from latchfree.topics.engines.locked_trie import LockedTrie
    from latchfree.topics.engines.naive import NaiveMatcher
    from latchfree.topics.engines.optimized import OptimizedInvertedBitmap
    from latchfree.topics.errors import FrozenMatcher, IndexInvalid, InvalidPattern, InvalidTopic, UnknownSubscription
    from latchfree.topics.mask.index import MaskIndex
    from latchfree.topics.matcher import Matcher
    from latchfree.topics.pattern import Kind, Pattern
    from latchfree.topics.relations import TooComplex, overlapping, overlaps, subsumes, without_subsumed
    from latchfree.topics.routing.cache import CachedMatcher
    from latchfree.topics.routing.fields import PRESENT, FieldMatcher, FieldSubscription
    from latchfree.topics.routing.filtering import TopicFilter
    from latchfree.topics.routing.queues import QueueGroups, Random, RoundRobin, Sticky
    from latchfree.topics.routing.remote import RemoteInterest, RoutedSubKey
    from latchfree.topics.snapshot import Difference, Snapshot
    from latchfree.topics.subscription import Stats, Subscription

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
    "PRESENT": "routing.fields",
    "CachedMatcher": "routing.cache",
    "ConcurrentTrie": "concurrent.trie",
    "Dialect": "dialects",
    "Difference": "snapshot",
    "FieldMatcher": "routing.fields",
    "FieldSubscription": "routing.fields",
    "FrozenMatcher": "errors",
    "IndexInvalid": "errors",
    "InvalidPattern": "errors",
    "InvalidTopic": "errors",
    "InvertedBitmap": "engines.bitmap",
    "Kind": "pattern",
    "LockedTrie": "engines.locked_trie",
    "MaskIndex": "mask.index",
    "Matcher": "matcher",
    "NaiveMatcher": "engines.naive",
    "OptimizedInvertedBitmap": "engines.optimized",
    "Pattern": "pattern",
    "QueueGroups": "routing.queues",
    "Random": "routing.queues",
    "RemoteInterest": "routing.remote",
    "RoundRobin": "routing.queues",
    "RoutedSubKey": "routing.remote",
    "Snapshot": "snapshot",
    "Stats": "subscription",
    "Sticky": "routing.queues",
    "Subscription": "subscription",
    "TooComplex": "relations",
    "TopicFilter": "routing.filtering",
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
