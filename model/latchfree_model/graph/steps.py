"""Steps and paths of a state graph, and what a graph has to have to be drawn."""

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import networkx as nx

from latchfree_model.graph.rows import Rows
from latchfree_model.tlc.values import Value


class Step(NamedTuple):
    """One edge: states are numbers."""

    source: int
    target: int
    action: str


class Path(NamedTuple):
    """A behaviour: the state where it begins, and its steps, each from where the one before ends."""

    start: int
    steps: tuple[Step, ...]

    @property
    def states(self) -> tuple[int, ...]:
        """The states, one more than there are steps."""
        return (self.start, *(step.target for step in self.steps))


class Drawable(Protocol):
    """A graph that can be drawn; see `latchfree_model.graph.state_graph.StateGraph`, which draws itself."""

    @property
    def edges(self) -> nx.MultiDiGraph:
        """Nodes are states, keys of edges actions."""

    @property
    def initial(self) -> tuple[int, ...]:
        """The initial states."""

    @property
    def rows(self) -> Rows:
        """The values of the variables in each state."""

    @property
    def levels(self) -> tuple[int, ...]:
        """The distance of each state from the initial ones."""

    @property
    def depth(self) -> int:
        """How many levels there are."""

    def __len__(self) -> int: ...

    def steps(self) -> Iterator[Step]:
        """Yield every edge."""

    def state(self, number: int) -> dict[str, Value]:
        """Return the variables of a state."""

    def process(self, step: Step) -> Value | None:
        """Return who takes a step."""
