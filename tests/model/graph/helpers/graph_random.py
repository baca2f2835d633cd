"""Small graphs for the tests: written the way TLC dumps them, drawn at random, and searched by brute force."""

from collections.abc import Sequence

import networkx as nx
from hypothesis import strategies as st

from latchfree_model.graph import StateGraph, read_dump

Edge = tuple[int, int, str]


def dump(states: Sequence[str], edges: Sequence[Edge], initial: Sequence[int] = (0,)) -> list[str]:
    """Return the lines that TLC would write: each state where it is found first, breadth first."""
    lines = ["strict digraph DiskGraph {", "nodesep=0.35;", "subgraph cluster_graph {", 'color="white";']
    escaped = [text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for text in states]
    seen = list(dict.fromkeys(initial))
    lines += [f'{-7 * state} [label="{escaped[state]}",style = filled]' for state in seen]
    for state in seen:
        for source, target, action in edges:
            if source == state:
                lines.append(f'{-7 * source} -> {-7 * target} [label="{action}",color="black",fontcolor="black"];')
                if target not in seen:
                    seen.append(target)
                    lines.append(f'{-7 * target} [label="{escaped[target]}"];')
    return [*lines, f"{{rank = same; {';'.join(str(-7 * state) for state in seen)};}}", "}", "}"]


def graph_of(states: Sequence[str], edges: Sequence[Edge], initial: Sequence[int] = (0,)) -> StateGraph:
    """Return the graph of what can be reached; its states are numbered in the order of their depth."""
    return read_dump(dump(states, edges, initial))


@st.composite
def graphs(draw: st.DrawFn, processes: int = 0) -> StateGraph:
    """Return a random graph of a few states: numbers, or what two processes are about to do."""
    size = draw(st.integers(1, 7))
    ends = st.integers(0, size - 1)
    edges = draw(st.lists(st.tuples(ends, ends, st.sampled_from("AB")), max_size=16, unique=True))
    initial = draw(st.lists(ends, min_size=1, max_size=2, unique=True))
    places = st.lists(st.sampled_from(["idle", "A", "B"]), min_size=processes, max_size=processes)
    states = [f"/\\ x = {state}" for state in range(size)]
    if processes:
        states = [
            f"/\\ x = {state}\n/\\ L = ["
            + ", ".join(f'p{index} |-> [pc |-> "{place}"]' for index, place in enumerate(draw(places)))
            + "]"
            for state in range(size)
        ]
    return graph_of(states, edges, initial)


def livelocked(graph: StateGraph) -> bool:
    """Whether some simple cycle completes no operation while one is pending: by listing all cycles."""
    idle = {state: all(r["pc"] == "idle" for r in graph.state(state)["L"].values()) for state in graph.edges}

    def completes(source: int, target: int) -> bool:
        before, after = graph.state(source)["L"], graph.state(target)["L"]
        return any(before[p]["pc"] != "idle" and after[p]["pc"] == "idle" for p in before)

    for cycle in nx.simple_cycles(nx.DiGraph(graph.edges)):
        around = list(zip(cycle, [*cycle[1:], cycle[0]], strict=True))
        if not any(completes(*pair) for pair in around) and not all(idle[state] for state in cycle):
            return True
    return False
