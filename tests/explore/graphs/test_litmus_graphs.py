"""Litmus programs on fibers, once for each execution graph: the graphs of the axioms, and none comes twice."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from random_fiber_litmus import random_plain_program, random_program
from random_litmus import shape

from latchfree_explore.litmus import a_graph_races, can_run, graphs, schedules
from latchfree_explore.weak import exploring
from latchfree_explore.weak.axioms import MODELS
from latchfree_explore.weak.axioms import races as races_of
from latchfree_explore.weak.brute import allowed_graphs
from latchfree_explore.weak.outcomes import outcome_of
from latchfree_explore.weak.programs import Program, parse_program
from latchfree_explore.weak.suite import Litmus, find, load_suite

SEED = 20261128


def plain(program: Program) -> bool:
    return any(each.order == "na" for line in program.threads for each in line)


RUNNABLE = [test for test in load_suite() if can_run(test.program) and not plain(test.program)]


def compare(program: Program) -> int:
    """The runs under each model are the graphs that litmus programs have without any code; return how many."""
    count = 0
    for model in MODELS:
        found = Counter(shape(graph) for graph in graphs(program, model))
        assert max(found.values()) == 1, f"{model}: {program}: a graph was run twice"
        wanted = Counter(shape(graph) for graph in exploring.explore(program, model))
        assert found == wanted, f"{model}: {program}"
        count += len(found)
    return count


def compare_with_brute_force(program: Program) -> None:
    wanted: dict[str, Counter[object]] = {model: Counter() for model in MODELS}
    for graph, models in allowed_graphs(program):
        for model in models:
            wanted[model][shape(graph)] += 1
    for model in MODELS:
        assert Counter(shape(graph) for graph in graphs(program, model)) == wanted[model], f"{model}: {program}"


@pytest.mark.parametrize("test", RUNNABLE, ids=lambda test: test.name)
def test_a_run_for_each_graph(test: Litmus) -> None:
    assert compare(test.program) >= len(MODELS)


def test_the_suite_is_large() -> None:
    assert len(RUNNABLE) >= 110


@pytest.mark.parametrize(("name", "count"), [("SB", 4), ("ISA2", 7), ("IRIW", 16)])
def test_runs_are_fewer_than_schedules(name: str, count: int) -> None:
    program = find(name).program
    assert len(list(graphs(program, "rc11"))) == count
    assert len(list(schedules(program, "rc11"))) >= 2 * count


@pytest.mark.parametrize("number", range(20))
def test_random_programs(number: int) -> None:
    compare(random_program(random.Random(f"{SEED}/graphs/{number}"), weakened=False, most=6))


@pytest.mark.parametrize("number", range(20))
def test_random_programs_with_weakened_accesses(number: int) -> None:
    """Exactly the graphs of brute force, also where the machine with choices misses some."""
    compare_with_brute_force(random_program(random.Random(f"{SEED}/relaxed graphs/{number}"), weakened=True, most=5))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_a_thousand_random_programs(part: int) -> None:
    for number in range(250 * part, 250 * part + 250):
        rng = random.Random(f"{SEED}/more graphs/{number}")
        compare(random_program(rng, weakened=number % 2 == 1, most=7))


def test_what_the_machine_with_choices_misses() -> None:
    """A seq_cst store need not be in one order with what a thread does that has acquired it: rc11 allows that.

    The machine with choices runs seq_cst accesses in one order. The verdict is published: Dat3M's RC11-expected.csv,
    RWC-sc-acq-sc-sc-sc.
    """
    program = parse_program("exchange x 1 | load x; load_seq y | exchange y 1; load_seq x")
    wanted = {outcome_of(graph, 3) for graph, models in allowed_graphs(program) if "rc11" in models}
    by_graphs = {outcome_of(graph, 3) for graph in graphs(program, "rc11")}
    by_choices = {outcome for outcome, _ in schedules(program, "rc11")}
    assert by_graphs == wanted
    assert [str(outcome) for outcome in wanted - by_choices] == [
        "0:r0=0 1:r0=1 1:r1=0 2:r0=0 2:r1=0 x=1 y=1",
    ]


@pytest.mark.parametrize("number", range(30))
def test_races_of_random_programs(number: int) -> None:
    compare_races(random_plain_program(random.Random(f"{SEED}/plain graphs/{number}"), most=6))


FENCED = {
    "poke x 1; fence; store y 1 rlx | load y rlx; fence; peek x": True,  # the load may read 0
    "poke x 1; fence; exchange y 1 rlx | exchange y 2 rlx; fence; exchange y 3 rlx": False,
    "poke x 1; fence; cas y 0 1 rlx | cas y 1 2 rlx; fence; cas z 0 1": False,
    "poke x 1; fence | fence; poke x 2": True,  # nothing is read that was written: fences alone order nothing
}


@pytest.mark.parametrize("text", FENCED)
def test_races_beside_fences(text: str) -> None:
    program = parse_program(text)
    assert compare_races(program) == FENCED[text]


def compare_races(program: Program) -> bool:
    """A program races on fibers if its axioms say so."""
    raced = any("rc11" in models and races_of(graph) for graph, models in allowed_graphs(program))
    assert a_graph_races(program, "rc11") == raced, program
    return raced


def test_plain_accesses_are_in_no_graph() -> None:
    with pytest.raises(ValueError, match="plain accesses; ask whether a graph of it `races`"):
        next(graphs(parse_program("poke x 1 | load x"), "rc11"))
