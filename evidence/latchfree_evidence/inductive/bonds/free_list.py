"""The free list and its model: the ghosts are functions of what TLC shows."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final

from latchfree_evidence.inductive.instance import Instance, Taken
from latchfree_evidence.inductive.system import State, System
from latchfree_evidence.inductive.systems.free_list import concrete
from latchfree_evidence.inductive.tie import Bond, Values

THREADS: Final = ("u", "v", "w")
BATCHES: Final = range(1, 4)


def instance(system: System) -> Instance:
    """Return the domains of the model."""
    return Instance(system, {"T": THREADS, "B": range(4), "Int": range(5)}, constants={"nil": 0})


def lift(values: Values) -> dict[str, Any]:
    """Return the fields in a state of TLC."""
    link = dict(enumerate(values["link"], 1)) if isinstance(values["link"], tuple) else dict(values["link"])
    return concrete(values["head"]["first"], values["head"]["version"], link, values["L"])


def look(s: State) -> Hashable:
    """Return what TLC shows, and the ghosts where they mean something."""
    return (
        s.first,
        s.version,
        tuple(s.link(b) for b in BATCHES),
        tuple(s.stack(k) for k in range(1, s.size + 1)),
        tuple(s.pos(b) or (s.holder(b), s.rank_of(b)) for b in BATCHES),
        tuple((s.pc(t), s.lfirst(t), s.lversion(t), s.lbelow(t)) for t in THREADS),
        tuple(tuple(s.own(t, k) for k in range(1, s.owns(t) + 1)) for t in THREADS),
    )


def allowed(values: Values, taken: Taken) -> bool:
    """Return whether the program goes on as the step does; a push without a batch ends it."""
    if len(taken.arguments) == 1 or taken.case.label not in ("ok", "empty"):
        return len(taken.arguments) == 1 or taken.arguments[1] == "idle"
    p, next_ = taken.arguments
    todo = values["L"][p]["todo"]
    if not todo:
        return bool(next_ == "idle")
    if todo[0] == "pop":
        return bool(next_ == "PopRead")
    return bool(next_ == ("PushRead" if taken.case.post.owns(p) else "idle"))


FREE_LIST: Final = Bond("free_list", instance, lift, look, allowed)
