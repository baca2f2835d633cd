"""The rings and their models: the ghost ``queue`` is a function of what TLC shows."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Final

from latchfree_evidence.inductive.instance import Instance, Taken
from latchfree_evidence.inductive.system import State, System
from latchfree_evidence.inductive.tie import Bond, Values

CAPACITY: Final = 2
VALUES: Final = (0, 1, 2, 3, 4, 8)
"""Nothing, the values that `MIXED` puts, and the one that the ring holds at the start."""
MIXED: Final[Mapping[str, tuple[tuple[int, ...], ...]]] = {"p": ((1, 0), (2, 0)), "q": ((3, 0), (4, 0))}
"""``Mixed`` of RingScenarios.tla: what each process may do, one menu after the other: put a value, or get (0)."""


def instance(system: System) -> Instance:
    """Return a ring with the domains of the models of two processes."""
    return Instance(
        system,
        {"T": tuple(MIXED), "Cell": range(CAPACITY), "V": VALUES, "Int": range(-CAPACITY, 7)},
        constants={"capacity": CAPACITY, "nothing": 0},
        rigid={"cell": lambda k: k % CAPACITY},
        only={"Invoke": lambda p, put, v: bool(v) == put},
    )


def lift(values: Values) -> dict[str, Any]:
    """Return the fields in a state of TLC."""
    registers = values["L"]
    cells = values["cell"]
    queue: dict[tuple[int], int] = {}
    for k in range(values["enq"] - CAPACITY, values["enq"]):
        if cells[k % CAPACITY]["seq"] == k + 1:
            queue[k,] = cells[k % CAPACITY]["val"]
    for own in registers.values():
        if own["pc"] in ("PutWrite", "PutPublish"):
            queue[own["pos"],] = own["op"]["val"]
    return {
        "enq": values["enq"],
        "deq": values["deq"],
        "seq": {(k,): cells[k]["seq"] for k in range(CAPACITY)},
        "val": {(k,): cells[k]["val"] for k in range(CAPACITY)},
        "pc": {(p,): own["pc"] for p, own in registers.items()},
        "pos": {(p,): own["pos"] for p, own in registers.items()},
        "arg": {(p,): own["op"]["val"] for p, own in registers.items()},
        "got": {(p,): own["val"] for p, own in registers.items()},
        "queue": queue,
        "putter_of": {(own["pos"],): p for p, own in registers.items() if own["pc"] in ("PutWrite", "PutPublish")},
        "getter_of": {(own["pos"],): p for p, own in registers.items() if own["pc"] in ("GetRead", "GetRelease")},
    }


def look(s: State) -> Hashable:
    """Return what TLC shows, with the queue, and for each get that has taken a value that value."""
    threads = tuple(MIXED)
    return (
        s.enq,
        s.deq,
        tuple((s.seq(k), s.val(k)) for k in range(CAPACITY)),
        tuple((s.pc(p), s.pos(p), s.arg(p), s.got(p)) for p in threads),
        tuple(s.queue(k) for k in range(s.deq, s.enq)),
        tuple(s.queue(s.pos(p)) if s.pc(p) in ("GetRead", "GetRelease") else 0 for p in threads),
    )


def allowed(values: Values, taken: Taken) -> bool:
    """Return whether the next menu of the process has an operation; other steps are free."""
    if taken.name != "Invoke":
        return True
    p, _, value = taken.arguments
    at = values["at"][p]
    return at <= len(MIXED[p]) and value in MIXED[p][at - 1]


def look_weak(s: State) -> Hashable:
    """Return that, and for each thread that has claimed a position whether the ghosts say so."""
    putting = tuple(s.pc(p) in ("PutWrite", "PutPublish") and s.putter_of(s.pos(p)) for p in MIXED)
    return look(s), putting, tuple(s.pc(p) in ("GetRead", "GetRelease") and s.getter_of(s.pos(p)) for p in MIXED)


WEAK: Final = Bond("ring_weak", instance, lift, look_weak, allowed)
STRICT: Final = Bond("ring_strict", instance, lift, look, allowed)
