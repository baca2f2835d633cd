"""The view machine against the axioms: compiled litmus programs on fibers come to exactly the outcomes allowed."""

from __future__ import annotations

import random
from collections import defaultdict

import numpy as np
import pytest
from random_fiber_litmus import random_plain_program, random_program

from latchfree.atomics import load, store
from latchfree.jit import kernel
from latchfree.kinds import Handle, Word
from latchfree_explore import Operation, Target, explore
from latchfree_explore.litmus import can_run, races, schedules
from latchfree_explore.weak.axioms import MODELS
from latchfree_explore.weak.axioms import races as races_of
from latchfree_explore.weak.brute import allowed_graphs
from latchfree_explore.weak.outcomes import Outcome, outcome_of
from latchfree_explore.weak.programs import Program, parse_program
from latchfree_explore.weak.suite import Litmus, load_suite

SEED = 20261128


def by_axioms(program: Program) -> dict[str, set[Outcome]]:
    found: dict[str, set[Outcome]] = defaultdict(set)
    for graph, models in allowed_graphs(program):
        for model in models:
            found[model].add(outcome_of(graph, len(program.threads)))
    return found


def by_machine(program: Program, memory: str) -> tuple[dict[str, set[Outcome]], set[Outcome]]:
    """The outcomes of the schedules that each model allows, and those of all schedules."""
    found: dict[str, set[Outcome]] = defaultdict(set)
    ran = set()
    for outcome, models in schedules(program, memory):
        ran.add(outcome)
        for model in models:
            found[model].add(outcome)
    return found, ran


def compare(program: Program) -> None:
    """A program of our accesses, none of them weakened: nothing is missed."""
    wanted = by_axioms(program)
    found, ran = by_machine(program, "rc11")
    for model in MODELS:
        assert found[model] == wanted[model], f"{program}, {model}"
    if not is_strong(program):
        assert ran == wanted["rc11"], program
    _, ran = by_machine(program, "sc")
    assert ran == wanted["sc"], program


def is_strong(program: Program) -> bool:
    """Whether there are fences or seq_cst accesses: with these, schedules that no model allows are run as well."""
    return any(each.order == "sc" for line in program.threads for each in line)


def compare_weakened(program: Program) -> None:
    """A program with weakened accesses: nothing is found that the axioms forbid.

    Something may be missed. A relaxed load does not acquire what it reads, so axioms let later accesses of its thread
    take effect before earlier ones of the storing thread; the machine runs them in one order. An update that is not
    seq_cst does not order seq_cst accesses before and after it; the machine orders them.
    """
    wanted = by_axioms(program)
    found, _ = by_machine(program, "rc11")
    for model in MODELS:
        assert found[model] <= wanted[model], f"{program}, {model}"
    assert found["sc"] == wanted["sc"]


KNOWN = (
    "store x 1; load y | store y 1; load x",
    "store x 1; store y 1 | load y; load x",
    "store x 1 | store y 1 | load x; load y | load y; load x",
    "store x 1; store y 2 | store y 1; store x 2",
    "exchange x 1; load_seq y | exchange y 1; load_seq x",
    "exchange x 1; load y | exchange y 1; load x",
    "store x 1; fence; load y | store y 1; fence; load x",
    "cas x 0 1; load y | cas x 0 2; store y 1 | store x 3",
    "store x 1; store y 1 | exchange y 2 ar | load y; load x",
    "fetch_add x 1; fetch_add x 1 | fetch_add x 1 ar | load x; load x",
)


@pytest.mark.parametrize("text", KNOWN)
def test_the_outcomes_of_well_known_programs(text: str) -> None:
    compare(parse_program(text))


RELAXED = (
    "store x 1 rlx; store y 1 rlx | load y rlx; load x rlx",
    "store x 1; store y 1 | load y rlx; load x",
    "store x 1; store y 1 rlx | load y; load x",
    "store x 1 rlx; store y 1 | exchange y 2 rlx | load y; load x rlx",
)


def compare_exactly(text: str) -> None:
    """A program with relaxed accesses of which the machine misses nothing."""
    found, ran = by_machine(parse_program(text), "rc11")
    wanted = by_axioms(parse_program(text))
    assert found == wanted
    assert ran == wanted["rc11"]


@pytest.mark.parametrize("text", RELAXED)
def test_the_outcomes_of_well_known_programs_with_weakened_accesses(text: str) -> None:
    compare_weakened(parse_program(text))
    compare_exactly(text)


@pytest.mark.parametrize("number", range(60))
def test_the_outcomes_of_random_programs(number: int) -> None:
    compare(random_program(random.Random(f"{SEED}/{number}"), weakened=False, most=6))


@pytest.mark.parametrize("number", range(20))
def test_the_outcomes_of_random_programs_with_weakened_accesses(number: int) -> None:
    compare_weakened(random_program(random.Random(f"{SEED}/relaxed/{number}"), weakened=True, most=6))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_the_outcomes_of_a_thousand_random_programs(part: int) -> None:
    for number in range(100 * part, 100 * part + 100):
        compare(random_program(random.Random(f"{SEED}/more/{number}"), weakened=False))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_the_outcomes_of_more_random_programs_with_weakened_accesses(part: int) -> None:
    for number in range(100 * part, 100 * part + 100):
        compare_weakened(random_program(random.Random(f"{SEED}/more relaxed/{number}"), weakened=True))


def test_no_store_is_sequentially_consistent() -> None:
    assert not can_run(parse_program("store x 1 sc | load x"))
    with pytest.raises(ValueError, match="the explorer cannot run store x 1 sc"):
        next(schedules(parse_program("store x 1 sc | load x")))
    with pytest.raises(ValueError, match="plain accesses; ask whether it `races`"):
        next(schedules(parse_program("poke x 1 | load x")))


RACES = {
    "poke x 1; store y 1 | load y; peek x": True,  # the load may read 0
    "poke x 1 | peek x": True,
    "poke x 1 | load x": True,
    "peek x | load x": False,
    "peek x | store x 1": True,
    "store x 1 | load x": False,
    "poke x 1; exchange y 1 | exchange y 2; exchange y 3": False,
}


@pytest.mark.parametrize("text", RACES)
def test_races_of_well_known_programs(text: str) -> None:
    program = parse_program(text)
    assert RACES[text] == racy(program)
    for memory in ("sc", "rc11"):
        assert races(program, memory) == RACES[text]


def racy(program: Program) -> bool:
    """Whether an execution that rc11 allows has a race, by the axioms."""
    return any("rc11" in models and races_of(graph) for graph, models in allowed_graphs(program))


def compare_races(program: Program) -> None:
    """A program races on the machine if its axioms say so."""
    assert races(program, "rc11") == racy(program), program


@pytest.mark.parametrize("number", range(40))
def test_races_of_random_programs(number: int) -> None:
    compare_races(random_plain_program(random.Random(f"{SEED}/plain/{number}"), most=6))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_races_of_more_random_programs(part: int) -> None:
    for number in range(100 * part, 100 * part + 100):
        compare_races(random_plain_program(random.Random(f"{SEED}/more plain/{number}"), most=7))


def is_relaxed(program: Program) -> bool:
    return any(each.order == "rlx" for line in program.threads for each in line)


def plain(program: Program) -> bool:
    return any(each.order == "na" for line in program.threads for each in line)


RUNNABLE = [test for test in load_suite() if can_run(test.program) and not plain(test.program)]


@pytest.mark.parametrize("test", RUNNABLE, ids=lambda test: test.name)
def test_the_verdicts_of_the_literature(test: Litmus) -> None:
    """On fibers as in the literature; with relaxed accesses nothing that the literature forbids is found."""
    found, _ = by_machine(test.program, "rc11")
    allowed = {model for model in MODELS if any(test.weak.holds(outcome) for outcome in found[model])}
    if is_relaxed(test.program):
        assert allowed <= set(test.expected)
    else:
        assert allowed == set(test.expected)


def test_schedules_that_no_model_allows_are_few() -> None:
    for text in (
        "exchange x 1; load_seq y | exchange y 1; load_seq x",
        "store x 1; fence; load y | store y 1; fence; load x",
    ):
        _, ran = by_machine(parse_program(text), "rc11")
        assert ran == by_axioms(parse_program(text))["rc11"]


def test_most_of_the_suite_runs() -> None:
    assert len(RUNNABLE) >= 100
    assert sum(not is_relaxed(test.program) for test in RUNNABLE) >= 60


@kernel
def write(mem: Handle, root: Word, thread: Word, value: Word) -> None:
    store(mem, root, np.uint64(value))


@kernel
def read(mem: Handle, root: Word, thread: Word) -> Word:
    return load(mem, root)


REGISTER = Target("word", "register", {"write": write, "read": Operation(read, lambda word: word or None)})


def check_register() -> None:
    """A word with release stores and acquire loads is a linearizable register, for clients that talk to each other."""
    for memory in MODELS:
        result = explore(REGISTER, scenario="write(1) | read; read | read", memory=memory)
        assert result.verdict == "ok", result.explain()
        assert result.complete
        assert result.forbidden == 0  # the machine itself knows it


def test_what_returned_is_known() -> None:
    check_register()
