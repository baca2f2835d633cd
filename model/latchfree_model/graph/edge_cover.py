"""Few paths that together take every step of a graph, so that a replay of the paths tries them all.

This is the Chinese postman's problem on a directed graph, with free returns to the initial states, solved greedily. A
path takes each step once, so a state that more steps leave than enter must be entered more often. The states are
balanced from the far end: a state that lacks entries gets entries from a neighbour with entries to spare, else along
the tree of shortest paths, whose parents are balanced later. Paths end at a state with entries left over. Now every
state has as many ways in as out, so an Euler circuit (Hierholzer) through a common root takes every step. The circuit
falls into paths where it passes the root. The order is fixed, and the time linear in the size of graph and answer.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator

from latchfree_model.graph.state_graph import StateGraph
from latchfree_model.graph.steps import Path, Step

ROOT = -1
"""A state from which every path begins and to which it returns."""
BEGIN, END = "begin", "end"


def edge_cover(graph: StateGraph) -> list[Path]:
    """Return paths from initial states that together take every step at least once.

    Parameters
    ----------
    graph : StateGraph
        The graph.

    Returns
    -------
    list of Path
        The paths, each of at least one step; none for a graph without steps.
    """
    paths: list[Path] = []
    steps: list[Step] = []
    for step in _circuit(_balanced(graph)):
        if step.target != ROOT and step.source != ROOT:
            steps.append(step)
        elif steps:
            paths.append(Path(steps[0].source, tuple(steps)))
            steps = []
    return paths


def _balanced(graph: StateGraph) -> Counter[Step]:
    """Return how often each step is to be taken so that every state, and the root, is left as often as entered."""
    times = Counter(graph.steps())
    spare: Counter[int] = Counter()
    for step in times:
        spare[step.target] += 1
        spare[step.source] -= 1
    tree: dict[int, Step] = {}
    for state in graph.initial:
        tree[state] = Step(ROOT, state, BEGIN)
        times[tree[state]] += 1
        spare[state] += 1
    order = list(graph.initial)
    for state in order:
        for step in graph.steps_from(state):
            if step.target not in tree:
                tree[step.target] = step
                order.append(step.target)
    for state in reversed(order):
        for step in graph.steps_to(state):
            if spare[state] < 0 < spare[step.source]:
                _repeat(step, min(-spare[state], spare[step.source]), times, spare)
        if spare[state] < 0:
            _repeat(tree[state], -spare[state], times, spare)
    for state in order:
        if spare[state]:
            times[Step(state, ROOT, END)] = spare[state]
    return times


def _repeat(step: Step, more: int, times: Counter[Step], spare: Counter[int]) -> None:
    times[step] += more
    spare[step.source] -= more
    spare[step.target] += more


def _circuit(times: Counter[Step]) -> Iterator[Step]:
    """Return the steps of an Euler circuit from the root; each step comes as often as `times` says."""
    leaving: dict[int, list[Step]] = defaultdict(list)
    for step in times:
        leaving[step.source].append(step)
    left = Counter(times)
    stack: list[Step] = []
    circuit: list[Step] = []
    state = ROOT
    while True:
        if leaving[state]:
            step = leaving[state][-1]
            left[step] -= 1
            if not left[step]:
                leaving[state].pop()
            stack.append(step)
            state = step.target
        elif stack:
            step = stack.pop()
            circuit.append(step)
            state = step.source
        else:
            return reversed(circuit)
