"""Tours of a state graph: paths of bounded length that together take every step.

`latchfree_model.graph.edge_cover` finds few paths, of any length. A tour must be short, for two reasons: a run of the
code has room for a limited number of operations, and where the code turns out not to take a step, the rest of the path
must be planned again.

A tour takes the shortest way to the untaken step that is nearest to the initial state, and goes on to other untaken
steps in its neighbourhood. The shortest ways from the initial state are found once, and again whenever the code does
not take a step of one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final, NamedTuple

from latchfree_evidence.refinement.bridge.movers import can_have_moved
from latchfree_model.graph import StateGraph, Step

_NEIGHBOURHOOD: Final = 400
"""States that are looked at for the next step to take."""


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
        self._plant()

    @property
    def count(self) -> int:
        """How many steps have been taken."""
        return self.taken.count(1)

    def next_tour(self, operations: int, steps: int) -> list[Edge]:
        """Plan a tour of at most so many operations and about so many steps; empty if nothing is left within reach."""
        tour = self._first()
        planned = {edge.number for edge in tour}
        operations -= _begun(tour)
        while tour and len(tour) < steps:
            way = self._way(tour[-1].step.target, planned, steps - len(tour))
            operations -= _begun(way)
            if not way or operations < 0:
                break
            planned.update(edge.number for edge in way)
            tour += way
        return tour

    def _plant(self) -> None:
        """Find a shortest way from the initial state to every state, and what is to be taken in the order of that."""
        state = self.graph.initial[0]
        self._came: dict[int, Edge | None] = {state: None}
        self._left: deque[Edge] = deque()
        queue = deque([state])
        while queue:
            for edge in self._out[queue.popleft()]:
                if self.barred[edge.number]:
                    continue
                if not self.taken[edge.number]:
                    self._left.append(edge)
                if edge.step.target not in self._came:
                    self._came[edge.step.target] = edge
                    queue.append(edge.step.target)

    def _first(self) -> list[Edge]:
        """Return the shortest way from the initial state to the end of an untaken step."""
        for planted in (False, True):
            if planted:
                self._plant()
            while self._left:
                edge = self._left[0]
                if self._done(edge):
                    self._left.popleft()
                    continue
                way = [*_back(self._came, edge.step.source), edge]
                if not any(self.barred[each.number] for each in way):
                    return way
                self._plant()
        return []

    def _done(self, edge: Edge) -> bool:
        return bool(self.taken[edge.number] or self.barred[edge.number])

    def _way(self, state: int, planned: set[int], room: int) -> list[Edge]:
        """Return the shortest way from a state to the end of an untaken step, if there is one near."""
        came: dict[int, Edge | None] = {state: None}
        queue = deque([(state, 0)])
        for _ in range(_NEIGHBOURHOOD):
            if not queue:
                break
            at, length = queue.popleft()
            if length > room:
                break
            for edge in self._out[at]:
                if not (self._done(edge) or edge.number in planned):
                    return [*_back(came, at), edge]
            for edge in self._out[at]:
                if not self.barred[edge.number] and edge.step.target not in came:
                    came[edge.step.target] = edge
                    queue.append((edge.step.target, length + 1))
        return []


def _begun(way: list[Edge]) -> int:
    """How many operations begin on a way."""
    return sum(edge.step.action == "Invoke" for edge in way)


def _back(came: dict[int, Edge | None], state: int) -> list[Edge]:
    way: list[Edge] = []
    edge = came[state]
    while edge is not None:
        way.append(edge)
        edge = came[edge.step.source]
    return way[::-1]


def _threads(graph: StateGraph, step: Step) -> Sequence[int]:
    """Return the threads that may take a step: one, unless the states do not tell which."""
    wanted = "idle" if step.action == "Invoke" else step.action
    counters = [graph.rows.counter(text) for text in graph.rows.registers(step.source)]
    able = [thread for thread, counter in enumerate(counters) if counter == wanted]
    if len(able) > 1:
        names = [str(process) for process in graph.rows.processes]
        before, after = graph.state(step.source), graph.state(step.target)
        movers = can_have_moved(step.action, before, after, [names[thread] for thread in able])
        return [names.index(process) for process in movers]
    return able or [-1]
