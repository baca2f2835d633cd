"""The names of the package: `lazy_loader` reads them here, and so do the type checkers."""

from . import atomics as atomics, kinds as kinds, sketches as sketches, topics as topics, words as words
from .arena import Arena as Arena
from .ctrie.codecs import Codec as Codec
from .ctrie.mapping import Ctrie as Ctrie
from .ctrie.view import Snapshot as Snapshot
from .errors import ArenaClosed as ArenaClosed, ArenaFull as ArenaFull, ArenaInvalid as ArenaInvalid
from .errors import DirectoryFull as DirectoryFull, LatchfreeError as LatchfreeError, MissingExtra as MissingExtra
from .errors import ParticipantsExhausted as ParticipantsExhausted, StructureExists as StructureExists
from .errors import GenerationsExhausted as GenerationsExhausted, MadeBeforeFork as MadeBeforeFork
from .errors import StructureMissing as StructureMissing
from .jit import kernel as kernel
from .limiting import LimiterGone as LimiterGone, RateCounts as RateCounts, RateLimited as RateLimited
from .limiting import RateLimiter as RateLimiter
from .sketches import Bloom as Bloom, CountMin as CountMin, HyperLogLog as HyperLogLog, InverseBloom as InverseBloom
from .sketches import CountingBloom as CountingBloom, MinHash as MinHash, PartitionedBloom as PartitionedBloom
from .sketches import KLL as KLL
from .sketches import ScalableBloom as ScalableBloom, StableBloom as StableBloom, TopK as TopK
from .sketches import SketchGone as SketchGone, SketchInvalid as SketchInvalid, SketchMismatch as SketchMismatch
from .streams import RingBuffer as RingBuffer, RingCounts as RingCounts, RingEmpty as RingEmpty, RingFull as RingFull
from .streams import MessageRing as MessageRing
from .streams import MessageUnreadable as MessageUnreadable, UnreadMessage as UnreadMessage
from .streams import RingGone as RingGone, RingShutDown as RingShutDown, RingStalled as RingStalled
from .topics import AMQP as AMQP, DIALECTS as DIALECTS, MQTT as MQTT, NATS as NATS, PRESENT as PRESENT
from .topics import CachedMatcher as CachedMatcher, ConcurrentTrie as ConcurrentTrie, Dialect as Dialect
from .topics import FieldMatcher as FieldMatcher, FieldSubscription as FieldSubscription, FrozenMatcher as FrozenMatcher
from .topics import IndexInvalid as IndexInvalid, InvalidPattern as InvalidPattern, InvalidTopic as InvalidTopic
from .topics import InvertedBitmap as InvertedBitmap, LockedTrie as LockedTrie, MaskIndex as MaskIndex
from .topics import Matcher as Matcher, NaiveMatcher as NaiveMatcher, OptimizedInvertedBitmap as OptimizedInvertedBitmap
from .topics import QueueGroups as QueueGroups, RemoteInterest as RemoteInterest, RoutedSubKey as RoutedSubKey
from .topics import Subscription as Subscription, TooComplex as TooComplex, TopicFilter as TopicFilter
from .topics import InterestChange as InterestChange, LimitedMatcher as LimitedMatcher, LimitReached as LimitReached
from .topics import NotifyingMatcher as NotifyingMatcher, RetainedTopics as RetainedTopics
from .topics import UnknownSubscription as UnknownSubscription, get_dialect as get_dialect, overlapping as overlapping
from .topics import overlaps as overlaps, reasons as reasons, subsumes as subsumes, without_subsumed as without_subsumed

__version__: str
