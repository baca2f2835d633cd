"""Seeded mistakes in the explorer of graphs: graphs come twice, are missing, or are none; or real programs go wrong."""

from __future__ import annotations

from itertools import islice

import pytest
from random_litmus import shape

from latchfree_explore import Scenario, search
from latchfree_explore.examples.treiber import TREIBER
from latchfree_explore.graphs import growing, guiding, searching
from latchfree_explore.graphs.coherence import Known
from latchfree_explore.graphs.growing import Growing
from latchfree_explore.graphs.in_time import Operations
from latchfree_explore.graphs.steps import State, Step
from latchfree_explore.litmus import graphs
from latchfree_explore.machine.machine import Machine
from latchfree_explore.weak.axioms import MODELS
from latchfree_explore.weak.brute import allowed_graphs
from latchfree_explore.weak.graph import INITIAL
from latchfree_explore.weak.programs import parse_program

PROGRAMS = [
    "fetch_add x 1 | fetch_add x 1 | load x",
    "load x; store y 1 | load y; store x 1 | store x 2",
    "store x 1 | store x 2 | load x; load x",
    "cas x 0 1; load y | cas x 0 2; store y 1; cas x 1 3",
    "load x; load y | store y 1; store x 1 | store y 2",
    "load x; load y | store y 1 | load y; store x 1",
    "store x 1; store y 2 | store y 1; store x 2 | load x; load y",
]


def strange(model="rc11"):
    """The programs of which the explorer misses graphs, runs some twice, or runs what there is not.

    A mistake may make the explorer go on for ever, so only so many graphs are looked at.
    """
    found = []
    for text in PROGRAMS:
        program = parse_program(text)
        wanted = sorted(str(shape(graph)) for graph, models in allowed_graphs(program) if model in models)
        try:
            visited = sorted(str(shape(graph)) for graph in islice(graphs(program, model), 200))
        except (
            KeyError,
            ValueError,
            IndexError,
            RuntimeError,
        ):  # a read without its write, or code that does not follow
            visited = []
        if visited != wanted:
            found.append(text)
    return found


def test_the_explorer_of_these_programs_is_right():
    assert strange() == []
    assert strange("sc") == []


def only_first_alternative(self, state, known, step, values):
    yield from islice(RIGHT["read"](self, state, known, step, values), 1)


def no_places(self, state, known, step, values):
    yield from RIGHT["_revisits"](self, state, step, values)


def no_revisits_by_halves(self, state, write, values):
    if write.part != "half":
        yield from RIGHT["_revisits"](self, state, write, values)


RIGHT = {name: vars(Growing)[name] for name in ("read", "write", "_revisits", "_whole", "allows")}

MUTANTS = {
    "revisits from every graph": (growing, "maximal", lambda state, number, before: True),
    "no revisits": (Growing, "_revisits", lambda self, state, write, values: iter(())),
    "halves revisit nothing": (Growing, "_revisits", no_revisits_by_halves),
    "what the write depends on is po alone": (
        growing,
        "prefix",
        lambda state, thread: {INITIAL, *(k for k, step in enumerate(state.steps) if step.thread == thread)},
    ),
    "a read takes the newest write only": (Growing, "read", lambda self, state, known, step, values: iter(())),
    "a read has one more write to take": (Growing, "read", only_first_alternative),
    "a write comes last": (Growing, "write", no_places),
    "every graph is allowed": (Growing, "allows", lambda self, state: True),
    "coherence has no floor, and axioms are not asked": (Known, "floor", lambda self, state, thread, word: 0),
    "coherence leaves the newest write only": (
        Known,
        "floor",
        lambda self, state, thread, word: len(state.order(word)) - 1,
    ),
    "each read is answered with what was there to begin with": (guiding, "_message", lambda state, write, made_by: 0),
    "a compare-and-swap always writes": (
        Step,
        "written",
        lambda self, old: None if self.kind < 3 else self.operand if self.kind in (4, 5) else old + self.operand,
    ),
    "steps stand as they were added": (State, "in_order", lambda self, more=None: list(range(len(self.steps)))),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_explorer_is_noticed(name, monkeypatch):
    owner, attribute, replacement = MUTANTS[name]
    monkeypatch.setattr(owner, attribute, replacement)
    if name.startswith("coherence has no floor"):
        monkeypatch.setattr(Growing, "allows", lambda self, state: True)
    assert strange()


def search_of(target, scenario, memory="rc11"):
    machine = Machine(target, Scenario.parse(scenario), memory=memory, races=True)
    search.warm_up(machine)
    return searching.run(machine, schedules=500)


def own_order_only(self):
    """For each first and last access those of its thread that come before, and nothing of other threads."""
    nodes = sorted({*self.first, *self.last})
    return {
        number: sum(
            1 << n for n in nodes if n < number and self.state.steps[n].thread == self.state.steps[number].thread
        )
        for number in nodes
    }


def test_orders_of_operations_matter(monkeypatch):
    """Without what is certain of their order, what was seen would have begun after who saw it had returned."""
    program = "push(1) | pop"
    fine = search_of(TREIBER, program)
    assert (fine.complete, fine.failure) == (True, None)
    monkeypatch.setattr(Operations, "_certain", own_order_only)
    assert search_of(TREIBER, program).failure is None, "axioms refuse such orders"
    monkeypatch.setattr(Operations, "models", lambda self, line: MODELS)
    assert search_of(TREIBER, program).failure is not None


def test_news_matters(monkeypatch):
    """A pop that finds nothing has not begun after a push had returned, for it would have had news of the push."""
    program = "push(1) | pop"
    monkeypatch.setattr(Operations, "_forbid", lambda self, needs, earlier: None)
    assert search_of(TREIBER, program).failure is None, "axioms refuse such orders"
    monkeypatch.setattr(Operations, "models", lambda self, line: MODELS)
    assert search_of(TREIBER, program).failure is not None
