"""Tours of a state graph: paths of bounded length that take every step which is still to be taken.

`latchfree_model.graph.edge_cover` finds few paths, of any length. Here a path must be short, because a run of the code
has room for so many operations, and it may turn out that the code cannot take a step, so the rest of the path has to be
planned again. A tour begins at the initial state, takes a step nobody has taken if there is one, and else goes the
shortest way to the next.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from latchfree_model.graph import StateGraph, Step


class Edge(NamedTuple):
    """A step with its process: index of the thread, or -1 if all are at rest and nothing happens."""

    number: int
    step: Step
    thread: int


class Tours:
    """The steps of a graph, taken or not.

    Parameters
    ----------
    graph : StateGraph
    """

    def __init__(self, graph: StateGraph) -> None:
        self.graph = graph
        self._out: list[list[Edge]] = [[] for _ in range(len(graph))]
        number = 0
        for step in graph.steps():
            for thread in _threads(graph, step):
                self._out[step.source].append(Edge(number, step, thread))
                number += 1
        self.edges = number
        self.taken = bytearray(number)
        self.barred = bytearray(number)

    @property
    def count(self) -> int:
        """How many steps have been taken."""
        return sum(self.taken)

    def next_tour(self, operations: int, steps: int) -> list[Edge]:
        """Plan a tour of at most so many operations and about so many steps; empty if nothing is left within reach."""
        planned: set[int] = set()
        state = self.graph.initial[0]
        tour: list[Edge] = []
        while len(tour) < steps:
            way = self._way(state, planned, room=steps - len(tour) if tour else len(self.graph))
            if not way:
                break
            begun = sum(edge.step.action == "Invoke" for edge in way)
            if tour and begun > operations:
                break
            operations -= begun
            planned.update(edge.number for edge in way)
            tour += way
            state = way[-1].step.target
        return tour

    def _way(self, state: int, planned: set[int], room: int) -> list[Edge]:
        """The shortest way from a state that ends with a step that is still to be taken."""
        came: dict[int, Edge | None] = {state: None}
        queue = deque([(state, 0)])
        while queue:
            at, length = queue.popleft()
            if length > room:
                return []
            for edge in self._out[at]:
                if not (self.taken[edge.number] or self.barred[edge.number] or edge.number in planned):
                    return [*_back(came, at), edge]
            for edge in self._out[at]:
                if not self.barred[edge.number] and edge.step.target not in came:
                    came[edge.step.target] = edge
                    queue.append((edge.step.target, length + 1))
        return []


def _back(came: dict[int, Edge | None], state: int) -> list[Edge]:
    way: list[Edge] = []
    edge = came[state]
    while edge is not None:
        way.append(edge)
        edge = came[edge.step.source]
    return way[::-1]


def _threads(graph: StateGraph, step: Step) -> Sequence[int]:
    """The threads that may take a step: one, but where the states do not tell."""
    wanted = "idle" if step.action == "Invoke" else step.action
    counters = [graph.rows.counter(text) for text in graph.rows.registers(step.source)]
    able = [thread for thread, counter in enumerate(counters) if counter == wanted]
    process = graph.process(step) if len(able) > 1 else None
    if process is not None:
        return [graph.rows.processes.index(process)]
    return able or [-1]
