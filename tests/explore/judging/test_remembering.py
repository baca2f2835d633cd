"""Failing schedules are judged in compiled code, each graph once: as the axioms in Python judge each schedule."""

from __future__ import annotations

from functools import cache
from types import MappingProxyType
from typing import Any, cast

import numpy as np
import pytest

from latchfree.atomics import fence, load, pause, store
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree.streams.kernels.parking import ASLEEP, tell
from latchfree_evidence.orders.accesses import WAYS, OrderedAccess
from latchfree_evidence.orders.search import sites_of
from latchfree_evidence.targets.closing import SLEEPERS, SleepersModel, wait
from latchfree_evidence.targets.finding import find_target
from latchfree_explore import Scenario, Target, search
from latchfree_explore.board import layout as b
from latchfree_explore.judging import axioms
from latchfree_explore.judging.recording import record
from latchfree_explore.judging.remembering import ALLOWED, FORBIDDEN, UNKNOWN, Memory, answer
from latchfree_explore.machine import loop
from latchfree_explore.machine.machine import Machine
from latchfree_explore.strategies.strategy import Strategy
from latchfree_explore.strategies.table import strategy_named
from latchfree_explore.weak.axioms import MODELS, Model, allowed_by
from latchfree_explore.weak.graph import KINDS, ORDERS, Graph
from latchfree_model import Call, SequentialModel

WEAK = MODELS[1:]
SEED = 20261128
_1 = np.uint64(1)
_NEWS = np.uint64(8)


@kernel
def post_unfenced(mem: Handle, flag: Word, thread: Word) -> None:
    store(mem, flag, _1)
    store(mem, flag + _NEWS + _NEWS, load(mem, flag + _NEWS))  # a look without a fence before it
    if load(mem, flag + _NEWS) & ASLEEP != np.uint64(0):
        tell(mem, flag + _NEWS)


@kernel
def post_late(mem: Handle, flag: Word, thread: Word) -> None:
    tell(mem, flag + _NEWS)
    store(mem, flag, _1)


@kernel
def post_deaf(mem: Handle, flag: Word, thread: Word) -> None:
    store(mem, flag, _1)
    fence(mem)


def sleepers(name: str, post: Any) -> Target:
    return Target(name, SleepersModel(), {"wait": wait, "post": post})


TWINS = (
    SLEEPERS,
    sleepers("tells without a fence", post_unfenced),
    sleepers("tells before the change", post_late),
    sleepers("tells nobody", post_deaf),
)
PROGRAMS = ("wait | post", "wait | wait | post", "wait | post | post", "post; wait | wait; post")
#: Other structures: pokes, old news, several operations in a thread, weak results.
OTHERS = (
    ("weak-ring", "init: enqueue(3) | dequeue(); enqueue(1) | enqueue(2) | dequeue() | after: dequeue(); enqueue(4)"),
    ("closing-ring", "put(1) | put(2) | close; get; get"),
    ("epochs", "init: write(1) | read | write(2); tick; write(3)"),
    ("pins", "read; read | retire | advance"),
    ("free-list", "init: push(1); push(2) | pop | push(3) | pop; push(2)"),
    ("reclaiming-ctrie", "init: put(0, 1) | put(0, 2); get(0) | get(0) | keys: flat"),
)


def machine_of(target: Target, scenario: str, memory: str = "rc11") -> Machine:
    machine = Machine(target, Scenario.parse(scenario), memory=memory, races=True)
    search.warm_up(machine)
    return machine


def of_python(graph: Graph) -> list[tuple[object, ...]]:
    """Return a graph's events as they are recorded: thread by thread, words numbered as they come up."""
    place = {event: at for order in graph.writes.values() for at, event in enumerate(order)}
    listed = [k for k, event in enumerate(graph.events) if event.thread >= 0]
    listed.sort(key=lambda k: graph.events[k].thread)

    def is_heard(k: int) -> bool:
        return graph.events[k].kind == "R" and isinstance(graph.events[k].word, str)

    for first in range(len(listed)):  # what an operation hears when it begins has no order of its own
        end = first
        while end < len(listed) and is_heard(listed[end]) and (first == 0 or not is_heard(listed[first - 1])):
            end += 1
        listed[first:end] = sorted(listed[first:end], key=lambda k: int(str(graph.events[k].word).split()[1]))
    words: dict[object, int] = {}
    for k in listed:
        if graph.events[k].word is not None:
            words.setdefault(graph.events[k].word, len(words))
    number = {k: at for at, k in enumerate(listed)}
    for word, at in words.items():
        number[graph.writes[cast(int, word)][0]] = len(listed) + at
    rows: list[tuple[object, ...]] = []
    for k in listed:
        event, source = graph.events[k], graph.source[k]
        word = -1 if event.word is None else words[event.word]
        reads = -1 if source is None else number[source]
        rows.append((event.thread, event.kind, word, event.order, reads, place.get(k, -1)))
    return rows + [(-1, "W", word, "rlx", -1, 0) for word in range(len(words))]


def recorded(memory: Memory, count: int) -> list[tuple[object, ...]]:
    rows = memory.tables.events[:count].tolist()
    return [
        (thread, KINDS[kind], word, ORDERS[order], source, 0 if thread < 0 else place)
        for thread, kind, word, order, source, place in rows
    ]


def compare(machine: Machine, strategy: str, most: int, seed: int = SEED) -> set[tuple[bool, tuple[Model, ...]]]:
    """Compare schedule by schedule; return whether each failed, and which models allow it."""
    kept = {model: Memory(model) for model in WEAK}
    anew = {model: Memory(model, graphs=0) for model in WEAK}
    small = {model: Memory(model, graphs=2) for model in WEAK}
    machine.start(strategy_named(strategy), seed=seed, bound=strategy_named(strategy).default_bound)
    found = set()
    for _ in range(most):
        slept = machine.board[b.SLEPT]
        if machine.drive(1) == loop.COMPLETE:
            break
        if machine.board[b.SLEPT] != slept:
            continue
        graph = machine.execution()
        models = allowed_by(graph)
        found.add((machine.status != b.DONE, models))
        count = int(record(machine.address, kept["rc11"].tables.sheet))
        assert recorded(kept["rc11"], count) == of_python(graph)
        for model in WEAK:
            wanted = ALLOWED if model in models else FORBIDDEN
            for memory in (kept[model], anew[model], small[model]):
                assert int(answer(machine.address, memory.tables)) == wanted, f"{model}: {graph}"
    for model in WEAK:
        assert kept[model].judged <= anew[model].judged
    return found


@pytest.mark.parametrize("scenario", PROGRAMS)
@pytest.mark.parametrize("twin", TWINS, ids=lambda each: each.name)
def test_the_compiled_judge_says_what_the_axioms_say(twin: Target, scenario: str) -> None:
    found = compare(machine_of(twin, scenario), "random", 400)
    failed = {models for failed, models in found if failed}
    if twin is SLEEPERS:
        assert failed == {()}
    elif scenario == "wait | post":
        assert any(failed), "a wrong twin has a failure that a model allows"
    compare(machine_of(twin, scenario), "dpor", 200)


@cache
def weakened_sites() -> list[tuple[OrderedAccess, str]]:
    machine = machine_of(SLEEPERS, "wait | post")
    return [(access, way) for access in sorted(sites_of(machine), key=str) for way in WAYS]


def test_weakened_accesses() -> None:
    found = set()
    for access, way in weakened_sites():
        machine = machine_of(SLEEPERS, "wait | post")
        machine.weaken(dict.fromkeys(sites_of(machine)[access], WAYS[way]))
        found |= compare(machine, "random", 150)
    assert {(True, ()), (True, WEAK), (False, MODELS)} <= found


@pytest.mark.parametrize(("target", "scenario"), OTHERS, ids=lambda value: value.split(":")[0])
def test_other_structures(target: str, scenario: str) -> None:
    assert (False, MODELS) in compare(machine_of(find_target(target), scenario), "random", 60)


def tally(
    twin: Target, scenario: str, memory: str, strategy: Strategy, *, compiled: bool
) -> tuple[search.Tally, Machine]:
    machine = machine_of(twin, scenario, memory)
    if not compiled:
        machine.judgements = None
    return search.run(machine, strategy, seed=SEED, schedules=1500), machine


@pytest.mark.parametrize("memory", WEAK)
@pytest.mark.parametrize("strategy", ["dpor", "random", "pct", "bounded"])
@pytest.mark.parametrize("twin", TWINS, ids=lambda each: each.name)
def test_searches_end_as_with_python_alone(twin: Target, strategy: str, memory: str) -> None:
    for scenario in PROGRAMS[:2]:
        one, machine = tally(twin, scenario, memory, strategy_named(strategy), compiled=True)
        other, _ = tally(twin, scenario, memory, strategy_named(strategy), compiled=False)
        assert one == other
        assert machine.judgements is not None
        if twin is SLEEPERS:
            assert one.failure is None
            if strategy == "random":
                assert 0 < 5 * machine.judgements.judged < one.forbidden
        elif strategy == "dpor" and scenario == "wait | post":
            assert one.failure is not None
            assert memory in one.failure.models


class Orders(SequentialModel[tuple[int, int]]):
    """Two words: one reader sees x without y, another y without x, but not both."""

    name = "orders"
    operations = MappingProxyType({"x": 0, "y": 0, "xy": 0, "yx": 0})
    silent = frozenset({"x", "y"})

    def init(self) -> tuple[int, int]:
        return 0, 0

    def apply(self, state: tuple[int, int], call: Call) -> tuple[object, tuple[int, int]]:
        x, y = state
        if call.f in ("x", "y"):
            return None, (1, y) if call.f == "x" else (x, 1)
        return x + 2 * y, state

    def matches(self, call: Call, expected: object) -> bool:
        news = 1 if call.f == "xy" else 2  # all others may be of two instants
        return call.result in (expected, {1: 2, 2: 1}[news], 0, 3)


@kernel
def x(mem: Handle, root: Word, thread: Word) -> None:
    load(mem, root)
    store(mem, np.uint64(8), _1)


@kernel
def y(mem: Handle, root: Word, thread: Word) -> None:
    load(mem, root)
    store(mem, np.uint64(9), _1)


@kernel
def xy(mem: Handle, root: Word, thread: Word) -> Word:
    load(mem, root)
    first = load(mem, np.uint64(8))
    return first | load(mem, np.uint64(9)) << _1


@kernel
def yx(mem: Handle, root: Word, thread: Word) -> Word:
    load(mem, root)
    first = load(mem, np.uint64(9))
    return first << _1 | load(mem, np.uint64(8))


IRIW = Target("readers of two stores", Orders(), {"x": x, "y": y, "xy": xy, "yx": yx})


def test_a_wrong_outcome_is_checked_once() -> None:
    runs = {}
    for compiled in (True, False):
        machine = machine_of(IRIW, "x | y | xy | yx", "tso")
        if not compiled:
            machine.judgements = None
        runs[compiled] = search.run(machine, strategy_named("random"), seed=SEED, schedules=20_000)
    assert runs[True].forbidden == runs[False].forbidden > 20
    assert (runs[True].schedules, runs[True].failure) == (20_000, None)
    assert runs[True].checked < runs[False].checked
    allowed = search.run(machine_of(IRIW, "x | y | xy | yx", "sra"), strategy_named("random"), schedules=20_000)
    assert allowed.failure is not None
    assert allowed.failure.models == ("sra", "rc11")


@kernel
def long_wait(mem: Handle, root: Word, thread: Word) -> None:
    for _ in range(300):
        load(mem, root)
    while load(mem, root) == np.uint64(0):
        pause(mem)


def test_a_large_graph_is_left_to_python() -> None:
    target = Target("long", SleepersModel(), {"wait": long_wait})
    machine = Machine(target, Scenario.parse("wait | wait"), memory="tso")
    assert machine.run([]) == b.DEADLOCK
    assert int(answer(machine.address, Memory("tso").tables)) == UNKNOWN
    done = search.run(machine, strategy_named("random"), seed=SEED, schedules=3)
    assert done.failure is not None
    assert (done.failure.kind, done.failure.models) == ("deadlock", MODELS)


def test_rows_are_those_of_events() -> None:
    assert [getattr(axioms, name) for name in ("READ", "WRITE", "UPDATE", "FAILED", "FENCE")] == list(range(len(KINDS)))
    assert ORDERS.index("sc") == axioms.SEQ
