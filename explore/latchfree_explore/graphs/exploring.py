"""Visit each execution graph that a memory model allows exactly once, with one run of the code for each.

A run goes along a graph and then on to the end: each read takes the newest write, each write comes last. Every model
allows that, so each run ends with a graph of its own. For all that the run has added, the graphs that differ there are
grown (`latchfree_explore.graphs.growing`), and wait for their runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from latchfree_explore.board import layout as b
from latchfree_explore.graphs.coherence import Known
from latchfree_explore.graphs.growing import Growing
from latchfree_explore.graphs.guiding import Guide, Ran
from latchfree_explore.graphs.steps import State
from latchfree_explore.weak.axioms import Model

#: How a run ends that has come to the end of its graph; a thread may have paused for good.
ENDED: Final = (b.DONE, b.RACE, b.SLEEPING, b.DEADLOCK)


class Visited(NamedTuple):
    """A run and its graph.

    Attributes
    ----------
    begun : State
        The graph that the run went along.
    state : State
        The graph in the end; where the run broke off, the one that it went along.
    status : int
        How the run ended, as the board says.
    """

    begun: State
    state: State
    status: int


def visit(guide: Guide, model: Model) -> Iterator[Visited]:
    """Yield the graphs of a machine's program that a model allows, each after a run along it.

    Parameters
    ----------
    guide : Guide
        Runs the code.
    model : {"sc", "tso", "sra", "rc11"}
        The memory.

    Yields
    ------
    Visited
        The machine still has the run that is yielded.
    """
    growing = Growing(model)
    waiting = [State((), {}, {})]
    while waiting:
        state = waiting.pop()
        ran = guide.run(state)
        if ran.status not in ENDED:
            yield Visited(state, state, ran.status)
            continue
        ended, others = grown(growing, state, ran)
        yield Visited(state, ended, ran.status)
        waiting += others


def grown(growing: Growing, state: State, ran: Ran) -> tuple[State, list[State]]:
    """Return the graph with all that a run added, and the graphs that differ from it somewhere there."""
    others: list[State] = []
    known = Known(state)
    for step in ran.steps:
        if step.part == "read":
            others += growing.read(state, known, step, ran.values)
            state = state.added(step, state.order(step.word)[-1])
        elif step.part in ("write", "half"):
            others += growing.write(state, known, step, ran.values)
            state = state.placed(step, len(state.order(step.word)))
        elif step.part == "poke":
            state = state.placed(step, len(state.order(step.word)))
        else:
            state = state.added(step)
        known.add(state, len(state.steps) - 1)
    return state, others
