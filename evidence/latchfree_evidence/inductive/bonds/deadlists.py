"""Deadlists and their model: the ghosts are functions of what TLC shows."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Final

from latchfree_evidence.inductive.instance import Instance, Taken
from latchfree_evidence.inductive.system import State, System
from latchfree_evidence.inductive.systems.deadlists.small import awake
from latchfree_evidence.inductive.systems.deadlists.words import (
    CLOSING,
    MOVING,
    PUSHING,
    REGISTERING,
    RETIRING,
    SEARCHING,
    SWEEPING,
)
from latchfree_evidence.inductive.tie import Bond, Values

MAY: Final[Mapping[str, tuple[str, ...]]] = {"u": (), "v": ("inc",), "w": ("drop", "snapshot")}
"""``HoldTakeUnlink`` of MCDeadlists.tla."""
BIRTHS: Final = {1: 1, 2: 2}
"""``OneEach`` of its configuration, ``Slots`` and ``Most``."""
SLOTS: Final = (1, 2)
MOST: Final = 4
NUMBERS: Final = range(MOST + 4)
HAS_SLOT: Final = (*REGISTERING, *SEARCHING, *PUSHING, "SweepClose", *CLOSING)
"""Where the slot in hand means something; of a search only if it has found one."""
TURNS: Final = ("RetireScan", "RetireScanHead", "SweepScan", "SweepPrev", "SweepRecheck")


def instance(system: System) -> Instance:
    """Return the domains of the model, the order of the slots, and the births."""
    domains = {"T": tuple(MAY), "K": SLOTS, "X": tuple(BIRTHS), "Int": NUMBERS}
    rigid = {"nth": lambda k: k, "birth": BIRTHS.__getitem__}
    return Instance(system, domains, constants={"slots": len(SLOTS)}, rigid=rigid, awake=awake)


def lift(values: Values) -> dict[str, Any]:
    """Return the fields in a state of TLC; a block stands for its node."""
    arena, registers = values["arena"], values["L"]
    slots = dict(enumerate(arena["slot"], 1))
    nodes = dict(enumerate(arena["node"], 1))
    of_block = {node["block"]: x for x, node in nodes.items() if node["block"]}
    listed = {entry["node"]: k for k, slot in slots.items() for entry in slot["head"]["q"]}
    retired = {x for p in MAY for x, _ in arena["limbo"][p]}
    place, with_ = dict.fromkeys(nodes, "linked"), dict.fromkeys(nodes, "u")
    for x in nodes:
        place[x] = "listed" if x in listed else "retired" if x in retired else "linked"
    for p, own in registers.items():
        for found, name in (
            ([x for x, _ in own["unlinked"]], "unlinked"),
            ([entry["node"] for entry in own["list"]], "swept"),
            (list(own["limb"]), "leaving"),
        ):
            for x in found:
                place[x], with_[x] = name, p

    def of_slots(read: Any) -> dict[tuple[int], Any]:
        return {(k,): read(slot) for k, slot in slots.items()}

    def of_all(read: Any) -> dict[tuple[str], Any]:
        return {(p,): read(own) for p, own in registers.items()}

    def kind(q: tuple[Any, ...], generation: int) -> str:
        return "node" if q else "empty" if generation else "closed"

    def last(x: int) -> int:
        if place[x] == "swept":
            return generation(registers[with_[x]])
        return int(slots[listed[x]]["head"]["gen"]) if x in listed else 0

    def seen(own: Mapping[str, Any]) -> tuple[str, int, int]:
        if not own["h"]:
            return "closed", 0, 1
        what, which = own["h"]
        if what == "block":
            return "node", last(of_block[which]), of_block[which]
        return ("empty" if which else "closed"), which, 1

    def generation(own: Mapping[str, Any]) -> int:
        pc, k = own["pc"], own["k"]
        if pc == "Commit":
            return int(own["r"])
        if pc in ("DropMark", "SweepClear"):
            return int(slots[k]["gen"])
        if pc in ("SweepUncount", "SweepFree"):
            return int(slots[k]["past"])
        if pc in MOVING or own["next"] == "SweepHead":
            return int(own["prev"][1])
        return int(own["s"])

    counted = [
        k
        for k, slot in slots.items()
        if slot["state"] != "FREE"
        and not any(own["k"] == k and own["pc"] in ("RegisterCount", "SweepFree") for own in registers.values())
    ]
    sweeps = [p for p, own in registers.items() if own["pc"] in SWEEPING or own["next"] in ("SweepScan", "SweepHead")]
    users = {own["k"]: p for p, own in registers.items() if own["pc"] in REGISTERING}
    users |= {own["hk"]: p for p, own in registers.items() if own["held"]}
    return {
        "generation": arena["generation"],
        "death": {(x,): node["death"] for x, node in nodes.items()},
        "gen": of_slots(lambda slot: slot["gen"]),
        "state": of_slots(lambda slot: slot["state"]),
        "head": of_slots(lambda slot: kind(slot["head"]["q"], slot["head"]["gen"])),
        "lgen": of_slots(lambda slot: slot["head"]["gen"]),
        "top": of_slots(lambda slot: slot["head"]["q"][0]["node"] if slot["head"]["q"] else 1),
        "past": of_slots(lambda slot: slot["past"]),
        "registered": arena["registered"],
        "lock": arena["lock"] != 0,
        "pc": of_all(lambda own: own["pc"]),
        "k": of_all(lambda own: own["k"] or 1),
        "s": of_all(generation),
        "found": of_all(lambda own: own["k"] != 0),
        "j": of_all(lambda own: own["j"]),
        "e": of_all(lambda own: own["e"]),
        "hhead": of_all(lambda own: seen(own)[0]),
        "hgen": of_all(lambda own: seen(own)[1]),
        "htop": of_all(lambda own: seen(own)[2]),
        "kdeath": of_all(lambda own: own["known"][0]),
        "kfound": of_all(lambda own: own["known"][1] != 0),
        "kk": of_all(lambda own: own["known"][1] or 1),
        "ks": of_all(lambda own: own["known"][2]),
        "pk": of_all(lambda own: own["prev"][0] or 1),
        "pg": of_all(lambda own: own["prev"][1]),
        "held": of_all(lambda own: own["held"]),
        "hk": of_all(lambda own: own["hk"] or 1),
        "cur": of_all(lambda own: own["unlinked"][0][0] if own["unlinked"] else 1),
        "after": of_all(lambda own: own["next"] if own["next"] in ("SweepScan", "SweepHead") else "idle"),
        "place": {(x,): name for x, name in place.items()},
        "with_": {(x,): p for x, p in with_.items()},
        "on": {(x,): listed.get(x, 1) for x in nodes},
        "last": {(x,): last(x) for x in nodes},
        "user": {(k,): users.get(k, "u") for k in slots},
        "num": {(k,): n for n, k in enumerate(counted, 1)},
        "slot_at": {(n,): counted[n - 1] if 1 <= n <= len(counted) else 1 for n in NUMBERS},
        "owner": sweeps[0] if sweeps else "u",
    }


def look(s: State) -> Hashable:
    """Return the memory, and of each thread the registers that mean something where it is."""

    def registers(p: str) -> Hashable:
        pc = s.pc(p)
        hand = pc in HAS_SLOT and (pc not in SEARCHING or s.found(p))
        shown: list[Any] = [pc, s.k(p) if hand else 0, s.j(p) if pc in TURNS else 0]
        shown.append(
            s.s(p)
            if (hand and pc not in ("SweepClose", "SweepClear", "SweepUncount", "SweepFree")) or pc == "Register"
            else 0
        )
        shown.append(s.e(p) if pc == "RetireScanHead" else 0)
        if pc in ("RetireCheck", "RetirePush", "SweepMove"):
            kind = s.hhead(p)
            shown.append((kind, s.hgen(p) if kind == "empty" else s.htop(p) if kind == "node" else 0))
        shown.append((s.kdeath(p), s.kfound(p), (s.kk(p), s.ks(p)) if s.kfound(p) else 0))
        moves = pc in (*CLOSING, *MOVING) or (pc == "RetireReadEpoch" and s.after(p) == "SweepHead")
        shown.append((s.pk(p), s.pg(p)) if moves and s.pg(p) else 0)
        shown.append((s.held(p), s.hk(p)) if s.held(p) else 0)
        shown.append(s.cur(p) if pc in RETIRING else 0)
        shown.append(s.after(p) if pc == "RetireReadEpoch" else "")
        return tuple(shown)

    def node(x: int) -> Hashable:
        place = s.place(x)
        return (
            s.death(x),
            place,
            s.with_(x) if place in ("unlinked", "swept", "leaving") else 0,
            s.on(x) if place == "listed" else 0,
        )

    def slot(k: int) -> Hashable:
        head = s.head(k)
        shown = (head, s.lgen(k) if head != "closed" else 0, s.top(k) if head == "node" else 0)
        return s.gen(k), s.state(k), s.past(k), shown

    return (
        s.generation, s.registered, s.lock,
        tuple(map(node, BIRTHS)), tuple(map(slot, SLOTS)), tuple(map(registers, MAY)),
    )  # fmt: skip


def allowed(values: Values, taken: Taken) -> bool:
    """Return whether the program has the step; a slot is the first that may be taken, a node the first of the list."""
    p, *rest = taken.arguments
    if taken.name == "Invoke":
        take = taken.label == "take"
        return ("snapshot" if take else "drop") in MAY[p] and (not take or values["arena"]["generation"] < MOST)
    if taken.name == "Unlink":
        return "inc" in MAY[p] and bool(rest[1] == values["arena"]["generation"])  # DeathsNow
    if taken.name == "Register":
        s = values["L"][p]["s"]
        may = [k for k, slot in enumerate(values["arena"]["slot"], 1) if slot["state"] == "FREE" and slot["past"] <= s]
        return bool(rest[0] == may[0])
    if taken.name == "SweepMove":
        return bool(rest[0] == values["L"][p]["list"][0]["node"])
    return True


DEADLISTS: Final = Bond("deadlists", instance, lift, look, allowed)
