"""The view machine against the axioms: on litmus programs, compiled code on fibers comes to exactly the outcomes allowed."""

from __future__ import annotations

import random
from collections import defaultdict

import pytest
from random_fiber_litmus import random_program

from latchfree_explore.litmus import can_run, schedules
from latchfree_explore.weak.axioms import MODELS
from latchfree_explore.weak.brute import allowed_graphs
from latchfree_explore.weak.outcomes import Outcome, outcome_of
from latchfree_explore.weak.programs import Program, parse_program

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
    wanted = by_axioms(program)
    found, _ = by_machine(program, "rc11")
    for model in MODELS:
        assert found[model] == wanted[model], f"{program}, {model}"
    found, ran = by_machine(program, "sra")
    for model in ("sc", "tso", "sra"):
        assert found[model] == wanted[model], f"{program}, {model}, without places"
    _, ran = by_machine(program, "sc")
    assert ran == wanted["sc"], program


@pytest.mark.parametrize(
    "text",
    [
        "store x 1; load y | store y 1; load x",
        "store x 1; store y 1 | load y; load x",
        "store x 1 rlx; store y 1 rlx | load y rlx; load x rlx",
        "store x 1 | store y 1 | load x; load y | load y; load x",
        "store x 1; store y 2 | store y 1; store x 2",
        "exchange x 1; load_seq y | exchange y 1; load_seq x",
        "exchange x 1; load y | exchange y 1; load x",
        "store x 1; fence; load y | store y 1; fence; load x",
        "cas x 0 1; load y | cas x 0 2; store y 1 | store x 3",
        "store x 1 rlx; store y 1 | exchange y 2 rlx | load y; load x rlx",
        "fetch_add x 1; fetch_add x 1 | fetch_add x 1 rlx | load x; load x",
    ],
)
def test_the_outcomes_of_well_known_programs(text: str) -> None:
    compare(parse_program(text))


@pytest.mark.parametrize("number", range(60))
def test_the_outcomes_of_random_programs(number: int) -> None:
    compare(random_program(random.Random(f"{SEED}/{number}"), ours=number % 2 == 0, most=6))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_the_outcomes_of_a_thousand_random_programs(part: int) -> None:
    for number in range(100 * part, 100 * part + 100):
        compare(random_program(random.Random(f"{SEED}/more/{number}"), ours=number % 3 == 0))


def test_no_plain_access_and_no_store_is_sequentially_consistent() -> None:
    assert not can_run(parse_program("poke x 1 | peek x"))
    assert not can_run(parse_program("store x 1 sc | load x"))
    with pytest.raises(ValueError, match="the explorer cannot run poke x 1"):
        next(schedules(parse_program("poke x 1 | peek x")))
