"""The axioms of SC, x86-TSO and SRA against machines: interleavings, buffers of stores, messages."""

import random
from dataclasses import replace

import message_views
import pytest
from random_litmus import random_program
from store_buffers import run

from latchfree_explore.weak.exploring import explore
from latchfree_explore.weak.outcomes import outcome_of
from latchfree_explore.weak.programs import parse_program
from latchfree_explore.weak.suite import load_suite


def outcomes(program, model):
    return {outcome_of(graph, len(program.threads)) for graph in explore(program, model)}


@pytest.mark.parametrize("test", load_suite(), ids=lambda test: test.name)
def test_litmus_tests_have_the_outcomes_of_the_machines(test):
    assert run(test.program, buffers=False) == outcomes(test.program, "sc")
    assert run(test.program, buffers=True) == outcomes(test.program, "tso")


@pytest.mark.parametrize("batch", range(10))
def test_random_programs_have_the_outcomes_of_the_machines(batch):
    for number in range(20):
        name = f"2028 {20 * batch + number}"
        print("random program, seed", name)
        program = random_program(random.Random(name), 2000)
        assert run(program, buffers=False) == outcomes(program, "sc")
        assert run(program, buffers=True) == outcomes(program, "tso")


@pytest.mark.slow
def test_a_thousand_random_programs_have_the_outcomes_of_the_machines():
    for number in range(1000):
        name = f"2029 {number}"
        print("random program, seed", name)
        program = random_program(random.Random(name), 3000)
        assert run(program, buffers=False) == outcomes(program, "sc")
        assert run(program, buffers=True) == outcomes(program, "tso")


def test_the_buffers_make_a_difference():
    program = parse_program("store x 1; load y | store y 1; load x")
    assert len(run(program, buffers=True)) == len(run(program, buffers=False)) + 1


def in_release_and_acquire(program):
    """The program with the orders that SRA's paper speaks of."""
    lines = ((each._replace(order=message_views.ORDERS[each.operation]) for each in line) for line in program.threads)
    return replace(program, threads=tuple(map(tuple, lines)))


@pytest.mark.parametrize("test", load_suite(), ids=lambda test: test.name)
def test_litmus_tests_in_release_and_acquire_have_the_outcomes_of_messages(test):
    program = in_release_and_acquire(test.program)
    assert message_views.speaks(program)
    assert message_views.run(program) == outcomes(program, "sra")


@pytest.mark.parametrize("batch", range(10))
def test_random_programs_in_release_and_acquire_have_the_outcomes_of_messages(batch):
    for number in range(20):
        name = f"2030 {20 * batch + number}"
        print("random program, seed", name)
        program = in_release_and_acquire(random_program(random.Random(name), 2000))
        assert message_views.run(program) == outcomes(program, "sra")


@pytest.mark.slow
def test_a_thousand_random_programs_in_release_and_acquire_have_the_outcomes_of_messages():
    for number in range(1000):
        name = f"2031 {number}"
        print("random program, seed", name)
        program = in_release_and_acquire(random_program(random.Random(name), 3000))
        assert message_views.run(program) == outcomes(program, "sra")
