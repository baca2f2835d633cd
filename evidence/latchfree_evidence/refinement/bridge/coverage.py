"""The result of a replay: how many steps of a state graph the code has taken, and where it diverged."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from latchfree_evidence.refinement.bridge.tours import Edge


@dataclass(frozen=True)
class Divergence:
    """The code does something that the specification does not allow.

    Attributes
    ----------
    message : str
        What differs.
    path : tuple of Edge
        The steps from the initial state, the last one being where it shows.
    """

    message: str
    path: tuple[Edge, ...]


@dataclass
class Coverage:
    """How many steps of a graph were replayed, and why the others were not.

    Attributes
    ----------
    states, edges : int
        The size of the graph.
    replayed : int
        Steps that the code has taken.
    untaken : Counter
        How many it does not take, by reason.
    runs, steps, accesses, operations : int
        Runs of the code, steps compared, and atomic accesses and operations in them.
    deaths, freed : int
        Nodes that the code has retired and freed in these runs, where the model says who is dead.
    divergence : Divergence or None
    """

    states: int
    edges: int
    replayed: int = 0
    untaken: Counter[str] = field(default_factory=Counter)
    runs: int = 0
    steps: int = 0
    accesses: int = 0
    operations: int = 0
    deaths: int = 0
    freed: int = 0
    complete: bool = False
    """Whether every step was replayed or found untaken."""
    divergence: Divergence | None = None
