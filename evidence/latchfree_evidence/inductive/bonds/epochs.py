"""Epochs and their model, whose ghosts are variables of the module."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Final

from latchfree_evidence.inductive.instance import Instance, Taken
from latchfree_evidence.inductive.system import State, System
from latchfree_evidence.inductive.tie import Bond, Values

MAY: Final[Mapping[str, tuple[str, ...]]] = {"r": ("get", "advance"), "w": ("inc", "advance")}
"""``ReaderAndWriter`` of MCEpochs.tla."""
NODES: Final = (1,)
"""``Size`` of its configuration, and ``Most``."""
MOST: Final = 3


def instance(system: System) -> Instance:
    """Return the domains of the model, and the order in which it looks at the pins."""
    places = {p: k for k, p in enumerate(MAY, 1)}
    domains = {"T": tuple(MAY), "X": NODES}
    return Instance(system, domains, constants={"threads": len(MAY)}, rigid={"place": places.__getitem__})


def lift(values: Values) -> dict[str, Any]:
    """Return the fields in a state of TLC."""
    arena, registers, ghost = values["arena"], values["L"], values["ghost"]

    def of_all(read: Mapping[str, Any]) -> dict[tuple[str], Any]:
        return {(p,): read[p] for p in MAY}

    return {
        "epoch": arena["epoch"],
        "pin": of_all(arena["pin"]),
        "buffer": of_all(arena["buffer"]),
        "linked": {(x,): x in arena["linked"] for x in NODES},
        "freed": {(x,): node["t"] == "free" for x, node in enumerate(arena["node"], 1)},
        "pc": of_all({p: own["pc"] for p, own in registers.items()}),
        "e": of_all({p: own["e"] for p, own in registers.items()}),
        "j": of_all({p: own["j"] for p, own in registers.items()}),
        "limb": {(p, x): True for p in MAY for x in registers[p]["limb"]},
        "limbo": {(p, x): True for p in MAY for x, _ in arena["limbo"][p]},
        "since": {(p, x): epoch for p in MAY for x, epoch in arena["limbo"][p]},
        "published": of_all({p: ghost[p]["pe"] for p in MAY}),
        "reached": {(p, x): True for p in MAY for x in ghost[p]["seen"]},
    }


def look(s: State) -> Hashable:
    """Return everything; the epoch in which a node was retired counts while it waits."""

    def nodes(p: str) -> Hashable:
        return tuple((s.limb(p, x), s.limbo(p, x) and s.since(p, x), s.reached(p, x)) for x in NODES)

    return (
        s.epoch,
        tuple((s.linked(x), s.freed(x)) for x in NODES),
        tuple((s.pin(p), s.buffer(p), s.pc(p), s.e(p), s.j(p), s.published(p), nodes(p)) for p in MAY),
    )


def allowed(values: Values, taken: Taken) -> bool:
    """Return whether the client of the model may do so: who changes, who moves the epoch, and how often."""
    p = taken.arguments[0]
    if taken.name in ("Link", "Unlink"):
        return "inc" in MAY[p]
    if taken.name == "Leave":
        return bool((taken.arguments[1] == "RetireReadEpoch") == bool(values["L"][p]["limb"]))
    if taken.name == "Invoke" and taken.arguments[1] == "AdvanceLoad":
        return bool(values["arena"]["epoch"] < MOST)
    return True


EPOCHS: Final = Bond("epochs", instance, lift, look, allowed)
