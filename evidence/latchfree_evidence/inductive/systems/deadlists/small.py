"""Small instances of deadlists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from latchfree_evidence.inductive.instance import Instance
from latchfree_evidence.inductive.system import State, System
from latchfree_evidence.inductive.systems.deadlists.protocol import Deadlists


def awake(s: State, name: str, point: tuple[Any, ...]) -> bool:
    """Return whether a thread is where it may take an action: each access has its own."""
    return bool(s.pc(point[0]) == ("idle" if name in ("Invoke", "Unlink") else name))


def _instance(
    system: System,
    threads: str,
    births: Mapping[int, int],
    most: int,
    may: Mapping[str, Sequence[Any]],
    holders: str = "",
) -> Instance:
    """Return an instance with two slots: what each thread may begin, a call or a generation to unlink nodes in."""
    assert isinstance(system, Deadlists)
    system.holders = tuple(holders)
    return Instance(
        system,
        {"T": tuple(threads), "K": (1, 2), "X": tuple(births), "Int": range(most + 3)},
        constants={"slots": 2},
        rigid={"nth": lambda k: k, "birth": births.__getitem__},
        only={"Invoke": lambda p, next_: next_ in may[p], "Unlink": lambda p, _, d: d in may[p]},
        bound=lambda s: s.generation <= most,
        awake=awake,
    )


TAKES = ("Register", "DropMark")


def one_of_each(system: System) -> Instance:
    """Return one that takes snapshots and drops them, and one that unlinks a node."""
    return _instance(system, "uv", {1: 1}, 2, {"u": TAKES, "v": (1, 2, 3)})


def two_takers(system: System) -> Instance:
    """Return two that take the same snapshot: one of them is late."""
    return _instance(system, "uw", {1: 1}, 2, {"u": ("Register",), "w": ("Register",)})


def two_droppers(system: System) -> Instance:
    """Return two that drop the snapshots that they hold."""
    return _instance(system, "uw", {1: 1}, 3, {"u": ("DropMark",), "w": ("DropMark",)}, "uw")


def older_holder(system: System) -> Instance:
    """Return one that drops the newer of two snapshots, while two nodes that both see are unlinked."""
    return _instance(system, "uwv", {1: 1, 2: 1}, 3, {"u": (), "w": ("DropMark",), "v": (3,)}, "uw")


def newer_holder(system: System) -> Instance:
    """Return one that drops the older of two snapshots, with a node that died before the newer one."""
    return _instance(system, "uwv", {1: 1}, 3, {"u": ("DropMark",), "w": (), "v": (2,)}, "uw")


def parted(system: System) -> Instance:
    """Return the same with a node that only the newer one sees."""
    return _instance(system, "uwv", {1: 1, 2: 2}, 3, {"u": (), "w": ("DropMark",), "v": (3,)}, "uw")


def too_young(system: System) -> Instance:
    """Return two that hold snapshots, and a node that was born after both."""
    return _instance(system, "uwv", {1: 3}, 3, {"u": (), "w": (), "v": (3,)}, "uw")


def nothing_older(system: System) -> Instance:
    """Return one that holds the first snapshot, and two nodes that died before."""
    return _instance(system, "uv", {1: 1, 2: 1}, 2, {"u": (), "v": (1,)}, "u")


SMALL = (one_of_each, two_takers, two_droppers, older_holder, newer_holder, parted, too_young, nothing_older)
"""Small instances; together they take every case."""
