"""Failures of the strategy of graphs: labelled, replayed, made small; and what the strategy refuses."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
import pytest

from latchfree.atomics import cas, exchange, fetch_add, load, load_seq, pause, peek, poke, store
from latchfree.jit import kernel
from latchfree.kinds import Flag, Handle, Word
from latchfree_explore import Operation, Target, explore, replay_files
from latchfree_explore.sources import source_hash
from latchfree_model import Call, SequentialModel

_0 = np.uint64(0)
_1 = np.uint64(1)
_X = np.uint64(8)
_Y = np.uint64(9)


class Answers(SequentialModel[int]):
    """All answers are right, but that of `told`, which is never to be true."""

    name = "answers"
    operations = MappingProxyType(
        dict.fromkeys(
            ("enter", "wait", "wait_never", "set_x", "takes_turns", "gives_up", "spin", "stray", "told", "tells"), 0
        )
    )
    silent = frozenset({"enter", "wait", "wait_never", "set_x", "takes_turns", "gives_up", "spin", "stray", "tells"})

    def init(self) -> int:
        return 0

    def apply(self, state: int, call: Call) -> tuple[object, int]:
        return False, state


@kernel
def enter(mem: Handle, root: Word, thread: Word) -> Flag:
    """Raise a flag, and look at the other's: both threads may be inside."""
    store(mem, _X + np.uint64(thread), _1)
    if load(mem, _Y - np.uint64(thread)) != _0:
        return False
    poke(mem, root, peek(mem, root) + _1)
    return True


@kernel
def wait(mem: Handle, root: Word, thread: Word) -> Word:
    """Wait for x."""
    turns = _0
    while load(mem, _X) == _0:
        turns += _1
        pause(mem)
    return turns


@kernel
def wait_never(mem: Handle, root: Word, thread: Word) -> None:
    """Wait for what nobody writes."""
    while load(mem, _X) != np.uint64(99):
        pause(mem)


@kernel
def set_x(mem: Handle, root: Word, thread: Word) -> None:
    store(mem, _X, _1)


@kernel
def takes_turns(mem: Handle, root: Word, thread: Word) -> None:
    """Wait for x, and count the turns in y."""
    while load(mem, _X) == _0:
        fetch_add(mem, _Y, _1)
        pause(mem)


@kernel
def gives_up(mem: Handle, root: Word, thread: Word) -> Flag:
    """Wait for x, three turns at most."""
    for _ in range(3):
        if load(mem, _X) != _0:
            return True
        pause(mem)
    return False


@kernel
def spin(mem: Handle, root: Word, thread: Word) -> None:
    """Wait for x without saying so."""
    while load(mem, _X) == _0:
        load(mem, _Y)


@kernel
def stray(mem: Handle, root: Word, thread: Word) -> None:
    """Read outside the memory if x and y are seen in the wrong order."""
    if load(mem, _Y) == _1 and load(mem, _X) == _0:
        load(mem, np.uint64(1 << 30))


@kernel
def told(mem: Handle, root: Word, thread: Word) -> Flag:
    """Say whether y was written and x was not, as only the weakest memory has it: see `tells`."""
    load(mem, root)
    return load(mem, _X) == _1 and load_seq(mem, _Y) == _0 and cas(mem, np.uint64(10), _1, _1)


@kernel
def tells(mem: Handle, root: Word, thread: Word) -> None:
    """Thread 0 writes x; thread 1 writes y and notes in a third word that it has not seen x."""
    load(mem, root)
    if thread == 0:
        exchange(mem, _X, _1)
    else:
        exchange(mem, _Y, _1)
        if load_seq(mem, _X) == _0:
            store(mem, np.uint64(10), _1)


FLAGS = Target(
    "flags",
    Answers(),
    {
        "enter": Operation(enter, bool),
        "wait": wait,
        "wait_never": wait_never,
        "set_x": set_x,
        "takes_turns": takes_turns,
        "gives_up": Operation(gives_up, bool),
        "spin": spin,
        "stray": stray,
        "told": Operation(told, bool),
        "tells": tells,
    },
)


def by_graphs(scenario, **options):
    return explore(FLAGS, scenario=scenario, strategy="graphs", **options)


@pytest.mark.parametrize("memory", ["tso", "sra", "rc11"])
def test_both_threads_inside(memory):
    result = by_graphs("enter | enter", memory=memory)
    failure = result.failure
    assert (result.verdict, failure.kind, failure.models) == ("violation", "data race", ("tso", "sra", "rc11"))
    assert failure.stale == 2
    assert "allowed by tso, sra, rc11: on x86 too" in result.explain()
    document = replay_files.to_json(result, target="flags", source=source_hash(FLAGS), plain=False)
    again = replay_files.replay(document, find=lambda _: FLAGS)
    assert (again.verdict, again.failure.kind, again.failure.stale) == ("violation", "data race", 2)


def test_not_in_interleavings():
    result = by_graphs("enter | enter")
    assert (result.verdict, result.complete, result.interleavings) == ("ok", True, None)
    assert result.schedules == 3
    assert result.reason == "linearizable in every execution graph that sc allows"


def test_what_the_machine_would_not_choose_is_given_and_replayed():
    scenario = "tells | tells | told"
    assert explore(FLAGS, scenario=scenario, memory="rc11").verdict == "ok"
    for memory in ("sc", "tso"):
        result = by_graphs(scenario, memory=memory)
        assert (result.verdict, result.complete) == ("ok", True)
    result = by_graphs(scenario, memory="rc11", minimise=False)
    failure = result.failure
    assert (failure.kind, failure.models) == ("not linearizable", ("sra", "rc11"))
    assert min(failure.choices) < 0
    assert "what its graph says" in result.explain()
    document = replay_files.to_json(result, target="flags", source=source_hash(FLAGS), plain=False)
    assert replay_files.replay(document, find=lambda _: FLAGS).failure.kind == "not linearizable"


@pytest.mark.parametrize("memory", ["sc", "rc11"])
def test_a_thread_that_waits_reads_what_it_waits_for(memory):
    result = by_graphs("wait | set_x", memory=memory)
    assert (result.verdict, result.complete, result.schedules) == ("ok", True, 1)
    assert result.slept == 1, "the graph in which the thread has read 0 and waits for good"


@pytest.mark.parametrize("memory", ["sc", "rc11"])
def test_a_thread_that_waits_in_vain(memory):
    result = by_graphs("wait_never | set_x", memory=memory)
    assert (result.verdict, result.failure.kind) == ("violation", "deadlock")
    document = replay_files.to_json(result, target="flags", source=source_hash(FLAGS), plain=False)
    assert replay_files.replay(document, find=lambda _: FLAGS).failure.kind == "deadlock"


@pytest.mark.parametrize("operation", ["takes_turns", "gives_up"])
def test_a_loop_whose_turns_count_is_refused(operation):
    with pytest.raises(ValueError, match=r"the loop around .*test_graph_failures.py:\d+ writes .* --strategy dpor"):
        by_graphs(f"{operation} | set_x")


def test_a_loop_that_does_not_say_that_it_waits_is_endless():
    for strategy in ("graphs", "dpor"):
        result = explore(FLAGS, scenario="spin | set_x", strategy=strategy)
        assert (result.verdict, result.failure.kind) == ("violation", "endless")


def test_an_access_outside_the_memory():
    result = by_graphs("enter | stray", memory="rc11")
    assert result.verdict == "ok", "thread 1 never writes y before thread 0 writes x"
    result = by_graphs("init: set_x | stray", memory="rc11")
    assert result.verdict == "ok"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"plain": True}, "leave out --plain"),
        ({"progress": True}, "leave out --obstruction-free"),
        ({"races": False}, "leave out --no-races"),
        ({"bound": 0}, "bound must be from -1 to -1"),
        ({"script": "0 1"}, "runs along a script, and no other does"),
    ],
    ids=lambda value: str(value),
)
def test_what_cannot_be_asked(options, why):
    with pytest.raises(ValueError, match=why):
        by_graphs("enter | enter", **options)


def test_a_bound_on_the_graphs_cuts_the_search_short():
    result = by_graphs("set_x | set_x | wait", memory="rc11", schedules=2)
    assert (result.verdict, result.schedules, result.complete) == ("unknown", 2, False)
    whole = by_graphs("set_x | set_x | wait", memory="rc11")
    assert (whole.verdict, whole.complete) == ("ok", True)
    assert whole.schedules > 2


def test_random_scenarios_by_graphs():
    target = Target("words", Answers(), {"set_x": set_x, "enter": Operation(enter, bool)})
    result = explore(target, strategy="graphs", memory="sra", schedules=5000, seed=3)
    assert result.verdict == "violation", "two of these enter at once"
