"""The state graph of a bounded model: every behaviour of the model, as a graph to ask questions about."""

from latchfree_model.graph.action_coverage import ActionCoverage, action_coverage
from latchfree_model.graph.draw import READABLE, draw_dot, draw_svg
from latchfree_model.graph.dump import read_dump
from latchfree_model.graph.edge_cover import edge_cover
from latchfree_model.graph.explore import Explored, Unexplored, check_invariant, explore, list_actions
from latchfree_model.graph.livelock import Livelock, find_livelock
from latchfree_model.graph.shortest import counterexample, locate, shortest_path
from latchfree_model.graph.state_graph import StateGraph
from latchfree_model.graph.steps import Path, Step

__all__ = [
    "READABLE",
    "ActionCoverage",
    "Explored",
    "Livelock",
    "Path",
    "StateGraph",
    "Step",
    "Unexplored",
    "action_coverage",
    "check_invariant",
    "counterexample",
    "draw_dot",
    "draw_svg",
    "edge_cover",
    "explore",
    "find_livelock",
    "list_actions",
    "locate",
    "read_dump",
    "shortest_path",
]
