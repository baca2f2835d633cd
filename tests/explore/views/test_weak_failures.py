"""Failures under weak memory: found by every strategy, labelled, replayed, and none where the model forbids them."""

from __future__ import annotations

import copy
from types import MappingProxyType

import numpy as np
import pytest

from latchfree.atomics import fence, load, peek, poke, store
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word
from latchfree_explore import Operation, Target, explore, replay_files
from latchfree_explore.page import steps_of
from latchfree_explore.sources import source_hash
from latchfree_model import Call, SequentialModel

_0 = np.uint64(0)
_1 = np.uint64(1)
_MINE = np.uint64(8)
_OTHER = np.uint64(9)


class Answers(SequentialModel[int]):
    """All answers are right, but for those of `never`."""

    name = "answers"
    operations = MappingProxyType({"enter": 0, "fenced": 0, "left": 0, "right": 0, "never": 0})
    silent = frozenset({"enter", "fenced", "left", "right"})

    def init(self) -> int:
        return 0

    def apply(self, state: int, call: Call) -> tuple[object, int]:
        return False, state


@kernel
def enter(mem: Handle, root: Word, thread: Word) -> Flag:
    store(mem, _MINE + np.uint64(thread), _1)
    if load(mem, _OTHER - np.uint64(thread)) != _0:
        return False
    poke(mem, root, peek(mem, root) + _1)
    return True


@kernel
def fenced(mem: Handle, root: Word, thread: Word) -> Flag:
    store(mem, _MINE + np.uint64(thread), _1)
    fence(mem)
    if load(mem, _OTHER - np.uint64(thread)) != _0:
        return False
    poke(mem, root, peek(mem, root) + _1)
    return True


@kernel
def left(mem: Handle, root: Word, thread: Word) -> None:
    store(mem, _MINE, np.uint64(1))
    store(mem, _OTHER, np.uint64(2))


@kernel
def right(mem: Handle, root: Word, thread: Word) -> None:
    store(mem, _OTHER, np.uint64(1))
    store(mem, _MINE, np.uint64(2))


@kernel
def never(mem: Handle, root: Word, thread: Word) -> Flag:
    return load(mem, _MINE) == _1 and load(mem, _OTHER) == _1


OPERATIONS = {
    "enter": Operation(enter, bool),
    "fenced": Operation(fenced, bool),
    "left": left,
    "right": right,
    "never": Operation(never, bool),
}
FLAGS = Target("flags", Answers(), OPERATIONS)
STORES = "left | right | after: never"


def test_two_flags_exclude_each_other_in_every_interleaving() -> None:
    result = explore(FLAGS, scenario="enter | enter")
    assert (result.verdict, result.complete, result.memory, result.stale) == ("ok", True, "sc", 0)
    assert result.interleavings == 6


@pytest.mark.parametrize("memory", ["tso", "sra", "rc11"])
@pytest.mark.parametrize("strategy", ["dpor", "bounded", "random", "pct"])
def test_every_strategy_finds_both_threads_inside(memory: str, strategy: str) -> None:
    result = explore(FLAGS, scenario="enter | enter", memory=memory, strategy=strategy, seed=1)
    failure = result.failure
    assert failure is not None
    assert (result.verdict, failure.kind, failure.models) == ("violation", "data race", ("tso", "sra", "rc11"))
    assert failure.stale == 2  # each overlooks the other's flag: who had seen it return would know
    assert result.interleavings is None
    assert "one newer" in result.explain()
    assert "allowed by tso, sra, rc11: on x86 too" in result.explain()


@pytest.mark.parametrize("memory", ["sc", "tso", "sra", "rc11"])
def test_a_fence_between_store_and_load_helps(memory: str) -> None:
    result = explore(FLAGS, scenario="fenced | fenced", memory=memory)
    assert (result.verdict, result.complete) == ("ok", True)


def test_without_races_only_results_count() -> None:
    assert (
        explore(FLAGS, scenario="enter | enter", memory="tso", races=False).verdict == "violation"
    )  # it always counts
    assert explore(FLAGS, scenario="enter | enter", races=False).verdict == "ok"


def test_stores_that_no_processor_exchanges() -> None:
    for memory in ("sc", "tso", "sra"):
        assert explore(FLAGS, scenario=STORES, memory=memory).verdict == "ok"
    failure = explore(FLAGS, scenario=STORES, memory="rc11").failure
    assert failure is not None
    assert (failure.kind, failure.models) == ("not linearizable", ("rc11",))
    assert any(step.kind == "store" and step.choice for step in failure.steps)


def test_what_the_model_forbids_is_no_failure() -> None:
    """Two readers see two stores in different orders: not on x86, although the machine runs such schedules."""

    class Orders(SequentialModel[tuple[int, int]]):
        name = "orders"
        operations = MappingProxyType({"x": 0, "y": 0, "xy": 0, "yx": 0})
        silent = frozenset({"x", "y"})

        def init(self) -> tuple[int, int]:
            return 0, 0

        def apply(self, state: tuple[int, int], call: Call) -> tuple[object, tuple[int, int]]:
            x, y = state
            if call.f in ("x", "y"):
                return None, (1, y) if call.f == "x" else (x, 1)
            return (x, y), state

        def matches(self, call: Call, expected: object) -> bool:
            news = (1, 0) if call.f == "xy" else (0, 1)  # all others may be of two instants
            return call.result == expected or call.result != news

    result = explore(IRIW(Orders()), scenario="x | y | xy | yx", memory="sra")
    assert result.verdict == "violation"
    assert result.failure is not None
    assert result.failure.models == ("sra", "rc11")
    result = explore(IRIW(Orders()), scenario="x | y | xy | yx", memory="tso")
    assert (result.verdict, result.complete) == ("ok", True)
    assert result.forbidden > 0


@kernel
def _x(mem: Handle, root: Word, thread: Word) -> None:
    load(mem, root)  # it begins before the other store: what returned before it began it would pass on
    store(mem, _MINE, _1)


@kernel
def _y(mem: Handle, root: Word, thread: Word) -> None:
    load(mem, root)
    store(mem, _OTHER, _1)


@kernel
def _xy(mem: Handle, root: Word, thread: Word) -> Word:
    load(mem, root)
    first = load(mem, _MINE)
    return first << _1 | load(mem, _OTHER)


@kernel
def _yx(mem: Handle, root: Word, thread: Word) -> Word:
    load(mem, root)
    first = load(mem, _OTHER)
    return load(mem, _MINE) << _1 | first


def IRIW(model: SequentialModel[tuple[int, int]]) -> Target:
    def pair(word: int) -> tuple[int, int]:
        return word >> 1, word & 1

    return Target("iriw", model, {"x": _x, "y": _y, "xy": Operation(_xy, pair), "yx": Operation(_yx, pair)})


def document_of(memory: str) -> dict[str, object]:
    result = explore(FLAGS, scenario="enter | enter", memory=memory, seed=1)
    return replay_files.to_json(result, target="flags", source=source_hash(FLAGS), plain=False)


def test_a_failure_is_replayed_with_its_choices() -> None:
    document = document_of("tso")
    again = replay_files.replay(document, find=lambda _: FLAGS)
    assert again.failure is not None
    assert (again.verdict, again.failure.kind, again.failure.stale) == ("violation", "data race", 2)
    newest = copy.deepcopy(document)
    newest["choices"] = []
    assert replay_files.replay(newest, find=lambda _: FLAGS).verdict == "ok"
    strong = copy.deepcopy(document)
    strong["memory"] = "sc"
    assert replay_files.replay(strong, find=lambda _: FLAGS).verdict == "ok"


def test_the_page_says_which_reads_are_old() -> None:
    failure = explore(FLAGS, scenario="enter | enter", memory="tso", seed=1).failure
    assert failure is not None
    assert [step["kind"] for step in steps_of(failure)].count("load (old: there is one newer)") == 2


def test_obstruction_freedom_under_weak_memory() -> None:
    result = explore(FLAGS, scenario="fenced | fenced", memory="sra", progress=True)
    assert (result.verdict, result.complete) == ("ok", True)


def test_a_model_that_is_none() -> None:
    with pytest.raises(ValueError, match="unknown memory model 'arm'; there are: sc, tso, sra, rc11"):
        explore(FLAGS, scenario="enter | enter", memory="arm")


@kernel
def fill(mem: Handle, root: Word, thread: Word) -> None:
    store(mem, root, _1)
    for k in range(np.uint64(100_000)):
        at = np.uint64(16) + np.uint64(k) + np.uint64(thread) * np.uint64(100_000)
        poke(mem, at, peek(mem, at) + _1)


def test_many_words_may_be_touched() -> None:
    target = Target("large", Answers(), {"enter": fill}, size=1 << 18)
    assert explore(target, scenario="enter | enter").verdict == "ok"
    assert explore(target, scenario="enter | enter", memory="rc11").verdict == "ok"
