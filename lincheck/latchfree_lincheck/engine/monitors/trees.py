"""Two trees over an array whose length is a power of two: the latest of a range, and counts that ranges add to.

Node i has the children 2i and 2i + 1, the root is 1, and position p is node ``leaves + p``.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from latchfree.jit import kernel

Ints32 = npt.NDArray[np.int32]


@kernel
def put(latest: Ints32, leaves: int, position: int, value: int) -> None:
    """Set a position of a maximum tree."""
    node = leaves + position
    latest[node] = value
    node >>= 1
    while node >= 1:
        best = max(latest[2 * node], latest[2 * node + 1])
        if latest[node] == best:
            return
        latest[node] = best
        node >>= 1


@kernel
def argmax(latest: Ints32, leaves: int, low: int, high: int) -> int:
    """Return the position of the largest value among low .. high-1, or -1 if all are negative."""
    best, most = 0, -1
    left, right = leaves + low, leaves + high
    while left < right:
        if left & 1:
            if latest[left] > most:
                best, most = left, latest[left]
            left += 1
        if right & 1:
            right -= 1
            if latest[right] > most:
                best, most = right, latest[right]
        left >>= 1
        right >>= 1
    if most < 0:
        return -1
    while best < leaves:
        best = 2 * best if latest[2 * best] == most else 2 * best + 1
    return best - leaves


@kernel
def depths(zones: Ints32, leaves: int) -> tuple[Ints32, Ints32]:
    """Return a minimum tree of how many zones ``[first, last[`` cover each position, and what its nodes add."""
    least, more = np.zeros(2 * leaves, np.int32), np.zeros(2 * leaves, np.int32)
    for number in range(len(zones)):
        least[leaves + zones[number, 0]] += 1
        least[leaves + zones[number, 1]] -= 1
    for position in range(1, leaves):
        least[leaves + position] += least[leaves + position - 1]
    for node in range(leaves - 1, 0, -1):
        least[node] = min(least[2 * node], least[2 * node + 1])
    return least, more


@kernel
def _repair(least: Ints32, more: Ints32, node: int) -> None:
    """Recompute the minima above a node."""
    node >>= 1
    while node >= 1:
        least[node] = min(least[2 * node], least[2 * node + 1]) + more[node]
        node >>= 1


@kernel
def add(least: Ints32, more: Ints32, leaves: int, low: int, high: int, amount: int) -> None:
    """Add to the counts of positions low .. high-1."""
    left, right = leaves + low, leaves + high
    while left < right:
        if left & 1:
            least[left] += amount
            more[left] += amount
            left += 1
        if right & 1:
            right -= 1
            least[right] += amount
            more[right] += amount
        left >>= 1
        right >>= 1
    _repair(least, more, leaves + low)
    _repair(least, more, leaves + high - 1)


@kernel
def next_at_most(least: Ints32, more: Ints32, leaves: int, position: int, most: int) -> int:
    """Return the first position from there on whose count is at most `most`; there must be one."""
    node = leaves + position
    above, parent = 0, node >> 1
    while parent > 0:
        above += more[parent]
        parent >>= 1
    while least[node] + above > most:
        while node & 1:
            node >>= 1
            above -= more[node]
        node += 1
    while node < leaves:
        above += more[node]
        node *= 2
        if least[node] + above > most:
            node += 1
    return node - leaves
