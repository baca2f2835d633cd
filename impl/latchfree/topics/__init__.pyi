"""The names of the package: `lazy_loader` reads them here, and so do the type checkers."""

from .concurrent.trie import ConcurrentTrie as ConcurrentTrie
from .dialects import AMQP as AMQP, DIALECTS as DIALECTS, MQTT as MQTT, NATS as NATS, Dialect as Dialect
from .dialects import get_dialect as get_dialect
from .engines.bitmap import InvertedBitmap as InvertedBitmap
from .engines.locked_trie import LockedTrie as LockedTrie
from .engines.naive import NaiveMatcher as NaiveMatcher
from .engines.optimized import OptimizedInvertedBitmap as OptimizedInvertedBitmap
from .errors import FrozenMatcher as FrozenMatcher, IndexInvalid as IndexInvalid, InvalidPattern as InvalidPattern
from .errors import InvalidTopic as InvalidTopic, LimitReached as LimitReached
from .errors import UnknownSubscription as UnknownSubscription
from .explain import reasons as reasons
from .mask.index import MaskIndex as MaskIndex
from .matcher import Matcher as Matcher
from .pattern import Kind as Kind, Pattern as Pattern
from .relations import TooComplex as TooComplex, overlapping as overlapping, overlaps as overlaps, subsumes as subsumes
from .relations import without_subsumed as without_subsumed
from .routing.cache import CachedMatcher as CachedMatcher
from .routing.fields import PRESENT as PRESENT, FieldMatcher as FieldMatcher, FieldSubscription as FieldSubscription
from .routing.filtering import TopicFilter as TopicFilter
from .routing.limits import LimitedMatcher as LimitedMatcher
from .routing.notices import InterestChange as InterestChange, NotifyingMatcher as NotifyingMatcher
from .routing.queues import QueueGroups as QueueGroups, Random as Random, RoundRobin as RoundRobin, Sticky as Sticky
from .routing.remote import RemoteInterest as RemoteInterest, RoutedSubKey as RoutedSubKey
from .routing.retained import RetainedTopics as RetainedTopics
from .snapshot import Difference as Difference, Snapshot as Snapshot
from .subscription import Stats as Stats, Subscription as Subscription
