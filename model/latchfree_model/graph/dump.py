r"""Read the graph that TLC writes with ``-dump dot,actionlabels``.

The file is DOT with one node or edge a line; a node's label is the state, an edge's label the action. Each state is
written where it is found first, and TLC searches breadth first, so states are numbered in the order of their depth.
"""

import re
from collections.abc import Iterable
from typing import Final

import networkx as nx

from latchfree_model.graph.rows import Rows
from latchfree_model.graph.state_graph import StateGraph

NODE: Final = re.compile(r'(-?\d+) \[label="(.*)"(?P<initial>,style = filled)?\];?$')
EDGE: Final = re.compile(r'(-?\d+) -> (-?\d+) \[label="([^"]*)"')
REST: Final = re.compile(r"strict digraph|nodesep=|subgraph |color=|\{rank = same;|\}")
"""The lines that say how to draw it."""


def read_dump(lines: Iterable[str]) -> StateGraph:
    """Return the graph in the lines of a dump.

    Raises
    ------
    ValueError
        If a line is no node and no edge, or a state is not understood; the message names the line.
    """
    rows = Rows()
    numbers: dict[str, int] = {}
    initial: list[int] = []
    steps: dict[tuple[str, str, str], None] = {}
    for number, raw in enumerate(lines, start=1):
        line = raw.strip()
        edge, node = EDGE.match(line), NODE.match(line)
        try:
            if edge:
                steps[edge[1], edge[2], edge[3]] = None
            elif node:
                numbers[node[1]] = rows.add(unescape(node[2]))
                if node["initial"]:
                    initial.append(numbers[node[1]])
            elif line and not REST.match(line):
                raise ValueError(f"expected a state or a step, got {line[:80]!r}")
        except ValueError as error:
            raise ValueError(f"line {number} of TLC's graph: {error}") from None
    edges = nx.MultiDiGraph()
    edges.add_nodes_from(range(len(rows)))
    for source, target, action in steps:
        if source not in numbers or target not in numbers:
            raise ValueError(f"TLC's graph has a step {action} from or to a state that it does not show")
        edges.add_edge(numbers[source], numbers[target], key=action)
    return StateGraph(edges, tuple(initial), rows)


def unescape(label: str) -> str:
    r"""Return the text of a DOT label: ``\n``, ``\"`` and ``\\`` stand for a new line, a quote and a backslash."""
    return "\\".join(part.replace("\\n", "\n").replace('\\"', '"') for part in label.split("\\\\"))
