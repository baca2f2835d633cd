"""The inverse Bloom filter and its model: an item was added if an operation has begun that is no longer pending."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Final

from latchfree_evidence.inductive.instance import Instance, Taken
from latchfree_evidence.inductive.system import State, System
from latchfree_evidence.inductive.tie import Bond, Values

NOTHING: Final = (0, 0)
X: Final = (1, 1)
Y: Final = (2, 2)
OTHER: Final = (3, 3)
SLOT: Final = {NOTHING: 1, X: 1, Y: 1, OTHER: 2}
"""``TwoSlots`` of InverseBloomScenarios.tla."""
EVICTING: Final[Mapping[str, tuple[tuple[int, int], ...]]] = {"p": (X, Y), "q": (X, OTHER), "r": (Y, X)}
"""``Evicting`` of InverseBloomScenarios.tla."""


def instance(system: System) -> Instance:
    """Return the domains of the model."""
    domains = {"T": tuple(EVICTING), "Item": tuple(SLOT), "Slot": (1, 2)}
    return Instance(system, domains, constants={"nothing": NOTHING}, rigid={"slot": SLOT.__getitem__})


def lift(values: Values) -> dict[str, Any]:
    """Return the fields in a state of TLC."""
    registers, begun = values["L"], dict(values["begun"])
    table = dict(enumerate(values["table"], 1)) if isinstance(values["table"], tuple) else dict(values["table"])
    pending = [own["op"]["item"] for own in registers.values() if own["pc"] != "idle"]
    added = {x: begun[x] > pending.count(x) for x in SLOT if x != NOTHING}
    return {
        "table": {(k,): x for k, x in table.items()},
        "pc": {(p,): own["pc"] for p, own in registers.items()},
        "item": {(p,): own["op"]["item"] for p, own in registers.items()},
        "old": {(p,): own["old"] for p, own in registers.items()},
        "added": {(x,): done for x, done in added.items()},
        "evicted": {(x,): done and table[SLOT[x]] != x for x, done in added.items()},
    }


def look(s: State) -> Hashable:
    """Return the table, the ghosts and the registers."""
    return (
        tuple(s.table(k) for k in (1, 2)),
        tuple((s.added(x), s.evicted(x)) for x in SLOT if x != NOTHING),
        tuple((s.pc(p), s.item(p), s.old(p)) for p in EVICTING),
    )


def allowed(values: Values, taken: Taken) -> bool:
    """Return whether the item is the next one of the program; other steps are free."""
    if taken.name != "Invoke":
        return True
    p, item = taken.arguments
    at = values["at"][p]
    return bool(at <= len(EVICTING[p]) and EVICTING[p][at - 1] == item)


INVERSE_BLOOM: Final = Bond("inverse_bloom", instance, lift, look, allowed)
