"""The graph of all reachable states of a model, as TLC explored it, for algorithms of networkx.

An edge is a step: an action that some process took. TLC names the action but not the process, so the process is
read from the difference between the two states: a step changes the ``pc`` of its process, starts where that ``pc``
names the action, and changes that process's registers more than a renaming of nodes changes those of the others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import networkx as nx

from latchfree_model.graph.rows import Rows
from latchfree_model.graph.steps import Path, Step
from latchfree_model.tlc.trace import Trace, TraceState
from latchfree_model.tlc.values import Function, Value

IDLE: Final = frozenset({"idle", "Done"})
"""Where the ``pc`` of a process stands that has no operation pending: ours, and PlusCal's."""

_SHOWN: Final = 100_000
"""Characters of a picture in a notebook."""


@dataclass(frozen=True)
class StateGraph:
    """A state graph.

    Parameters
    ----------
    edges : networkx.MultiDiGraph
        Nodes 0, 1, ... in the order TLC found them, so that no state is nearer to the initial ones than one with a
        smaller number; each edge's key is its action.
    initial : tuple of int
        The initial states.
    rows : Rows
        The values of the variables in each state.
    """

    edges: nx.MultiDiGraph
    initial: tuple[int, ...]
    rows: Rows

    def __len__(self) -> int:
        return len(self.rows)

    def _repr_svg_(self) -> str | None:
        """Return what a notebook shows: the graph drawn, if it is small enough to be read."""
        from latchfree_model.graph.draw import READABLE, draw_svg  # only a notebook draws

        text = draw_svg(self) if 0 < len(self) <= READABLE else ""
        return text if 0 < len(text) <= _SHOWN else None

    def state(self, number: int) -> dict[str, Value]:
        """Return the variables of a state."""
        return self.rows.state(number)

    def steps(self) -> Iterator[Step]:
        """Yield every edge."""
        return (Step(*edge) for edge in self.edges.edges(keys=True))

    def steps_from(self, state: int) -> Iterator[Step]:
        """Yield the edges that leave a state, in a fixed order."""
        return (Step(*edge) for edge in self.edges.out_edges(state, keys=True))

    def steps_to(self, state: int) -> Iterator[Step]:
        """Yield the edges that enter a state, in a fixed order."""
        return (Step(*edge) for edge in self.edges.in_edges(state, keys=True))

    @cached_property
    def actions(self) -> frozenset[str]:
        """The actions taken."""
        return frozenset(step.action for step in self.steps())

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """The distance of each state from the initial ones, in steps."""
        levels = [0] * len(self)
        for level, states in enumerate(nx.bfs_layers(self.edges, self.initial)):
            for state in states:
                levels[state] = level
        return tuple(levels)

    @property
    def depth(self) -> int:
        """How many states the longest shortest path from an initial state has: what TLC calls the depth."""
        return max(self.levels, default=-1) + 1

    @cached_property
    def components(self) -> list[set[int]]:
        """The strongly connected components."""
        return [set(component) for component in nx.strongly_connected_components(self.edges)]

    @cached_property
    def deadlocks(self) -> tuple[int, ...]:
        """The states that no step leaves."""
        return tuple(state for state in self.edges if self.edges.out_degree(state) == 0)

    def process(self, step: Step) -> Value | None:
        """Return the process that takes a step; None if the states do not tell."""
        before, after = self.rows.registers(step.source), self.rows.registers(step.target)
        scores = []
        for old, new in zip(before, after, strict=True):
            counter = self.rows.counter(old)
            moved = old is not new and counter != self.rows.counter(new)
            scores.append((moved, counter == step.action, 0 if old is new else self._differences(old, new)))
        if not scores or max(scores) == (False, False, 0) or scores.count(max(scores)) > 1:
            return None
        return self.rows.processes[scores.index(max(scores))]

    def _differences(self, old: str, new: str) -> int:
        """Return how many registers differ."""
        before, after = self.rows.value(old), self.rows.value(new)
        if not isinstance(before, Function) or not isinstance(after, Function):
            return 1
        return sum(before[name] != after.get(name) for name in before)

    def pending(self, state: int) -> bool:
        """Whether some process has begun an operation and not completed it."""
        return any(self.rows.counter(text) not in IDLE for text in self.rows.registers(state))

    def completes(self, step: Step) -> bool:
        """Whether an operation completes: a process that was not idle is idle now."""
        return any(
            old is not new and self.rows.counter(new) in IDLE and self.rows.counter(old) not in IDLE
            for old, new in zip(self.rows.registers(step.source), self.rows.registers(step.target), strict=True)
        )

    def part(self, states: Sequence[int]) -> "StateGraph":
        """Return the graph of some states, which are numbered in their order, and the steps between them."""
        number = {state: index for index, state in enumerate(states)}
        edges = nx.relabel_nodes(self.edges.subgraph(states), number)
        initial = tuple(number[state] for state in self.initial if state in number)
        return StateGraph(edges, initial, self.rows.part(states))

    def trace(self, path: Path, back_to: int | None = None) -> Trace:
        """Return a path as a trace, to be shown with one column per process.

        Parameters
        ----------
        path : Path
            The path.
        back_to : int, optional
            If the path goes round for ever: how many steps precede the cycle. Its last state is then left out.
        """
        actions = ["Initial predicate", *(step.action for step in path.steps)]
        states = [
            TraceState(index, action, "", self.state(state))
            for index, (action, state) in enumerate(zip(actions, path.states, strict=True), start=1)
        ]
        if back_to is None:
            return Trace(tuple(states))
        return Trace(tuple(states), back_to + 1)
