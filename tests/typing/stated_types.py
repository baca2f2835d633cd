"""What the type checkers say of the names at the top; read by `test_user_types`, never run."""

from collections.abc import Hashable, Iterator
from typing import assert_type

from latchfree import (
    Arena,
    ArenaFull,
    CachedMatcher,
    ConcurrentTrie,
    Ctrie,
    LockedTrie,
    MaskIndex,
    Matcher,
    QueueGroups,
    RingBuffer,
    Snapshot,
    Subscription,
)
from latchfree_explore import Exploration, Target, explore
from latchfree_lincheck import Columns, History, Operation, Verdict, Verdicts, check, check_many, read_history, shrink


def maps() -> None:
    arena = Arena.anonymous(1 << 20)
    words = Ctrie({"tea": 4}, keys=str, values=int)
    assert_type(words, Ctrie[str, int])
    assert_type(Ctrie(keys=int, values=bytes), Ctrie[int, bytes])
    assert_type(Ctrie(keys=str, values=str, arena=arena), Ctrie[str, str])
    assert_type(Ctrie.create(arena, "counts", keys=str, values=int), Ctrie[str, int])
    assert_type(Ctrie.open(arena, "counts", keys=str, values=int), Ctrie[str, int])
    assert_type(Ctrie.load("counts.parquet", keys=str, values=int), Ctrie[str, int])
    objects: Ctrie[tuple[int, str], list[int]] = Ctrie()
    assert_type(objects[1, "a"], list[int])
    assert_type(Ctrie({1.5: [2]}), Ctrie[float, list[int]])


def calls(words: Ctrie[str, int]) -> None:
    assert_type(words["tea"], int)
    assert_type(words.get("tea"), int | None)
    assert_type(words.get("tea", 0), int)
    assert_type(words.get("tea", "none"), int | str)
    assert_type(words.pop("tea"), int)
    assert_type(words.pop("tea", None), int | None)
    assert_type(words.popitem(), tuple[str, int])
    assert_type(words.setdefault("tea", 1), int)
    assert_type(len(words), int)
    assert_type(iter(words), Iterator[str])
    assert_type(words.snapshot(), Ctrie[str, int])
    assert_type(words.readonly_snapshot(), Snapshot[str, int])
    assert_type(words.readonly_snapshot()["tea"], int)
    for key, value in words.items():
        assert_type(key, str)
        assert_type(value, int)


def arenas() -> None:
    arena = Arena.create(name="shared", capacity=1 << 20)
    assert_type(arena, Arena)
    assert_type(Arena.open("shared"), Arena)
    assert_type(ArenaFull("full", 3).done, int)


def streams(ring: RingBuffer) -> None:
    assert_type(ring.try_put(1), bool)
    assert_type(ring.try_get(), int | None)
    assert_type(ring.put(1, timeout=1), bool)
    assert_type(ring.get(), int)


def topics() -> None:
    trie = ConcurrentTrie("mqtt")
    assert_type(trie, ConcurrentTrie[Hashable])
    assert_type(trie.subscribe("a/+", 7), Subscription[Hashable])
    anything: Matcher = trie
    assert_type(anything.match("a/b"), frozenset[Hashable])
    index = MaskIndex.build(["a/+"], [7], dialect="mqtt")
    assert_type(index, MaskIndex[int])
    assert_type(index.match("a/b"), frozenset[int])


def topics_of_text() -> None:
    names = LockedTrie[str]("mqtt")
    assert_type(names.subscribe("a/+", "ann"), Subscription[str])
    assert_type(names.match("a/b"), frozenset[str])
    assert_type(names.freeze(), MaskIndex[str])
    assert_type(CachedMatcher(names).match("a/b"), frozenset[str])
    assert_type(QueueGroups(names).route("a/b"), list[Subscription[str]])
    assert_type(ConcurrentTrie[str].create(Arena.anonymous(), "interests", "mqtt").match("a"), frozenset[str])


def histories(columns: Columns) -> None:
    late = History("late", (Operation(0, "write", (1,), None, 1, 2), Operation(1, "read", (), None, 3, 4)))
    verdict = check(late, "register")
    assert_type(verdict, Verdict)
    many = check_many(columns, "register")
    assert_type(many, Verdicts)
    shrink(late, "register")
    for history in read_history("late.jsonl"):
        assert_type(history, History)


def exploring(target: Target) -> None:
    assert_type(explore(target, scenario="increment | increment"), Exploration)
