"""Small instances of the trie: keys a and b part at the second digit of their hashes, c at the first, a and d never."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from latchfree_evidence.inductive.instance import Instance
from latchfree_evidence.inductive.system import System
from latchfree_evidence.inductive.systems.trie.finite import NONE, Main, instance, keys_in

HASHES: Final = {"a": "00", "b": "01", "c": "10", "d": "00"}

Roles = Mapping[str, Sequence[tuple[str, str, int]]]
"""What each thread may begin."""


def _instance(
    system: System,
    roles: Roles,
    nodes: Sequence[tuple[str, int]],
    cells: Mapping[int, int],
    mains: Sequence[Main],
    cleaners: Sequence[tuple[str, int]] = (),
) -> Instance:
    """Return an instance with the keys that its threads name."""
    named = {k for calls in roles.values() for _, k, _ in calls}.union(*map(keys_in, mains))
    hashes = {k: digits for k, digits in HASHES.items() if k in named}
    return instance(system, hashes, roles, nodes, cells, mains, cleaners)


def filling(system: System) -> Instance:
    """Return two that put keys of one slot into an empty trie."""
    one, other, both = (("a", 1), NONE), (NONE, ("b", 1)), (("a", 1), ("b", 1))
    roles = {"u": [("put", "a", 1)], "v": [("put", "b", 1)]}
    mains: list[Main] = [(NONE, NONE), one, (("b", 1), NONE), ((2,), NONE), one, other, both]
    return _instance(system, roles, [("", 1), ("0", 1)], {1: 1}, mains)


def colliding(system: System) -> Instance:
    """Return one that puts a key and one that removes another of the same hash, and then looks for the tomb."""
    mains: list[Main] = [
        (("a", 1), NONE),
        ((2,), NONE),
        {"a": 1},
        {"a": 1, "d": 1},
        {"d": 1},
        ("d", 1),
        (("d", 1), NONE),
    ]
    roles = {"u": [("put", "d", 1)], "v": [("remove", "a", 1)]}
    return _instance(system, roles, [("", 1), ("0", 1)], {1: 1}, mains, [("v", 1)])


def contracting(system: System) -> Instance:
    """Return one that removes a key where one other is left, and puts it again; another looks for tombs meanwhile."""
    mains: list[Main] = [
        ((2,), NONE),
        (("a", 1), ("b", 1)),
        (("a", 1), NONE),
        ("a", 1),
        (("a", 1), NONE),
        (("a", 1), ("b", 2)),
        {"a": 1, "b": 2},
    ]
    roles: Roles = {"u": [("remove", "b", 1), ("put", "b", 2)], "v": []}
    return _instance(system, roles, [("", 1), ("0", 1)], {1: 1, 2: 2}, mains, [("v", 1)])


def climbing(system: System) -> Instance:
    """Return one that removes a key, and the tomb of the other from two levels."""
    mains: list[Main] = [((2,), NONE), ((3,), NONE), {"a": 1, "d": 1}, ("a", 1), ("a", 1), (("a", 1), NONE)]
    roles = {"u": [("remove", "d", 1)], "v": [("lookup", "a", 1)]}
    nodes = [("", 1), ("0", 1), ("00", 1)]
    return _instance(system, roles, nodes, {1: 1, 2: 2, 3: 3}, mains, [("u", 1), ("u", 2)])


def beside(system: System) -> Instance:
    """Return one that removes a tomb, while another puts a key beside it."""
    mains: list[Main] = [((2,), NONE), ("a", 1), (("a", 1), NONE), ((2,), ("c", 1)), (("a", 1), ("c", 1))]
    roles = {"u": [("lookup", "c", 1)], "v": [("put", "c", 1)]}
    return _instance(system, roles, [("", 1), ("0", 1)], {1: 1, 2: 2}, mains, [("u", 1)])


def renewing(system: System) -> Instance:
    """Return one that takes a snapshot and looks a key up, and one that puts it and renews."""
    mains: list[Main] = [((2,), NONE), (("a", 1), ("b", 1)), ((4,), NONE), (("a", 2), ("b", 1))]
    roles = {"u": [("snapshot", "a", 1), ("lookup", "a", 1)], "v": [("put", "a", 2)]}
    return _instance(system, roles, [("", 1), ("0", 1), ("", 2), ("0", 2)], {1: 1, 2: 2}, mains)


def parting(system: System) -> Instance:
    """Return two that put keys below a child; the wrong one renews the child."""
    mains: list[Main] = [
        ((2,), NONE),
        (("a", 1), ("b", 1)),
        ((3,), NONE),
        (("a", 2), ("b", 1)),
        (("a", 1), ("b", 2)),
        (("a", 2), ("b", 2)),
    ]
    roles = {"u": [("put", "a", 2)], "v": [("put", "b", 2)]}
    return _instance(system, roles, [("", 1), ("0", 1), ("0", 1)], {1: 1, 2: 2}, mains)


def older_tomb(system: System) -> Instance:
    """Return two in a trie that has a tomb from before the last snapshot."""
    mains: list[Main] = [((2,), NONE), ("a", 1), ((4,), NONE), (("a", 1), NONE)]
    roles = {"u": [("lookup", "a", 1)], "v": [("put", "b", 1)]}
    return _instance(system, roles, [("", 1), ("0", 1), ("", 2), ("0", 2)], {1: 1, 2: 2, 3: 1}, mains, [("v", 3)])


def at_the_root(system: System) -> Instance:
    """Return one that takes a snapshot, or clears, or looks a key up, while another removes the key from the root."""
    mains: list[Main] = [(("a", 1), ("c", 1)), (("a", 1), NONE), ("a", 1), (NONE, NONE)]
    roles = {"u": [("snapshot", "a", 1), ("clear", "a", 1), ("lookup", "c", 1)], "v": [("remove", "c", 1)]}
    return _instance(system, roles, [("", 1), ("", 2)], {1: 1}, mains)


SMALL = (at_the_root, beside, parting, older_tomb, contracting, renewing, filling, colliding, climbing)
"""Small instances; together they take every case."""
