"""Weak memory judged: execution graphs, the axioms of four memory models, litmus tests.

A finished run is an execution graph: which write each read took its value from, and in which order the writes of each
word took effect. Published axioms say which memory models allow the graph. Nothing here runs compiled code.
"""

from latchfree_explore.weak.axioms import MODELS, allowed_by, consistent, races
from latchfree_explore.weak.graph import INITIAL, Graph, Row

__all__ = ["INITIAL", "MODELS", "Graph", "Row", "allowed_by", "consistent", "races"]
