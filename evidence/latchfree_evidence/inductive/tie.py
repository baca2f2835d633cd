"""Tie a system to its module of the specification: over the whole graph that TLC makes of a bounded model, both ways.

Every edge of the graph must be a step of the system, with the same action and the same state after it. Every step of
the system must be an edge. Every conjunct of the invariant must hold in every state, and TLC's initial states must be
initial ones of the proof. The ghosts are functions of TLC's states, and what the system does to them must be what
these functions say of the state afterwards.

Where the system lets a client do anything next, the program of the model decides (`Bond.allowed`). A step of the
specification is one access and what is local after it; where the latter is an action of its own here (`System.local`),
`Bond.follow` takes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from latchfree_evidence.inductive.instance import Instance, Taken
from latchfree_evidence.inductive.system import State, System
from latchfree_model.graph.state_graph import StateGraph

Values = Mapping[str, Any]
"""The variables of a state of TLC."""


@dataclass(frozen=True, slots=True)
class Bond:
    """How a system and a bounded model of its module correspond.

    Attributes
    ----------
    model : str
        The model's name in the manifest.
    instance : callable
        The system with the domains of the model.
    lift : callable
        From a state of TLC the values of all fields, for `Instance.state`.
    look : callable
        What must agree of two states.
    allowed : callable
        Whether the program of the model has a step in a state of TLC.
    follow : callable
        The name of a step's action there, and the state after what is local.
    """

    model: str
    instance: Callable[[System], Instance]
    lift: Callable[[Values], Mapping[str, Any]]
    look: Callable[[State], Hashable]
    allowed: Callable[[Values, Taken], bool]
    follow: Callable[[System, Values, Taken], tuple[str, State]] = lambda _system, _values, taken: (
        taken.name,
        taken.case.post,
    )


@dataclass(frozen=True, slots=True)
class Tie:
    """What came of a comparison.

    Attributes
    ----------
    model : str
        The model.
    states, edges, steps : int
        The states of TLC, its edges, and the steps of the system in these states.
    taken : Counter
        How often each case was taken.
    no_step : Counter
        Edges that are no step of the system, by action.
    no_edge : Counter
        Steps of the system that are no edge, by case.
    broken : Counter
        States in which a conjunct does not hold, by conjunct.
    """

    model: str
    states: int
    edges: int
    steps: int
    taken: Counter[str]
    no_step: Counter[str]
    no_edge: Counter[str]
    broken: Counter[str]

    @property
    def differences(self) -> int:
        """How many differences there are."""
        return self.no_step.total() + self.no_edge.total() + self.broken.total()


@dataclass(frozen=True, slots=True)
class Projection:
    """How a system and a bounded model of a finer module correspond: each edge is a step of the system, or none.

    Attributes
    ----------
    model : str
        The model's name in the manifest.
    compare : callable
        What compares the system with TLC's graph of the model.
    """

    model: str
    compare: Callable[[System, StateGraph], Tie]


def compare(system: System, bond: Bond | Projection, graph: StateGraph) -> Tie:
    """Compare a system with the graph of a model of its module.

    Parameters
    ----------
    system : System
        The system.
    bond : Bond or Projection
        How its states and those of the model correspond.
    graph : StateGraph
        The graph.

    Returns
    -------
    Tie
    """
    if isinstance(bond, Projection):
        return bond.compare(system, graph)
    instance = bond.instance(system)
    values = [graph.state(number) for number in range(len(graph))]
    states = [instance.state(bond.lift(each)) for each in values]
    looks = [bond.look(s) for s in states]
    edges = steps = 0

    def accesses(name: str, _: tuple[Any, ...]) -> bool:
        return name not in system.local

    start = [number for number in graph.initial if not instance.starts_at(states[number])]
    taken, no_step, no_edge, broken = (Counter[str]() for _ in range(4))
    broken.update({"Init": len(start)} if start else {})
    for number, s in enumerate(states):
        if name := instance.broken(s):
            broken[name] += 1
        theirs = {(e.action, looks[e.target]) for e in graph.steps_from(number) if e.source != e.target}
        ours = {}
        for step in instance.steps(s, accesses):
            if bond.allowed(values[number], step):
                taken[step.step] += 1
                action, after = bond.follow(system, values[number], step)
                ours[action, bond.look(after)] = step.step
        edges, steps = edges + len(theirs), steps + len(ours)
        no_step.update(name for name, look in theirs if (name, look) not in ours)
        no_edge.update(case for key, case in ours.items() if key not in theirs)
    return Tie(bond.model, len(graph), edges, steps, taken, no_step, no_edge, broken)
