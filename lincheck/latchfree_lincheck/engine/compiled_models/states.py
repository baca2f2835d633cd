"""States as integers: a compiled, exact store of whole maps, strings and lists.

Invariant: two states are equal if and only if their numbers are. A map over 2**depth keys is a binary tree whose
leaves are values and whose inner nodes are hash-consed: the pair (left, right) exists once, so equal trees have
equal roots, an update adds at most `depth` nodes, and a map of one key (depth 0) is just its value. A string is a
chain of pairs (prefix, byte) in the same store, the empty one being ABSENT; a list is a chain of pairs (rest, value),
the value that leaves next on top.

`nodes[i]` is the pair of node i and `slots` an open-addressed table of node numbers plus one. `size[0]` counts the
nodes. The caller makes room before it calls: the table is never more than half full.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from latchfree.jit import kernel
from latchfree_lincheck.engine.compiled_models.opcodes import ABSENT
from latchfree_lincheck.history.timeline import Ints


class States(NamedTuple):
    """The arrays of the store, for compiled code.

    Attributes
    ----------
    nodes : int64[room, 2]
        The pair of each node.
    slots : int64[2**k]
        The table that finds a pair: numbers of nodes plus one, 0 where there is none.
    size : int64[1]
        How many nodes there are.
    """

    nodes: Ints
    slots: Ints
    size: Ints


_MIX = np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


@kernel
def mix(a: int, b: int) -> np.uint64:
    """Scramble two integers into 64 bits."""
    x = (np.uint64(a) + _MIX) * _MIX
    x ^= x >> _SHIFT
    x = (x + np.uint64(b)) * _MIX
    return x ^ (x >> _SHIFT)


@kernel
def cons(nodes: Ints, slots: Ints, size: Ints, left: int, right: int) -> int:
    """Return the number of the pair, adding it if it is new."""
    mask = np.uint64(len(slots) - 1)
    at = mix(left, right) & mask
    while slots[at] != 0:
        number = slots[at] - 1
        if nodes[number, 0] == left and nodes[number, 1] == right:
            return int(number)
        at = (at + np.uint64(1)) & mask
    number = int(size[0])
    nodes[number, 0] = left
    nodes[number, 1] = right
    size[0] = number + 1
    slots[at] = number + 1
    return number


@kernel
def find(nodes: Ints, slots: Ints, left: int, right: int) -> int:
    """Return the number of the pair, or -2 if it is not in the store."""
    mask = np.uint64(len(slots) - 1)
    at = mix(left, right) & mask
    while slots[at] != 0:
        number = slots[at] - 1
        if nodes[number, 0] == left and nodes[number, 1] == right:
            return int(number)
        at = (at + np.uint64(1)) & mask
    return -2


@kernel
def rehash_nodes(nodes: Ints, slots: Ints, size: Ints) -> None:
    """Fill an empty table with all nodes."""
    mask = np.uint64(len(slots) - 1)
    for number in range(size[0]):
        at = mix(nodes[number, 0], nodes[number, 1]) & mask
        while slots[at] != 0:
            at = (at + np.uint64(1)) & mask
        slots[at] = number + 1


@kernel
def fetch(nodes: Ints, depth: int, state: int, key: int) -> int:
    """Return the value of a key."""
    for level in range(depth - 1, -1, -1):
        state = nodes[state, (key >> level) & 1]
    return state


@kernel
def update(nodes: Ints, slots: Ints, size: Ints, depth: int, state: int, key: int, value: int, path: Ints) -> int:
    """Return the map with one key changed; `path` is scratch of `depth` integers."""
    for level in range(depth - 1, -1, -1):
        path[level] = state
        state = nodes[state, (key >> level) & 1]
    result = value
    for level in range(depth):
        if (key >> level) & 1:
            result = cons(nodes, slots, size, nodes[path[level], 0], result)
        else:
            result = cons(nodes, slots, size, result, nodes[path[level], 1])
    return result


@kernel
def build(nodes: Ints, slots: Ints, size: Ints, depth: int, leaves: Ints) -> int:
    """Return the map that holds 2**depth `leaves`, which are overwritten."""
    width = 1 << depth
    while width > 1:
        width //= 2
        for i in range(width):
            leaves[i] = cons(nodes, slots, size, leaves[2 * i], leaves[2 * i + 1])
    return int(leaves[0])


@kernel
def extend(nodes: Ints, slots: Ints, size: Ints, text: int, piece: Ints) -> int:
    """Return the string `text` followed by the bytes of `piece`."""
    for byte in piece:
        text = cons(nodes, slots, size, text, byte)
    return text


@kernel
def length(nodes: Ints, chain: int) -> int:
    """Return the number of values in a list."""
    count = 0
    while chain != ABSENT:
        chain = nodes[chain, 0]
        count += 1
    return count


@kernel
def insert(nodes: Ints, slots: Ints, size: Ints, chain: int, value: int, ordered: bool, path: Ints) -> int:
    """Return the list with `value` at its end, or if `ordered` before the first larger value.

    `path` is scratch as long as the list; at most one node more than that is added.
    """
    above = 0
    while chain != ABSENT and not (ordered and nodes[chain, 1] > value):
        path[above] = nodes[chain, 1]
        above += 1
        chain = nodes[chain, 0]
    chain = cons(nodes, slots, size, chain, value)
    for i in range(above - 1, -1, -1):
        chain = cons(nodes, slots, size, chain, path[i])
    return chain
