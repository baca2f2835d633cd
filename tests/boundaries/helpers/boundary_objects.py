"""The objects that are called: of each public class, in each state that an object of the class can be in."""

from __future__ import annotations

import dataclasses
import gc
import itertools
import pickle
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pyarrow as pa

from latchfree import (
    AMQP,
    PRESENT,
    Arena,
    CachedMatcher,
    Codec,
    ConcurrentTrie,
    Ctrie,
    FieldMatcher,
    FieldSubscription,
    InvertedBitmap,
    LockedTrie,
    MaskIndex,
    MessageRing,
    NaiveMatcher,
    OptimizedInvertedBitmap,
    QueueGroups,
    RateCounts,
    RateLimiter,
    RemoteInterest,
    RingBuffer,
    RoutedSubKey,
    Snapshot,
    Subscription,
    TopicFilter,
    UnreadMessage,
)
from latchfree.sketches import (
    KLL,
    Bloom,
    CountingBloom,
    CountMin,
    HyperLogLog,
    InverseBloom,
    MinHash,
    PartitionedBloom,
    ScalableBloom,
    Sketch,
    StableBloom,
    TopK,
)
from latchfree.topics import (
    Difference,
    InterestChange,
    Kind,
    LimitedMatcher,
    NotifyingMatcher,
    Random,
    RetainedTopics,
    RoundRobin,
    Stats,
    Sticky,
)
from latchfree_explore import Exploration, Failure, Invocation, PythonExploration, Scenario, Target
from latchfree_explore import Operation as ExploredOperation
from latchfree_explore.examples.counter import COUNTER
from latchfree_explore.weak import Graph, Row
from latchfree_fsck import Report, fsck, inspect
from latchfree_lincheck import (
    Column,
    Columns,
    Event,
    History,
    Journal,
    Monitor,
    Operation,
    Recorder,
    check,
    check_many,
    judge_parts,
)
from latchfree_teach import CheckResult, Graded, Play, find_lesson, play_page, play_threads

_SIZE: Final = 4 << 20

#: The classes whose calls are made on the trie of topics and on the other engines.
MATCHERS: Final = {
    "ConcurrentTrie": ConcurrentTrie,
    "LockedTrie": LockedTrie,
    "NaiveMatcher": NaiveMatcher,
    "InvertedBitmap": InvertedBitmap,
    "OptimizedInvertedBitmap": OptimizedInvertedBitmap,
}


class TextCodec(Codec[Any]):
    """A codec of somebody's own, which encodes anything to what `repr` says."""

    name = "boundary-text"
    word = False

    def encode(self, value: Any) -> bytes:
        return repr(value).encode()

    def decode(self, stored: Any) -> Any:
        return bytes(stored).decode()


class LyingCodec(Codec[Any]):
    """A codec that encodes to the object itself, whatever it is."""

    name = "boundary-lying"
    word = False

    def encode(self, value: Any) -> Any:
        return value

    def decode(self, stored: Any) -> Any:
        return stored


class LyingWords(LyingCodec):
    """A codec that says words."""

    name = "boundary-lying-words"
    word = True


class World:
    """What a program of one call needs: a folder, arenas, and the object that is called.

    Attributes
    ----------
    subject : object
        The object that is called, None for a function.
    acted : bool
        Whether an argument has acted on the object.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.subject: Any = None
        self.acted = False
        self._numbers = itertools.count()
        self._shared: list[Arena] = []

    # parts of objects ----------------------------------------------------------------------------------------------

    def path(self, end: str = "file") -> Path:
        return self.folder / f"{next(self._numbers)}.{end}"

    def arena(self) -> Arena:
        return Arena.anonymous(_SIZE)

    def shared(self) -> Arena:
        arena = Arena.create(path=self.path("arena"), capacity=_SIZE)
        self._shared.append(arena)
        return arena

    def closed_arena(self) -> Arena:
        arena = self.shared()
        Ctrie.create(arena, "s", keys=int, values=int)
        arena.close()
        return arena

    def full_arena(self) -> Arena:
        arena = self.arena()
        filler = Ctrie(keys=int, values=bytes, arena=arena)
        for number in range(1 << 20):
            try:
                filler[number] = bytes(60_000)
            except MemoryError:
                break
        self.filler = filler
        return arena

    def other_map(self) -> Ctrie:
        return Ctrie({1: 2}, keys=int, values=int, arena=self.arena())

    def other_ring(self) -> RingBuffer:
        return RingBuffer(4)

    def subscription(self, *fields: Any) -> Subscription:
        return Subscription(*fields)

    def dialect(self, **changes: Any) -> Any:
        """Return a dialect with other fields, or what looks like one if no dialect has such fields."""
        try:
            return dataclasses.replace(AMQP, **changes)
        except (TypeError, ValueError):
            return SimpleNamespace(**changes)

    def codec(self, name: str) -> Any:
        return {"LyingCodec": LyingCodec, "LyingWords": LyingWords}[name]()

    # what arguments do ---------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the object, or its arena."""
        self.acted = True
        if isinstance(self.subject, Snapshot):
            self.subject.close()
        arena = arena_of(self.subject)
        if arena is not None and arena.shared:
            arena.close()

    def use(self) -> None:
        """Use the object: change, snapshot, read."""
        if self.acted:
            return
        self.acted = True
        subject = self.subject
        if isinstance(subject, Ctrie):
            kept = dict(subject.readonly_snapshot())
            for key in kept:
                subject.pop(key, None)
            subject.update(kept)
            list(subject.items())
        elif isinstance(subject, RingBuffer):
            subject.put_many(subject.get_many(2))
        elif hasattr(subject, "subscribe") and hasattr(subject, "match") and not isinstance(subject, FieldMatcher):
            subject.match("a.b")
            subject.subscribe("a.#", 77)
            subject.match_many(pa.array(["a.b", "x.y"]))
            list(subject.subscriptions())

    def collect(self) -> None:
        """Collect garbage, and free the nodes that can be freed."""
        gc.collect()
        arena = arena_of(self.subject)
        if arena is not None and not arena.closed:
            for _ in range(3):
                arena.collect()

    def closing(self, elements: list[Any]) -> Iterator[Any]:
        """Yield elements, and close the object after the first."""
        for at, element in enumerate(elements):
            if at == 1:
                self.close()
            yield element

    def finish(self) -> None:
        """Close the arenas and remove their files."""
        self.subject = None
        for arena in self._shared:
            arena.close()
        for file in self.folder.iterdir():
            if file.is_file():
                file.unlink()


def arena_of(thing: Any) -> Arena | None:
    """Return the arena that an object lives in."""
    if isinstance(thing, Arena):
        return thing
    for name in ("arena", "_arena"):
        found = getattr(thing, name, None)
        if isinstance(found, Arena):
            return found
    store = getattr(thing, "_store", None)
    return store.arena if store is not None and isinstance(getattr(store, "arena", None), Arena) else None


# variants: the objects of a class ------------------------------------------------------------------------------------


def _filled(trie: Any, keys: Any, values: Any) -> Any:
    for key, value in zip(keys, values, strict=True):
        trie[key] = value
    return trie


def _map(world: World, keys: Any, values: Any) -> Ctrie:
    sample: dict[Any, list[Any]] = {int: [1, 2, 3], str: ["a", "b", "c"], bytes: [b"a", b"b", b"c"]}
    any_of = [1, "b", (3, 4)]
    made = Ctrie(keys=keys, values=values, arena=world.arena())
    return _filled(made, sample.get(keys, any_of), sample.get(values, any_of))


def _named(world: World) -> Ctrie:
    return _filled(Ctrie.create(world.shared(), "s", keys=int, values=int), [1, 2, 3], [1, 2, 3])


def _closed(make: Callable[[World], Any]) -> Callable[[World], Any]:
    def closed(world: World) -> Any:
        made = make(world)
        arena = arena_of(made)
        assert arena is not None
        arena.close()
        return made

    return closed


def _pickled(make: Callable[[World], Any]) -> Callable[[World], Any]:
    def pickled(world: World) -> Any:
        world.original = make(world)
        made = pickle.loads(pickle.dumps(world.original))
        arena = arena_of(made)
        if arena is not None and arena is not arena_of(world.original):
            world._shared.append(arena)
        return made

    return pickled


def _unlinked_map(world: World) -> Ctrie:
    made = _named(world)
    Ctrie.unlink(made.arena, "s")
    return made


def _file_gone(world: World) -> Ctrie:
    made = _named(world)
    made.arena.unlink()
    return made


def _full_map(world: World) -> Ctrie:
    return Ctrie(keys=int, values=bytes, arena=world.full_arena())


def _snapshot(make: Callable[[World], Any], *, close: str = "") -> Callable[[World], Any]:
    def snapshot(world: World) -> Any:
        made = world.map = make(world)
        taken = made.readonly_snapshot() if isinstance(made, Ctrie) else made.snapshot()
        if close == "snapshot":
            taken.close()
        elif close == "arena":
            made.arena.close()
        return taken

    return snapshot


def _subscribed(matcher: Any, *, texts: bool = False) -> Any:
    matcher.subscribe("a.b", 1)
    matcher.subscribe("a.*", 2)
    matcher.subscribe("#", "ann" if texts else 3, queue="q")
    return matcher


def _retained() -> RetainedTopics[object]:
    made: RetainedTopics[object] = RetainedTopics("amqp", most=8)
    made.put("a.b", 1)
    return made


def _topics(world: World, *, texts: bool = False) -> ConcurrentTrie:
    return _subscribed(ConcurrentTrie(arena=world.arena()), texts=texts)


def _shared_topics(world: World) -> ConcurrentTrie:
    return _subscribed(ConcurrentTrie.create(world.shared(), "t"), texts=True)


def _mqtt(world: World) -> ConcurrentTrie:
    trie: ConcurrentTrie = ConcurrentTrie("mqtt", arena=world.arena())
    trie.subscribe("$share/g/a/b", 1)
    trie.subscribe("a/+", 2)
    trie.subscribe("#", 3)
    return trie


def _unlinked_topics(world: World) -> ConcurrentTrie:
    made = _shared_topics(world)
    ConcurrentTrie.unlink(made.arena, "t")
    return made


def _ring(world: World, *, shared: bool = False, weak: bool = False) -> RingBuffer:
    ring = RingBuffer(8, weak=weak, arena=world.shared() if shared else world.arena(), stall_timeout=0.05)
    ring.put_many([1, 2, 3])
    return ring


def _named_ring(world: World) -> RingBuffer:
    ring = RingBuffer.create(world.shared(), "s", 8, stall_timeout=0.05)
    ring.put_many([1, 2, 3])
    return ring


def _messages(world: World, *, named: bool = False) -> MessageRing:
    """Return a ring that holds something: a call that waits as long as it takes must find an item at once."""
    if named:
        ring = MessageRing.create(world.shared(), "s", 8, "str", stall_timeout=0.05)
    else:
        ring = MessageRing(8, "str", stall_timeout=0.05)
    for message in ("a", "b", "c"):
        ring.put(message)
    return ring


def _index(world: World) -> MaskIndex:
    return MaskIndex.build(["a.b", "a.*", "#", "a.b"], [1, 2, 3, 4])


def _saved_index(world: World) -> MaskIndex:
    path = world.path("index")
    MaskIndex.build(["a.b", "a.*", "#"], ["ann", "bob", "cy"]).save(path)
    return MaskIndex.open(path)


def _arena(world: World) -> Arena:
    arena = world.shared()
    Ctrie.create(arena, "s", keys=int, values=int)[1] = 1
    return arena


def _history() -> History:
    return History("h", [Operation(0, "put", (1, 2), None, 1, 4), Operation(1, "get", (1,), 2, 2, 6)], "map")


def _columns() -> Columns:
    import numpy as np

    times = np.array([1, 3]), np.array([2, 4])
    return Columns.of(np.array([0, 1]), ["put", "get"], ([1, 1], [2, None]), [None, 2], *times, None)


def _key() -> RoutedSubKey:
    return RoutedSubKey("r", "acc", "a.>", "q")


def _interest() -> RemoteInterest:
    interest = RemoteInterest()
    interest.apply(_key(), 2)
    return interest


def _fields() -> FieldMatcher:
    matcher = FieldMatcher()
    matcher.subscribe({"a": 1, "b": PRESENT}, "s")
    return matcher


#: A store that a load has read.
_PASSING: Final = [Row(0, "W", "x", "rel", place=1), Row(1, "R", "x", "acq", reads=0)]


def _failure() -> Failure:
    return Failure(Scenario.parse("increment | increment"), [0, 1], [], _history(), "not linearizable", "m")


_MAPS: Final[dict[str, Callable[[World], Any]]] = {
    "ints": lambda world: _map(world, int, int),
    "texts": lambda world: _map(world, str, str),
    "bytes": lambda world: _map(world, bytes, bytes),
    "ints to bytes": lambda world: _map(world, int, bytes),
    "texts to ints": lambda world: _map(world, str, int),
    "pickled things": lambda world: _map(world, "pickle", "pickle"),
    "own codec": lambda world: _map(world, TextCodec(), TextCodec()),
    "lying codec": lambda world: Ctrie(keys=LyingCodec(), values=LyingCodec(), arena=world.arena()),
    "named": _named,
    "closed": _closed(_named),
    "unlinked": _unlinked_map,
    "file gone": _file_gone,
    "pickled": _pickled(_named),
    "full": _full_map,
    "snapshot": lambda world: _named(world).snapshot(),
}

_TOPICS: Final[dict[str, Callable[[World], Any]]] = {
    "private": _topics,
    "numbers and texts": lambda world: _topics(world, texts=True),
    "mqtt": _mqtt,
    "shared": _shared_topics,
    "closed": _closed(_shared_topics),
    "unlinked": _unlinked_topics,
    "pickled": _pickled(_shared_topics),
    "full": lambda world: ConcurrentTrie(arena=world.full_arena()),
}

#: The sketches, and what makes a small one in an arena.
SKETCHES: Final[dict[str, Callable[[Arena], Sketch]]] = {
    "Bloom": lambda arena: Bloom.create(arena, "s", 100),
    "HyperLogLog": lambda arena: HyperLogLog.create(arena, "s", 0.1),
    "CountMin": lambda arena: CountMin.create(arena, "s", 0.1, conservative=True),
    "InverseBloom": lambda arena: InverseBloom.create(arena, "s", 8),
    "PartitionedBloom": lambda arena: PartitionedBloom.create(arena, "s", 100),
    "CountingBloom": lambda arena: CountingBloom.create(arena, "s", 100),
    "ScalableBloom": lambda arena: ScalableBloom.create(arena, "s", 2, most=20),
    "StableBloom": lambda arena: StableBloom.create(arena, "s", 640),
    "MinHash": lambda arena: MinHash.create(arena, "s", 8),
    "KLL": lambda arena: KLL.create(arena, "s", 0.1, writers=2, seed=1),
    "TopK": lambda arena: TopK.create(arena, "s", 2, 0.1),
}


def named_sketch(world: World, name: str) -> Any:
    made: Any = SKETCHES[name](world.shared())
    made.add_many([1, 2] if name == "KLL" else ["a", "b"])
    return made


def _unlinked_sketch(world: World, name: str) -> Any:
    made = named_sketch(world, name)
    type(made).unlink(made.arena, "s")
    return made


def _limiter(world: World, *, unlink: bool = False) -> RateLimiter:
    made = RateLimiter.create(world.shared(), "s", 1e-6, 5, when_empty="shed")
    if unlink:
        assert made.arena is not None
        RateLimiter.unlink(made.arena, "s")
    return made


def _sketches(name: str) -> dict[str, Callable[[World], Any]]:
    return {
        "private": lambda world: named_sketch(world, name).copy(),
        "named": lambda world: named_sketch(world, name),
        "unlinked": lambda world: _unlinked_sketch(world, name),
        "closed": _closed(lambda world: named_sketch(world, name)),
        "pickled": _pickled(lambda world: named_sketch(world, name)),
    }


#: The variants of each class: name -> maker. A class of records needs one.
VARIANTS: Final[dict[str, dict[str, Callable[[World], Any]]]] = {
    "Arena": {
        "private": lambda world: world.arena(),
        "shared": _arena,
        "closed": lambda world: world.closed_arena(),
        "pickled": _pickled(_arena),
    },
    "Ctrie": _MAPS,
    "Snapshot": {
        "ints": _snapshot(_MAPS["ints"]),
        "texts": _snapshot(_MAPS["texts"]),
        "things": _snapshot(_MAPS["pickled things"]),
        "named": _snapshot(_named),
        "closed": _snapshot(_named, close="snapshot"),
        "arena closed": _snapshot(_named, close="arena"),
    },
    "RingBuffer": {
        "strict": _ring,
        "weak": lambda world: _ring(world, weak=True),
        "shared": lambda world: _ring(world, shared=True),
        "named": _named_ring,
        "closed": _closed(lambda world: _ring(world, shared=True)),
        "pickled": _pickled(lambda world: _ring(world, shared=True)),
    },
    "MessageRing": {
        "private": _messages,
        "named": lambda world: _messages(world, named=True),
        "closed": _closed(lambda world: _messages(world, named=True)),
        "pickled": _pickled(lambda world: _messages(world, named=True)),
    },
    "RateLimiter": {
        "private": lambda world: RateLimiter(1e-6, 5, when_empty="shed"),
        "named": _limiter,
        "unlinked": lambda world: _limiter(world, unlink=True),
        "closed": _closed(_limiter),
        "pickled": _pickled(_limiter),
    },
    "RateCounts": {"one": lambda world: RateCounts(1, 2)},
    **{name: _sketches(name) for name in SKETCHES},
    "ConcurrentTrie": _TOPICS,
    "TrieSnapshot": {
        "private": _snapshot(_topics),
        "numbers and texts": _snapshot(lambda world: _topics(world, texts=True)),
        "shared": _snapshot(_shared_topics),
        "closed": _snapshot(_shared_topics, close="snapshot"),
        "arena closed": _snapshot(_shared_topics, close="arena"),
    },
    "CopiedSnapshot": {"copied": lambda world: _subscribed(LockedTrie()).snapshot()},
    "MaskIndex": {"built": _index, "saved": _saved_index, "pickled": _pickled(_index)},
    **{
        name: {"filled": lambda world, kind=kind: _subscribed(kind())}
        for name, kind in MATCHERS.items()
        if name != "ConcurrentTrie"
    },
    "CachedMatcher": {
        "trie": lambda world: CachedMatcher(_topics(world)),
        "locked": lambda world: CachedMatcher(_subscribed(LockedTrie())),
    },
    "LimitedMatcher": {"locked": lambda world: LimitedMatcher(_subscribed(LockedTrie()), each=3, in_all=9, fan_out=4)},
    "NotifyingMatcher": {"trie": lambda world: NotifyingMatcher(_topics(world), id)},
    "RetainedTopics": {"filled": lambda world: _retained()},
    "InterestChange": {"one": lambda world: InterestChange(Subscription(1, "a.b", 1), True, 1)},
    "QueueGroups": {"trie": lambda world: QueueGroups(_topics(world))},
    "RemoteInterest": {"filled": lambda world: _interest()},
    "FieldMatcher": {"filled": lambda world: _fields()},
    "TopicFilter": {"filled": lambda world: TopicFilter(["a.b", "a.*"])},
    "Dialect": {"amqp": lambda world: AMQP, "own": lambda world: world.dialect(longest=40_000)},
    "Pattern": {"parsed": lambda world: AMQP.pattern("a.*.#")},
    "Kind": {"one": lambda world: Kind.ONE},
    "Subscription": {"one": lambda world: Subscription(1, "a.b", 1)},
    "FieldSubscription": {"one": lambda world: FieldSubscription((("a", 1),), True, "s")},
    "RoutedSubKey": {"one": lambda world: _key()},
    "Stats": {"one": lambda world: Stats("e", "amqp", 1, 1, 1)},
    "Difference": {"one": lambda world: Difference(frozenset(), frozenset())},
    "Random": {"one": lambda world: Random(1)},
    "RoundRobin": {"one": lambda world: RoundRobin()},
    "Sticky": {"one": lambda world: Sticky()},
    "History": {
        "objects": lambda world: _history(),
        "columns": lambda world: History.of_columns(
            "h", process=[0, 1], f=["put", "get"], arguments=[[1, 1], [2, None]], result=[None, 2], invoke=[1, 3],
            return_=[2, 4],
        ),
    },
    "Operation": {
        "judged": lambda world: Operation(0, "put", (1, 2), None, 1, 4),
        "explored": lambda world: ExploredOperation(COUNTER.operation("increment").kernel),
    },
    "Recorder": {"one": lambda world: Recorder()},
    "Event": {"call": lambda world: Event("invoke", 3, "get", (1,))},
    "Monitor": {"one": lambda world: Monitor("map")},
    "Journal": {"one": lambda world: Journal(world.path("jsonl"))},
    "Column": {"numbers": lambda world: Column.of([1, 2, 3]), "texts": lambda world: Column.of(["a", "b", "a"])},
    "Columns": {"two": lambda world: _columns()},
    "Verdict": {"ok": lambda world: check(_history())},
    "Verdicts": {"two": lambda world: check_many(_columns(), ["x", "x"])},
    "UnreadMessage": {"one": lambda world: UnreadMessage(0, b"x", ValueError("x"))},
    "RingCounts": {"one": lambda world: _ring(world).counts()},
    "Judged": {"one": lambda world: judge_parts(_history())},
    "Part": {"one": lambda world: judge_parts(_history()).parts[0]},
    "PythonExploration": {"empty": lambda world: PythonExploration("free")},
    "Exploration": {"empty": lambda world: Exploration("t", "dpor", 0)},
    "Failure": {"one": lambda world: _failure()},
    "Graph": {"passing": lambda world: Graph.record(_PASSING)},
    "Row": {"store": lambda world: _PASSING[0]},
    "Lesson": {"first": lambda world: find_lesson("1")},
    "CheckResult": {"passed": lambda world: CheckResult("increment", 1, "passed")},
    "Graded": {
        "graded": lambda world: Graded("ada", "1", "graded", checks=[CheckResult("increment", 1, "passed")]),
        "refused": lambda world: Graded("<b>", "01_lost_update", "refused", "no imports"),
    },
    "Play": {"one": lambda world: _play()},
    "PythonPlay": {"one": lambda world: play_threads(print, print)},
    "Invocation": {"one": lambda world: Invocation("increment")},
    "Scenario": {"two": lambda world: Scenario.parse("increment | increment")},
    "Memory": {"one": lambda world: COUNTER.prepare(2, "")},
    "Target": {"counter": lambda world: COUNTER, "no setup": lambda world: Target("t", "map", {})},
    "Report": {"one": lambda world: Report("w")},
    "Structure": {"one": lambda world: fsck(path=_left(world)).structures[0]},
    "Inspection": {"one": lambda world: inspect(path=_left(world))},
}  # fmt: skip


@cache
def _play() -> Play:
    return play_page(COUNTER, "increment")


def _left(world: World) -> Path:
    arena = _arena(world)
    path = Path(arena.region.where)
    arena.close()
    return path


def contents(thing: Any) -> Any:
    """Return what an object holds, as plain values; None for one that holds nothing, or is closed."""
    arena = arena_of(thing)
    if (arena is not None and arena.closed) or getattr(thing, "closed", False) is True:
        return None
    if isinstance(thing, Ctrie | Snapshot):
        return sorted(map(repr, thing.items())), len(thing)
    if isinstance(thing, RingBuffer):
        if thing.counts().shut:
            return "shut"
        if thing.name is not None and thing.name not in thing._arena.structures():
            return "unlinked"
        values = thing.get_many(thing.capacity)
        assert thing.put_many(values) == len(values)
        return list(values)
    if isinstance(thing, Sketch):
        return None if thing.arena is not None and "s" not in thing.arena.structures() else thing.to_bytes()
    if isinstance(thing, RateLimiter):
        return None if thing.arena is not None and "s" not in thing.arena.structures() else thing.counts()
    if isinstance(thing, Arena):
        return sorted(thing.structures())
    if hasattr(thing, "subscriptions") and not isinstance(thing, type | Stats):
        held = list(thing.subscriptions())
        assert len(thing) == len(held), "len is not the number of subscriptions"
        return sorted(map(repr, held))
    return None
