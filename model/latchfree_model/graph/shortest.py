"""Find a shortest behaviour that ends in a wanted state: a counterexample to "no such state is reachable"."""

from collections import deque
from collections.abc import Callable, Mapping

from latchfree_model.graph.state_graph import StateGraph
from latchfree_model.graph.steps import Path, Step
from latchfree_model.tlc.trace import Trace
from latchfree_model.tlc.values import Value


def shortest_path(graph: StateGraph, wanted: Callable[[int], bool]) -> Path | None:
    """Return a shortest path from an initial state to one that is wanted, or None if there is none.

    Parameters
    ----------
    graph : StateGraph
        The graph.
    wanted : callable
        Whether the state with this number ends the path.
    """
    came: dict[int, Step | None] = dict.fromkeys(graph.initial)
    queue = deque(graph.initial)
    while queue:
        state = queue.popleft()
        if wanted(state):
            return _back(came, state)
        for step in graph.steps_from(state):
            if step.target not in came:
                came[step.target] = step
                queue.append(step.target)
    return None


def counterexample(graph: StateGraph, holds: Callable[[Mapping[str, Value]], object]) -> Path | None:
    """Return a shortest path to a state where an invariant does not hold, or None if it holds in all.

    Parameters
    ----------
    graph : StateGraph
        The graph.
    holds : callable
        The invariant, as a function of the variables of a state.
    """
    return shortest_path(graph, lambda state: not holds(graph.state(state)))


def _back(came: Mapping[int, Step | None], state: int) -> Path:
    steps: list[Step] = []
    while step := came[state]:
        steps.append(step)
        state = step.source
    return Path(state, tuple(reversed(steps)))


def locate(graph: StateGraph, trace: Trace) -> Path | None:
    """Return the path of the graph that a trace of TLC's describes, or None if the graph has none."""
    first = [state for state in graph.initial if graph.state(state) == trace.states[0].variables]
    steps: list[Step] = []
    for after in trace.states[1:]:
        here = steps[-1].target if steps else first[0] if first else None
        on = [
            step
            for step in (graph.steps_from(here) if here is not None else ())
            if step.action == after.action and graph.state(step.target) == after.variables
        ]
        if not on:
            return None
        steps.append(on[0])
    return Path(first[0], tuple(steps)) if first else None
