"""The compiled axioms say of every graph what the axioms in Python say, also of graphs that no model allows."""

from __future__ import annotations

import random

import pytest
from random_litmus import random_program

from latchfree_explore.judging.judge import Judge
from latchfree_explore.weak.axioms import MODELS, allowed_by, buffered, interleaved
from latchfree_explore.weak.brute import candidate_count, candidates
from latchfree_explore.weak.derived import Derived
from latchfree_explore.weak.graph import INITIAL, Graph, Row
from latchfree_explore.weak.programs import Program
from latchfree_explore.weak.relations import closure, compose, reflexive, union
from latchfree_explore.weak.suite import load_suite

SEED = 20261128
JUDGE = Judge()


def compare(program: Program) -> set[tuple[str, ...]]:
    """Compare all candidates of a program; return the answers."""
    found = set()
    for graph in candidates(program):
        answer = JUDGE.allowed_by(graph)
        assert answer == allowed_by(graph), f"{program}: {graph}"
        found.add(tuple(answer))
    return found


@pytest.mark.parametrize("part", range(6))
def test_random_programs(part: int) -> None:
    found = set()
    for number in range(10 * part, 10 * part + 10):
        found |= compare(random_program(random.Random(f"{SEED}/compiled/{number}"), 300))
    assert {(), MODELS} <= found


def test_the_litmus_suite() -> None:
    found = set()
    small = [test.program for test in load_suite() if candidate_count(test.program) <= 300]
    assert len(small) >= 100
    for program in small:
        found |= compare(program)
    assert found == {(), *(MODELS[k:] for k in range(len(MODELS)))}


@pytest.mark.slow
def test_many_random_programs() -> None:
    for number in range(600):
        compare(random_program(random.Random(f"{SEED}/more compiled/{number}"), 1500))


def rows(threads: int, length: int, broken: bool) -> list[Row]:
    """Message passing along a chain of many words; the last thread may overlook the first message."""
    made = []
    for thread in range(threads):
        for k in range(length):
            made.append(Row(thread, "R", f"{thread - 1} {k}", "acq", len(made) - length if thread else INITIAL))
        made += [Row(thread, "W", f"{thread} {k}", "rel", place=1) for k in range(length)]
    made.append(Row(threads - 1, "R", "0 0", "acq", INITIAL if broken else length))
    return made


@pytest.mark.parametrize(("threads", "length"), [(3, 4), (4, 9), (8, 20)])
def test_graphs_of_several_words_a_row(threads: int, length: int) -> None:
    for broken in (False, True):
        graph = Graph.record(rows(threads, length, broken))
        assert JUDGE.allowing(rows(threads, length, broken)) == allowed_by(graph) == (() if broken else MODELS)
        assert JUDGE.allowed_by(graph) == allowed_by(graph)


def test_only_models_asked_for() -> None:
    graphs = 0
    for test in load_suite():
        if candidate_count(test.program) <= 20:
            for graph in candidates(test.program):
                graphs += 1
                for model in MODELS:
                    assert (model in allowed_by(graph)) == bool(JUDGE.allowed_by(graph, (model,)))
    assert graphs > 100


def opposed(graph: Graph, model: str) -> tuple[int, ...]:
    derived = Derived(graph)
    if model in ("sc", "tso"):
        return closure(interleaved(derived) if model == "sc" else buffered(derived))
    near = reflexive(derived.hb)
    found = compose(compose(near, derived.eco), near)
    if model == "rc11":
        return found
    return union(found, closure(union(derived.hb, graph.mo, derived.psc_fences)))


def test_what_cannot_happen_after() -> None:
    graphs = 0
    for number in range(40):
        program = random_program(random.Random(f"{SEED}/opposed/{number}"), 40)
        for graph, given in ((graph, rows_of(graph)) for graph in candidates(program)):
            graphs += 1
            first = len(graph.writes)
            for model in MODELS:
                wanted = tuple(row >> first for row in opposed(graph, model)[first:])
                assert JUDGE.opposed(given, model) == wanted, f"{model}: {program}"
    assert graphs > 100


def rows_of(graph: Graph) -> list[Row]:
    """Return a graph as rows."""
    first = len(graph.writes)
    place = {event: at for order in graph.writes.values() for at, event in enumerate(order)}
    return [
        Row(
            event.thread,
            event.kind,
            event.word,
            event.order,
            None if graph.source[k] is None else max(INITIAL, graph.source[k] - first),
            place.get(k),
        )
        for k, event in enumerate(graph.events)
        if k >= first
    ]
