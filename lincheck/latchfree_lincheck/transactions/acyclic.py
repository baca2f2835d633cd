"""What of a graph may lie on a cycle: all nodes are peeled away that certainly do not.

Example: in a -> b -> c -> b, c -> d the node a goes, since no edge leads to it, then d, since no edge leads from it. b
and c remain.

Invariant: a node that is peeled away lies on no cycle, since none of the edges to it (or none of those from it) come
from (lead to) a node that remains. Time and space are linear, and without a cycle nothing remains.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def core_of(nodes: int, source: Sequence[int], target: Sequence[int]) -> list[int]:
    """Return the nodes that lie on a cycle or on a path between cycles.

    Parameters
    ----------
    nodes : int
        The nodes are the numbers below.
    source, target : sequence of int, or buffer of 32-bit integers
        The ends of each edge.
    """
    tails, heads = np.asarray(source, dtype=np.int32), np.asarray(target, dtype=np.int32)
    remaining = _peel(nodes, tails, heads, np.ones(nodes, dtype=bool))
    if remaining.any():
        inside = remaining[tails] & remaining[heads]
        remaining = _peel(nodes, heads[inside], tails[inside], remaining)
    return [int(node) for node in np.flatnonzero(remaining)]


def _peel(nodes: int, tails: Any, heads: Any, present: Any) -> Any:
    """Return the nodes that are left when those without an edge to them are taken away, again and again."""
    by_tail = heads[np.argsort(tails, kind="stable")].tolist()
    ends = np.cumsum(np.bincount(tails, minlength=nodes)).tolist()
    degree = np.bincount(heads, minlength=nodes).tolist()
    left = bytearray(present.tobytes())
    free = [node for node in range(nodes) if not degree[node] and left[node]]
    while free:
        node = free.pop()
        left[node] = 0
        for head in by_tail[ends[node - 1] if node else 0 : ends[node]]:
            degree[head] -= 1
            if not degree[head]:
                free.append(head)
    return np.frombuffer(left, dtype=bool)
