"""The names of the package: `lazy_loader` reads them here, and so do the type checkers."""

from .concurrent.trie import ConcurrentTrie
from .dialects import AMQP, DIALECTS, MQTT, NATS, Dialect, get_dialect
from .engines.bitmap import InvertedBitmap
from .engines.locked_trie import LockedTrie
from .engines.naive import NaiveMatcher
from .engines.optimized import OptimizedInvertedBitmap
from .errors import FrozenMatcher, IndexInvalid, InvalidPattern, InvalidTopic, UnknownSubscription
from .mask.index import MaskIndex
from .matcher import Matcher
from .pattern import Kind, Pattern
from .relations import TooComplex, overlapping, overlaps, subsumes, without_subsumed
from .routing.cache import CachedMatcher
from .routing.fields import PRESENT, FieldMatcher, FieldSubscription
from .routing.filtering import TopicFilter
from .routing.queues import QueueGroups, Random, RoundRobin, Sticky
from .routing.remote import RemoteInterest, RoutedSubKey
from .snapshot import Difference, Snapshot
from .subscription import Stats, Subscription

__all__ = [
    "AMQP", "DIALECTS", "MQTT", "NATS", "PRESENT", "CachedMatcher", "ConcurrentTrie", "Dialect", "Difference",
    "FieldMatcher", "FieldSubscription", "FrozenMatcher", "IndexInvalid", "InvalidPattern", "InvalidTopic",
    "InvertedBitmap", "Kind", "LockedTrie", "MaskIndex", "Matcher", "NaiveMatcher", "OptimizedInvertedBitmap",
    "Pattern", "QueueGroups", "Random", "RemoteInterest", "RoundRobin", "RoutedSubKey", "Snapshot", "Stats", "Sticky",
    "Subscription", "TooComplex", "TopicFilter", "UnknownSubscription", "get_dialect", "overlapping", "overlaps",
    "subsumes", "without_subsumed",
]  # fmt: skip
