"""Right arguments, by class, call and parameter: a program puts hostile ones in the place of one or two of them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from boundary_objects import SKETCHES, VARIANTS, World, named_sketch

from latchfree import AMQP, ArenaClosed, Bloom, CountMin, Ctrie, HyperLogLog, MaskIndex, Subscription
from latchfree_explore import outside_event

_HISTORY = VARIANTS["History"]["objects"]

Make = Callable[[World], Any]


def _keys(world: World) -> Any:
    """Keys of the kind that the map takes."""
    subject = world.subject
    codec = getattr(getattr(subject, "_store", None), "keys", None)
    return {"str": "b", "bytes": b"b"}.get(getattr(codec, "name", ""), 2)


def _values(world: World) -> Any:
    store = getattr(world.subject, "_store", None)
    return {"str": "y", "bytes": b"y"}.get(getattr(getattr(store, "values", None), "name", ""), 5)


class Plain:
    """A map in plain Python, to be explored."""

    def __init__(self) -> None:
        self.items: dict[int, int] = {}

    def put(self, key: int = 0, value: int = 1) -> int | None:
        old = self.items.get(key)
        self.items[key] = value
        return old

    def get(self, key: int) -> int | None:
        return self.items.get(key)


async def _main() -> None:
    """A program of asyncio, to be explored."""
    await outside_event("a reply")


def _first(world: World) -> Any:
    """A subscription that the matcher has."""
    subject = world.subject
    if type(subject).__name__ == "FieldMatcher":
        return VARIANTS["FieldSubscription"]["one"](world)
    with suppress(ArenaClosed, ValueError):  # it is closed
        for each in subject.subscriptions() if hasattr(subject, "subscriptions") else ():
            return each
    return Subscription(1, "a.b", 1)


def _named_arena(world: World) -> Any:
    arena = world.shared()
    Ctrie.create(arena, "s", keys=int, values=int)[1] = 1
    return arena


def _topic_arena(world: World) -> Any:
    return VARIANTS["ConcurrentTrie"]["shared"](world).arena


def _backup(world: World) -> Path:
    path = world.path("parquet")
    with Ctrie({1: 2}, keys=int, values=int, arena=world.arena()).readonly_snapshot() as snapshot:
        snapshot.save(path)
    return path


def _index(world: World) -> Path:
    path = world.path("index")
    MaskIndex.build(["a.b"], [1]).save(path)
    return path


def _arena_file(world: World) -> Path:
    arena = _named_arena(world)
    path = Path(arena.region.where)
    arena.close()
    return path


def _log(world: World) -> Path:
    from latchfree_lincheck import write_history

    path = world.path("jsonl")
    write_history(path, [_HISTORY(world)])
    return path


def _sketch_arena(name: str) -> Make:
    return lambda world: named_sketch(world, name).arena


def _sketch_bytes(name: str) -> Make:
    return lambda world: named_sketch(world, name).to_bytes()


#: For "Class.call.parameter", "Class.parameter", "call.parameter" or "parameter", the first that is there.
GOOD: Final[dict[str, Make]] = {
    # maps
    "Ctrie.get_many.keys": lambda world: [_keys(world)],
    "Ctrie.remove_many.keys": lambda world: [_keys(world)],
    "Ctrie.put_many.keys": lambda world: [_keys(world)],
    "Ctrie.put_many.values": lambda world: [_values(world)],
    "Ctrie.open.arena": _named_arena,
    "Ctrie.unlink.arena": _named_arena,
    "Ctrie.load.arena": lambda world: None,
    "Ctrie.load.name": lambda world: None,
    "Ctrie.load.path": _backup,
    "Ctrie.arena": lambda world: world.arena(),
    "Ctrie.create.arena": lambda world: world.shared(),
    "Ctrie.keys": lambda world: int,
    "Ctrie.values": lambda world: int,
    "Ctrie.items": lambda world: {4: 5},
    "Ctrie.other": lambda world: {_keys(world): _values(world)},
    "Ctrie.named": lambda world: {},
    "Snapshot.other": lambda world: {1: 1},
    "Snapshot.store": lambda world: None,
    "Snapshot.hold": lambda world: None,
    "TrieSnapshot.reader": VARIANTS["ConcurrentTrie"]["private"],
    "TrieSnapshot.hold": lambda world: None,
    "CopiedSnapshot.held": lambda world: [],
    "memo": lambda world: {},
    "messages": lambda world: [{"a": 1}, {}],
    "LimitedMatcher.each": lambda world: 9,
    "in_all": lambda world: 9,
    "fan_out": lambda world: 9,
    "tell": lambda world: id,
    "RetainedTopics.most": lambda world: 9,
    "message": lambda world: b"on",
    "RoundRobin.keep.members": lambda world: {("g", 1)},
    "came": lambda world: True,
    "left": lambda world: 1,
    "most_bytes": lambda world: 1 << 20,
    "format_spec": lambda world: "",
    "key": _keys,
    "value": _values,
    "old": _values,
    "new": _values,
    "expected": _values,
    "default": _values,
    "name": lambda world: "s",
    "hash_mask": lambda world: (1 << 64) - 1,
    "path": lambda world: world.path(),
    "where": _arena_file,
    "capacity": lambda world: 4 << 20,
    "bulk": lambda world: True,
    "region": lambda world: world.arena().region,
    "exception": lambda world: (None, None, None),
    # topics
    "ConcurrentTrie.open.arena": _topic_arena,
    "ConcurrentTrie.unlink.arena": _topic_arena,
    "ConcurrentTrie.create.arena": lambda world: world.shared(),
    "ConcurrentTrie.open.name": lambda world: "t",
    "ConcurrentTrie.open.dialect": lambda world: None,
    "ConcurrentTrie.unlink.name": lambda world: "t",
    "ConcurrentTrie.subscribers": lambda world: pa.array([7, 8]),
    "ConcurrentTrie.numbers": lambda world: np.array([1, 2], np.uint64),
    "arena": lambda world: world.arena(),
    "dialect": lambda world: "amqp",
    "overlaps.dialect": lambda world: AMQP,
    "subsumes.dialect": lambda world: AMQP,
    "without_subsumed.dialect": lambda world: AMQP,
    "get_dialect.dialect": lambda world: "mqtt",
    "topics": lambda world: pa.array(["a.b", "x.y"]),
    "InvertedBitmap.topics.topics": lambda world: ["a.b"],
    "topic": lambda world: "a.b",
    "pattern": lambda world: "a.*",
    "may_overlap.pattern": lambda world: AMQP.pattern("a.*"),
    "patterns": lambda world: pa.array(["a.b", "c.*"]),
    "subscribe_many.patterns": lambda world: ["a.b", "c.*"],
    "without_subsumed.patterns": lambda world: ["a.b", "a.*"],
    "MaskIndex.build.subscribers": lambda world: [1, 2],
    "MaskIndex.open.path": _index,
    "MaskIndex.of.subscriptions": lambda world: [Subscription(1, "a.b", 1)],
    "MaskIndex.buffer": lambda world: None,
    "MaskIndex.numbering": lambda world: None,
    "MaskIndex.arrays": lambda world: {},
    "Dialect.matches.pattern": lambda world: AMQP.pattern("a.*"),
    "Dialect.words": lambda world: ("a", "b"),
    "Dialect.name": lambda world: "own",
    "Dialect.separator": lambda world: ".",
    "Dialect.one": lambda world: "*",
    "Dialect.many": lambda world: "#",
    "least": lambda world: 0,
    "longest": lambda world: 255,
    "most_words": lambda world: 200,
    **{f"Dialect.{name}": lambda world: False for name in ("many_anywhere", "hides_dollar", "shares")},
    "pattern_defect": lambda world: AMQP.pattern_defect,
    "topic_defect": lambda world: AMQP.topic_defect,
    "Pattern.words": lambda world: ("a",),
    "subscriber": lambda world: 5,
    "subscription": _first,
    "queue": lambda world: None,
    "row": lambda world: True,
    "prefix": lambda world: None,
    "earlier": lambda world: world.subject,
    "matcher": lambda world: VARIANTS["LockedTrie"]["filled"](world),
    "overlapping.pattern": lambda world: "a.#",
    "criteria": lambda world: {"a": 1},
    "fields": lambda world: {"a": 1, "b": 2},
    "every": lambda world: True,
    "RemoteInterest.key": VARIANTS["RoutedSubKey"]["one"],
    "RemoteInterest.dialect": lambda world: "nats",
    "TopicFilter.patterns": lambda world: ["a.b"],
    "weight": lambda world: 1,
    "route": lambda world: "r",
    "account": lambda world: "acc",
    "group": lambda world: "g",
    "members": lambda world: [Subscription(1, "a.b", 1)],
    "pick": lambda world: None,
    "text": lambda world: "a.b",
    "one": lambda world: "a.*",
    "other": lambda world: world.subject,
    "overlaps.other": lambda world: "a.b",
    "wide": lambda world: "a.*",
    "narrow": lambda world: "a.b",
    "most_groups": lambda world: 48,
    "check": lambda world: True,
    "cached": lambda world: True,
    "entries": lambda world: 16,
    "sweep": lambda world: 4,
    "block": lambda world: 256,
    "reduce": lambda world: True,
    # rings
    "RingBuffer.capacity": lambda world: 8,
    **{f"{name}.create.arena": lambda world: world.shared() for name in ("RingBuffer", "MessageRing")},
    **{
        f"{name}.{call}.arena": lambda world, name=name: VARIANTS[name]["named"](world)._arena
        for name in ("RingBuffer", "MessageRing")
        for call in ("open", "unlink")
    },
    "MessageRing.capacity": lambda world: 8,
    "holds": lambda world: "str",
    "UnreadMessage.place": lambda world: 0,
    "UnreadMessage.data": lambda world: b"x",
    "UnreadMessage.error": lambda world: ValueError("x"),
    "MessageRing.expected": lambda world: 100,
    "MessageRing.message": lambda world: "tea",
    "MessageRing.messages": lambda world: ["tea", "oat"],
    "MessageRing.timeout": lambda world: 0.01,
    "weak": lambda world: False,
    "stall_timeout": lambda world: 0.05,
    "RingBuffer.value": lambda world: 5,
    "RingCounts.puts": lambda world: 3,
    "RingCounts.gets": lambda world: 3,
    "RingCounts.refused_puts": lambda world: 3,
    "RingCounts.refused_gets": lambda world: 3,
    "RingCounts.put_waits": lambda world: 3,
    "RingCounts.get_waits": lambda world: 3,
    "RingCounts.dropped": lambda world: 3,
    "RingCounts.mended": lambda world: 3,
    "RingCounts.most": lambda world: 3,
    "shut": lambda world: False,
    "RingBuffer.timeout": lambda world: 0.01,
    "when_full": lambda world: "block",
    "immediate": lambda world: False,
    "RingBuffer.values": lambda world: [5, 6],
    "most": lambda world: 2,
    # sketches
    **{f"{name}.{call}.arena": _sketch_arena(name) for name in SKETCHES for call in ("open", "unlink")},
    **{f"{name}.create.arena": lambda world: world.shared() for name in SKETCHES},
    **{f"{name}.from_bytes.data": _sketch_bytes(name) for name in SKETCHES},
    "from_bytes.data": _sketch_bytes("Bloom"),
    "item": lambda world: "a",
    "add_many.items": lambda world: ["a", "b"],
    "contains_many.items": lambda world: ["a", "b"],
    "estimate_many.items": lambda world: ["a", "b"],
    "CountMin.add.count": lambda world: 1,
    "counts": lambda world: None,
    "Bloom.expected": lambda world: 100,
    "PartitionedBloom.expected": lambda world: 100,
    "CountingBloom.expected": lambda world: 100,
    "remove_many.items": lambda world: ["a", "b"],
    "ScalableBloom.initial": lambda world: 2,
    "ScalableBloom.most": lambda world: 20,
    "hashes": lambda world: 8,
    "StableBloom.slots": lambda world: 640,
    "KLL.item": lambda world: 1,
    "KLL.items": lambda world: [1, 2],
    "KLL.add_many.items": lambda world: [1, 2],
    "writers": lambda world: 2,
    "rank": lambda world: 0.5,
    "ranks": lambda world: [0.5],
    "KLL.from_datasketches.data": lambda world: named_sketch(world, "KLL").to_datasketches(),
    "HyperLogLog.from_datasketches.data": lambda world: HyperLogLog(0.1, hash="datasketches").to_datasketches(),
    "CountMin.from_datasketches.data": lambda world: CountMin(0.1, hash="datasketches").to_datasketches(),
    "TopK.from_datasketches.data": lambda world: bytes.fromhex("01010a0303050000"),
    "CountMin.from_datasketches.seed": lambda world: None,
    "CountMin.from_spark.data": lambda world: CountMin(0.1, hash="spark").to_spark(),
    "CountMin.from_spark.seed": lambda world: None,
    "Bloom.from_spark.data": lambda world: Bloom(100, hash="spark-v2").to_spark(),
    "hash": lambda world: "latchfree",
    "TopK.items": lambda world: 2,
    "TopK.add.count": lambda world: 1,
    "TopK.add_many.items": lambda world: ["a", "b"],
    "false_positives": lambda world: 0.01,
    "error": lambda world: 0.1,
    "confidence": lambda world: 0.9,
    "conservative": lambda world: True,
    "slots": lambda world: 8,
    # rate limiters
    "rate": lambda world: 1e-6,
    "burst": lambda world: 5,
    "when_empty": lambda world: "shed",
    "tokens": lambda world: 1,
    "reserve": lambda world: 0,
    "RateLimiter.timeout": lambda world: 0.01,
    "RateLimiter.create.arena": lambda world: world.shared(),
    "RateLimiter.open.arena": lambda world: VARIANTS["RateLimiter"]["named"](world).arena,
    "RateLimiter.unlink.arena": lambda world: VARIANTS["RateLimiter"]["named"](world).arena,
    "granted": lambda world: 1,
    "refused": lambda world: 2,
    # histories
    "history": _HISTORY,
    "check_many.columns": VARIANTS["Columns"]["two"],
    "check_many.history": lambda world: ["x", "x"],
    "model": lambda world: "map",
    "timeout": lambda world: 5.0,
    "memory": lambda world: 1 << 30,
    "budget": lambda world: None,
    "engine": lambda world: "auto",
    "criterion": lambda world: "linearizability",
    "relaxation": lambda world: 0,
    "marked": lambda world: (),
    "read_history.path": _log,
    "format": lambda world: "jsonl",
    "failed": lambda world: "dropped",
    "keyed": lambda world: False,
    "initial": lambda world: 0,
    "read_history.model": lambda world: None,
    "histories": lambda world: [_HISTORY(world)],
    "judged": lambda world: [VARIANTS["Judged"]["one"](world)],
    "open_at": lambda world: "start",
    "History.operations": lambda world: _HISTORY(world).operations,
    "History.result": lambda world: [None, 2],
    "History.process": lambda world: [0, 1],
    "History.f": lambda world: ["put", "get"],
    "History.arguments": lambda world: [[1, 1], [2, None]],
    "History.invoke": lambda world: [1, 3],
    "History.return_": lambda world: [2, 4],
    "Columns.of.process": lambda world: [0, 1],
    "Columns.of.f": lambda world: ["put", "get"],
    "Columns.of.arguments": lambda world: [[1, 1], [2, None]],
    "Columns.of.result": lambda world: [None, 2],
    "Columns.of.invoke": lambda world: np.array([1, 3]),
    "Columns.of.return_": lambda world: np.array([2, 4]),
    "History.row": lambda world: 0,
    "Column.row": lambda world: 0,
    "Columns.row": lambda world: 0,
    "Recorder.history.name": lambda world: "h",
    "freeze": lambda world: True,
    "event": VARIANTS["Event"]["call"],
    "split": lambda world: True,
    "Event.type": lambda world: "invoke",
    "model_hint": lambda world: None,
    "Arena.forked_since.identity": lambda world: 1,
    "Arena.interpreter_participant.maker": lambda world: 0,
    "Arena.lend.maker": lambda world: 0,
    "Arena.participant_address.maker": lambda world: 0,
    "object": lambda world: None,
    "process": lambda world: 3,
    "f": lambda world: "get",
    "arguments": lambda world: (1,),
    "result": lambda world: None,
    "invoke": lambda world: 10,
    "return_": lambda world: 20,
    "Column.of.values": lambda world: [1, 2],
    "rows": lambda world: np.array([0]),
    "absent": lambda world: np.array([True, False]),
    "low": lambda world: 0,
    "high": lambda world: 2,
    "number": lambda world: 0,
    "save.text": lambda world: "text",
    "source": lambda world: "",
    "steps": lambda world: (),
    "on_part": lambda world: None,
    "linearizable.model": lambda world: "map",
    "linearizable.threads": lambda world: (2, 3),
    "linearizable.operations": lambda world: None,
    "linearizable.arguments": lambda world: None,
    "linearizable.explore": lambda world: None,
    "stateful.operations": lambda world: None,
    "stateful.arguments": lambda world: None,
    "make": lambda world: dict,
    "methods": lambda world: None,
    "most_calls": lambda world: 4,
    "repeats": lambda world: 1,
    "programs": lambda world: 2,
    "seconds": lambda world: 1.0,
    "shrink_seconds": lambda world: 1.0,
    "yielding": lambda world: 0.1,
    "derandomize": lambda world: True,
    # explorer
    "explore.target": VARIANTS["Target"]["counter"],
    "explore.memory": lambda world: "sc",
    "Graph.holds": lambda world: bool,
    "Row.value": lambda world: 1,
    "Graph.record.rows": lambda world: [],
    "races": lambda world: True,
    "graph": VARIANTS["Graph"]["passing"],
    "orders": lambda world: ("acq",),
    "Row.thread": lambda world: 0,
    "Row.kind": lambda world: "W",
    "Row.word": lambda world: "x",
    "Row.order": lambda world: "rel",
    "Row.reads": lambda world: None,
    "Row.place": lambda world: 1,
    "explore.scenario": lambda world: "increment | increment",
    "strategy": lambda world: None,
    "seed": lambda world: 1,
    "schedules": lambda world: 5,
    "bound": lambda world: None,
    "script": lambda world: "",
    "plain": lambda world: False,
    "progress": lambda world: False,
    "fsck.progress": lambda world: print,
    "minimise": lambda world: False,
    "on_progress": lambda world: None,
    "case": lambda world: {},
    "find": lambda world: None,
    "scenario": VARIANTS["Scenario"]["two"],
    "Scenario.text": lambda world: "increment | read",
    "rng": lambda world: __import__("random").Random(1),
    "fresh": lambda world: iter(range(100)),
    "threads": lambda world: 2,
    "each": VARIANTS["Invocation"]["one"],
    "Target.keys": lambda world: "",
    "explore_object.make": lambda world: Plain,
    "explore_object.scenario": lambda world: "put(0, 1) | get(0)",
    "explore_object.model": lambda world: "map",
    "explore_object.methods": lambda world: None,
    "explore_object.cancels": lambda world: 0,
    "explore_object.strategy": lambda world: "dpor",
    "explore_async.main": lambda world: _main,
    "explore_async.check": lambda world: None,
    "explore_async.cancels": lambda world: 1,
    "explore_async.strategy": lambda world: "dpor",
    "explore_async.bound": lambda world: 2,
    "stop_at": lambda world: None,
    "outside_event.label": lambda world: "a reply",
    "outside_event.result": lambda world: None,
    "explore_threads.threads": lambda world: Plain.put,
    "explore_threads.check": lambda world: None,
    "explore_threads.setup": lambda world: Plain,
    "explore_threads.strategy": lambda world: "auto",
    "explore_threads.bound": lambda world: 2,
    "explore_threads.timeouts": lambda world: 0,
    "switches": lambda world: "free",
    "include": lambda world: (),
    "raises": lambda world: True,
    "Target.name": lambda world: "increment",
    # teaching
    "find_lesson.name": lambda world: "1",
    "play_page.target": VARIANTS["Target"]["counter"],
    "play_page.scenario": lambda world: "increment",
    "play_page.switches": lambda world: 1,
    "play_object.make": lambda world: Plain,
    "play_object.scenario": lambda world: "put(0, 1) | get(0)",
    "play_object.model": lambda world: "map",
    "play_object.methods": lambda world: None,
    "play_object.opened": lambda world: (),
    "play_object.cancels": lambda world: 0,
    "play_async.opened": lambda world: (),
    "play_threads.threads": lambda world: Plain.put,
    "play_threads.check": lambda world: None,
    "play_threads.setup": lambda world: Plain,
    "play_async.main": lambda world: _main,
    "play_async.check": lambda world: None,
    "play_async.cancels": lambda world: 0,
    "changes": lambda world: None,
    "title": lambda world: "a title",
    "story": lambda world: "a story",
    "painter": lambda world: None,
    "opened": lambda world: False,
    "lines": lambda world: True,
    "points": lambda world: 1,
    "score": lambda world: 1,
    "status": lambda world: "passed",
    "shown": lambda world: "",
    "lesson": lambda world: "01_lost_update",
    "checks": lambda world: [],
    "mistake": lambda world: "",
    "hint": lambda world: "",
    "fingerprint": lambda world: "",
    "contained": lambda world: [],
    "megabytes": lambda world: 1.0,
    "page": lambda world: "",
    **{f"CheckResult.{name}": (lambda world: "a") for name in ("name", "kind")},
    "Graded.name": lambda world: "ada",
    "Lesson.folder": lambda world: Path("lessons"),
    "minutes": lambda world: 45,
    "Lesson.target": lambda world: "COUNTER",
    "Lesson.kind": lambda world: "kernels",
    **{f"Lesson.{name}": (lambda world: ()) for name in ("holes", "names", "checks", "hints", "quiz", "play")},
    "mistakes": lambda world: {},
    "Play.text": lambda world: "",
    "Play.graph": lambda world: VARIANTS["Play"]["one"](world).graph,
    "states": lambda world: 1,
    "par": lambda world: None,
    "Play.data": lambda world: {},
    "PythonPlay.text": lambda world: "",
    "PythonPlay.states": lambda world: 1,
    "PythonPlay.bound": lambda world: "",
    "PythonPlay.par": lambda world: None,
    "PythonPlay.data": lambda world: {},
    # fsck
    "fsck.path": _arena_file,
    "fsck.name": lambda world: None,
    "inspect.path": _arena_file,
    "inspect.name": lambda world: None,
    "repair": lambda world: False,
    "counted_bytes": lambda world: 1 << 20,
    # recipes
    "check_columns.history": lambda world: ["x", "x"],
    "check_columns.process": lambda world: np.array([0, 1]),
    "check_columns.f": lambda world: ["put", "get"],
    "check_columns.invoke": lambda world: np.array([1, 3]),
    "check_columns.return_": lambda world: np.array([2, 4]),
    "check_columns.result": lambda world: [None, 2],
    "first": lambda world: [1, 1],
    "second": lambda world: [2, None],
    "codes": lambda world: np.array([0, 1, 0]),
    "table": lambda world: ["a", "b"],
    "times": lambda world: None,
    "build_index.subscribers": lambda world: [1, 2],
    "topic_columns.subscribers": lambda world: pa.array([7, 8]),
    "map_columns.keys": lambda world: [1, 2],
    "map_columns.values": lambda world: [1, 2],
    "size": lambda world: 64,
    # compiled functions
    "kernel.function": lambda world: _addition,
    **{name: (lambda world: np.uint64(3)) for name in ("word", "floors", "h", "level", "bitmap", "flag")},
    **{name: (lambda world: 0) for name in ("mem", "at", "a", "b", "typingctx", "address", "length", "count")},
}  # fmt: skip


def _addition(one: Any, other: Any) -> Any:
    return one + other


def good(owner: str, call: str, parameter: str) -> Make | None:
    """Return what makes a right argument for a parameter, None if nobody has said."""
    short = owner.rpartition(".")[2]
    names = (f"{short}.{call}.{parameter}", f"{short}.{parameter}", f"{call}.{parameter}", parameter)
    return next((GOOD[name] for name in names if name in GOOD), None)
