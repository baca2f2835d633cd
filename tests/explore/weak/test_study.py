"""Reasons and drawings: each cycle is made of relations of the graph, and the pictures are as pages show them."""

import random
from itertools import pairwise

import pytest
from random_litmus import random_program

from latchfree_explore.weak.axioms import AXIOMS, MODELS, consistent
from latchfree_explore.weak.brute import candidates
from latchfree_explore.weak.derived import Derived
from latchfree_explore.weak.drawing import draw_graph, draw_program, draw_reason, letter
from latchfree_explore.weak.outcomes import parse_condition
from latchfree_explore.weak.programs import parse_program
from latchfree_explore.weak.reasons import PLAIN_WORDS, reason
from latchfree_explore.weak.study import outcomes, study
from latchfree_explore.weak.suite import find, load_suite


def check(graph):
    """Check the reasons of all models."""
    derived = Derived(graph)
    relations = {"po": graph.po, "rf": graph.rf, "mo": graph.mo, "rb": graph.rb, "sw": derived.sw}
    for model in MODELS:
        why = reason(graph, model)
        assert (why is None) == consistent(graph, model)
        if why is None:
            continue
        assert why.axiom in {"atomicity", *(axiom.name for axiom in AXIOMS[model])}
        assert why.meaning == PLAIN_WORDS[why.axiom]
        assert all(relations[edge.label][edge.start] >> edge.end & 1 for edge in why.cycle), (model, why)
        assert all(edge.end == after.start for edge, after in pairwise((*why.cycle, why.cycle[0]))), (model, why)


@pytest.mark.parametrize("batch", range(5))
def test_each_cycle_is_one(batch):
    for number in range(8):
        name = f"2027 {8 * batch + number}"
        print("random program, seed", name)
        for graph in candidates(random_program(random.Random(name), 200)):
            check(graph)


@pytest.mark.parametrize("test", load_suite(), ids=lambda test: test.name)
def test_each_litmus_test_has_a_run_and_a_cycle_for_each_model_that_forbids_the_run(test):
    found = study(test.program, test.weak)
    assert found.allowed == test.expected
    assert found.graph is not None
    assert set(found.reasons) == set(MODELS) - set(found.allowed)
    check(found.graph)


def test_a_run_and_a_cycle_in_text():
    test = find("MP+rlx")
    found = study(test.program, test.weak)
    assert draw_graph(test.program, found.graph) == [
        "  thread 0            thread 1",
        "  a: store x 1 rlx    c: load y rlx = 1  (from b)",
        "  b: store y 1 rlx    d: load x rlx = 0  (initial)",
        "  mo: x = 0, then a; y = 0, then b",
    ]
    assert draw_reason(test.program, found.graph, found.reasons["tso"]) == [
        "         a: store x 1 rlx",
        "  -po->  b: store y 1 rlx",
        "  -rf->  c: load y rlx",
        "  -po->  d: load x rlx",
        "  -rb->  a: store x 1 rlx",
    ]


def test_a_program_in_columns():
    assert draw_program(parse_program("store x 1 | load x; fence; cas y 0 1 | peek x")) == [
        "  thread 0        thread 1        thread 2",
        "  a: store x 1    b: load x       e: peek x",
        "                  c: fence",
        "                  d: cas y 0 1",
    ]
    assert [letter(number) for number in (0, 25, 26, 52)] == ["a", "z", "a1", "a2"]


def test_an_outcome_that_no_run_has():
    program = parse_program("store x 1 | load x")
    found = study(program, parse_condition("1:r0=7", program))
    assert (found.allowed, found.graph, found.reasons) == ((), None, {})


def test_a_program_with_too_many_candidates_has_a_verdict_but_no_run():
    program = parse_program(" | ".join(["fetch_add x 1"] * 5))
    found = study(program, parse_condition("x=4", program))
    assert (found.allowed, found.graph) == ((), None)
    assert study(program, parse_condition("x=5", program)).allowed == MODELS


def test_outcomes_with_the_number_of_graphs():
    found = outcomes(parse_program("store x 1 | store x 2; load x"))
    assert {str(outcome): tuple(counts.values()) for outcome, counts in found.items()} == {
        "1:r0=1 x=1": (1, 1, 1, 1),
        "1:r0=2 x=1": (1, 1, 1, 1),
        "1:r0=2 x=2": (1, 1, 1, 1),
    }
