"""Decide lock-freedom of a finite graph: after finitely many steps of any processes some operation completes.

Example: two processes undo each other's step for ever. Their four states form a cycle without a step that completes an
operation: a livelock. So remove the steps that complete an operation, and look for a cycle on which an operation is
pending. If there is none, the rest is acyclic but for idling, and every infinite behaviour completes operations
infinitely often. That is lock-freedom as TLC checks it by
``[]<><<TRUE>>_vars => []<><<Answered>>_vars``, and a little more: a step that changes nothing, as in a spinning loop,
is a cycle here, but for a temporal formula it is no step at all. A cycle in which other processes keep completing
(starvation) is not reported: a lock-free object need not be wait-free.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import networkx as nx

from latchfree_model.graph.shortest import shortest_path
from latchfree_model.graph.state_graph import StateGraph
from latchfree_model.graph.steps import Path, Step
from latchfree_model.tlc.trace import Trace


@dataclass(frozen=True, slots=True)
class Livelock:
    """A cycle in which no operation completes.

    Parameters
    ----------
    lead : Path
        A shortest way from an initial state to the cycle.
    cycle : Path
        Once round: it begins and ends at the same state.
    components : int
        How many strongly connected components hold such cycles.
    states : int
        How many states are on such cycles.
    """

    lead: Path
    cycle: Path
    components: int
    states: int

    def trace(self, graph: StateGraph) -> Trace:
        """Return the way there and the cycle as a trace that goes back."""
        states = len(self.lead.steps)
        return graph.trace(Path(self.lead.start, self.lead.steps + self.cycle.steps[:-1]), back_to=states)


def find_livelock(graph: StateGraph, completes: Callable[[Step], bool] | None = None) -> Livelock | None:
    """Return a livelock, one of those nearest to the initial states, or None if the graph is lock-free.

    Parameters
    ----------
    graph : StateGraph
        The graph.
    completes : callable, optional
        Whether a step completes an operation; by default, whether a process becomes idle (`StateGraph.completes`).
        With a rule of one's own every cycle counts, since nobody says which operations are pending.

    Raises
    ------
    ValueError
        If the model's states do not show when an operation completes and no rule is given.
    """
    if completes is None and not graph.rows.processes:
        raise ValueError("the model has no variable L or pc that shows when an operation completes")
    pending = graph.pending if completes is None else lambda _: True
    returns = completes or graph.completes
    rest = nx.MultiDiGraph()
    rest.add_nodes_from(graph.edges)
    rest.add_edges_from(step for step in graph.steps() if not returns(step))
    cycles = [
        component
        for component in nx.strongly_connected_components(rest)
        if (len(component) > 1 or rest.has_edge(*component, *component)) and pending(min(component))
    ]
    if not cycles:
        return None
    entry = min(min(component) for component in cycles)
    cycle = _shortest_cycle(rest, next(component for component in cycles if entry in component), entry)
    lead = shortest_path(graph, lambda state: state == entry)
    assert lead is not None
    return Livelock(lead, cycle, len(cycles), sum(map(len, cycles)))


def _shortest_cycle(rest: nx.MultiDiGraph, component: set[int], entry: int) -> Path:
    """Return a shortest cycle through a state of a strongly connected component."""
    inner = rest.subgraph(component)
    if inner.has_edge(entry, entry):
        states = [entry, entry]
    else:
        around = nx.single_source_shortest_path(inner, entry)
        last = min(inner.predecessors(entry), key=lambda state: (len(around[state]), state))
        states = [*around[last], entry]
    steps = (Step(source, target, min(inner[source][target])) for source, target in pairwise(states))
    return Path(entry, tuple(steps))
