"""Find the behaviour of a specification that goes with a schedule of the code best.

Example: in the code thread 0 makes three accesses, GcasReadMain, GcasCas and CompleteCommit, and then the answer is
wrong. Of all behaviours of the model that end in a violation, the one is chosen in which the process that stands for
thread 0 takes these three actions in this order, with as little between them as can be.

An access is the action that its label names (`latchfree_evidence.refinement.labels`). The search is for a cheapest way
through pairs of a state of the model and a place in the schedule (Dijkstra's, as in the alignment of two sequences). A
step of both is free. An access that is an action of the model and is passed over costs, and so does a step of the model
that no access is; what has no counterpart at all, such as an access to an epoch or the call of an operation, does not.
"""

from __future__ import annotations

import heapq
from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import permutations, product
from typing import Final, NamedTuple

from latchfree_model.graph import Path, StateGraph, Step

_ALONE: Final = 1
"""What a step of one side alone costs, where the other side could have it."""


class CodeStep(NamedTuple):
    """An access of the code: its thread, None where any process may stand for it; and the actions it may be."""

    thread: int | None
    actions: frozenset[str]


class Row(NamedTuple):
    """A step of both, or of one alone: the number of an access, and of a step of the behaviour."""

    access: int | None
    step: int | None


class Followed(NamedTuple):
    """A behaviour that ends in a violation, beside a schedule.

    Attributes
    ----------
    path : Path
        The behaviour.
    rows : list of Row
        Accesses and steps in an order that is that of both.
    processes : dict
        The process that stands for each thread.
    alone : int
        Accesses and steps that the other side could have had, and does not.
    """

    path: Path
    rows: list[Row]
    processes: dict[int, Hashable]
    alone: int


def follow(graph: StateGraph, violated: frozenset[int], accesses: Sequence[CodeStep]) -> Followed | None:
    """Return the behaviour that goes with a schedule best, None if no state is violated.

    Parameters
    ----------
    graph : StateGraph
        The states and steps of the specification.
    violated : frozenset of int
        The states in which the property is violated, where a behaviour ends.
    accesses : sequence of CodeStep
        The schedule.
    """
    threads = sorted({each.thread for each in accesses if each.thread is not None})
    steps = {state: _steps(graph, state) for state in graph.edges}
    known = frozenset().union(*(each.actions for each in accesses)) & graph.actions
    everybody = sorted(graph.rows.processes, key=repr)
    enough = len(everybody) >= len(threads)  # else one process stands for several threads
    best = None
    for processes in permutations(everybody, len(threads)) if enough else product(everybody, repeat=len(threads)):
        found = _cheapest(graph, steps, violated, accesses, dict(zip(threads, processes, strict=True)), known)
        if found is not None and (best is None or found.alone < best.alone):
            best = found
    return best


def _steps(graph: StateGraph, state: int) -> list[tuple[Step, Hashable]]:
    return [(step, graph.process(step)) for step in graph.steps_from(state) if step.target != state]


Node = tuple[int, int]
"""A state, and how many accesses have been made."""


def _cheapest(
    graph: StateGraph,
    steps: Mapping[int, list[tuple[Step, Hashable]]],
    violated: frozenset[int],
    accesses: Sequence[CodeStep],
    processes: dict[int, Hashable],
    known: frozenset[str],
) -> Followed | None:
    """Return the cheapest way for one choice of processes."""

    def onward(node: Node) -> Iterator[tuple[int, Node, Row, Step | None]]:
        state, made = node
        access = accesses[made] if made < len(accesses) else None
        if access is not None:
            yield _ALONE if access.actions & graph.actions else 0, (state, made + 1), Row(made, None), None
        if state in violated:
            return
        for step, process in steps[state]:
            yield _ALONE if step.action in known else 0, (step.target, made), Row(None, 0), step
            if access is not None and step.action in access.actions and _is(access, process, processes):
                yield 0, (step.target, made + 1), Row(made, 0), step

    start = (graph.initial[0], 0)
    cost = {start: (0, 0)}
    before: dict[Node, tuple[Node, Row, Step | None]] = {}
    queue = [((0, 0), start)]
    while queue:
        so_far, node = heapq.heappop(queue)
        if so_far > cost[node]:
            continue
        if node[0] in violated and node[1] == len(accesses):
            return _followed(start, node, before, processes, so_far[0])
        for more, there, row, step in onward(node):
            total = so_far[0] + more, so_far[1] + (step is not None)
            if there not in cost or total < cost[there]:
                cost[there] = total
                before[there] = node, row, step
                heapq.heappush(queue, (total, there))
    return None


def _is(access: CodeStep, process: Hashable, processes: Mapping[int, Hashable]) -> bool:
    return access.thread is None or processes[access.thread] == process


def _followed(
    start: Node,
    end: Node,
    before: Mapping[Node, tuple[Node, Row, Step | None]],
    processes: dict[int, Hashable],
    alone: int,
) -> Followed:
    way = []
    while end != start:
        end, row, step = before[end]
        way.append((row, step))
    steps: list[Step] = []
    rows = []
    for row, step in reversed(way):
        if step is not None:
            row = row._replace(step=len(steps))
            steps.append(step)
        rows.append(row)
    return Followed(Path(start[0], tuple(steps)), rows, processes, alone)
