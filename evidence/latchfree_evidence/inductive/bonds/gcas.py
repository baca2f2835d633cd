"""GCAS with RDCSS and its model: one I-node that is the root at first, and what came of its snapshot."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Final

from latchfree_evidence.inductive.instance import Instance, Taken
from latchfree_evidence.inductive.system import State, System
from latchfree_evidence.inductive.systems.gcas.words import READING
from latchfree_evidence.inductive.tie import Bond, Values

PROGRAM: Final[Mapping[str, tuple[str, ...]]] = {"u": ("add", "get"), "w": ("snapshot", "look")}
"""``AddSnapshot`` of MCGcasRdcss.tla."""
OBJECT: Final = 2
"""Its I-node."""
ADDRESSES: Final = range(1, 16)
"""More than the model allocates."""


def instance(system: System) -> Instance:
    """Return the domains of the model; an address is an I-node, a main node or a descriptor."""
    return Instance(system, {"T": tuple(PROGRAM), "I": ADDRESSES, "M": ADDRESSES, "D": ADDRESSES})


def lift(values: Values) -> dict[str, Any]:
    """Return the fields in a state of TLC. There is one snapshot at most, so each ghost is a function of the state."""
    root, registers = values["mem"]["root"], values["L"]
    nodes = dict(enumerate(values["mem"]["node"], 1))
    i_nodes = {a: node for a, node in nodes.items() if node["t"] == "I"}
    descriptors = {a: node for a, node in nodes.items() if node["t"] == "D"}
    mains = {a: node for a, node in nodes.items() if node["t"] == "C"}
    there = {node["main"] for node in i_nodes.values()}
    taken = [node for node in descriptors.values() if node["status"] == "COMMIT"]

    def kind(m: int) -> str:
        prev = mains[m]["prev"]
        if prev > 0:
            return "pending" if m in there else "own"
        return "failed" if prev < 0 else "committed"

    kinds = {m: kind(m) for m in mains}

    def of_all(name: str) -> dict[tuple[str], Any]:
        return {(p,): own[name] for p, own in registers.items()}

    return {
        "is_d": root in descriptors,
        "root_i": root,
        "root_d": root,
        "status": {(d,): descriptors[d]["status"] if d in descriptors else "unmade" for d in ADDRESSES},
        "main": {(i,): node["main"] for i, node in i_nodes.items()},
        "kind": {(m,): kinds.get(m, "unborn") for m in ADDRESSES},
        "pc": {(p,): "idle" if own["pc"] == "RdcssRead" else own["pc"] for p, own in registers.items()},
        **{name: of_all(name) for name in ("gi", "gm", "n", "sg", "rd", "ad")},
        "ret": {(p,): own["ret"] or "client" for p, own in registers.items()},
        "want": {(p,): own["want"] == "COMMIT" for p, own in registers.items()},
        "used": {(i,): True for i in i_nodes},
        "pub": {(i,): True for i in (OBJECT, *(node["nv"] for node in taken))},
        "inst": {(d,): d == root or node["status"] != "UNDECIDED" for d, node in descriptors.items()},
        "late": {(m,): bool(taken) and kinds[m] in ("pending", "failed") for m in mains},
        "copied": {(OBJECT,): bool(taken)},
        "cmain": taken[0]["exp"] if taken else 0,
        "gen": {(i,): i_nodes[i]["gen"] if i in i_nodes else OBJECT for i in ADDRESSES},
        "old": {(m,): abs(node["prev"]) for m, node in mains.items()},
        "of": OBJECT,
        **{name: {(d,): node[name] for d, node in descriptors.items()} for name in ("ov", "exp", "nv")},
    }


def look(s: State) -> Hashable:
    """Return the memory, the ghosts, and of each thread the registers that mean something where it is."""

    def registers(p: str) -> Hashable:
        pc = s.pc(p)
        reading, ret = pc in READING, s.ret(p)
        gcas = reading or pc in ("GcasReadMain", "CompleteRereadMain")
        shown = [pc, ret if gcas else "", s.gi(p) if gcas or pc == "GcasCas" else 0, s.gm(p) if reading else 0]
        shown.append(s.n(p) if pc in ("GcasCas", "GcasReadPrevAfter") or (gcas and ret == "gcas") else 0)
        shown.append(s.sg(p) if gcas and ret in ("client", "walk") else 0)
        swaps = pc in ("RdcssInstall", "RdcssReadStatus", "RdcssDecide", "RdcssSwing") or (gcas and ret == "decide")
        shown += [s.rd(p) if swaps else 0, s.want(p) if pc == "RdcssDecide" else False]
        shown.append(s.ad(p) if pc in ("CompleteAbortStatus", "CompleteAbortRoot") else 0)
        return tuple(shown)

    return (
        (True, s.root_d) if s.is_d else (False, s.root_i),
        tuple((i, s.main(i), s.gen(i), s.pub(i), s.copied(i) and s.cmain(i)) for i in ADDRESSES if s.used(i)),
        tuple((m, s.kind(m), _old(s, m), s.late(m)) for m in ADDRESSES if s.kind(m) != "unborn"),
        tuple((d, s.status(d), s.inst(d), s.exp(d), s.nv(d)) for d in ADDRESSES if s.status(d) != "unmade"),
        tuple(registers(p) for p in PROGRAM),
    )


def _old(s: State, m: int) -> Any:
    """Return the old main node, which a committed one forgets."""
    return 0 if s.kind(m) == "committed" else s.old(m)


def operation(values: Values, p: str) -> str:
    """Return the operation of a thread, or the next one of its program, "" if it has ended."""
    own = values["L"][p]
    if own["pc"] != "idle":
        return str(own["op"]["op"])
    at = values["at"][p]
    return PROGRAM[p][at - 1] if at <= len(PROGRAM[p]) else ""


def allowed(values: Values, taken: Taken) -> bool:
    """Return whether the program has an operation left."""
    return operation(values, taken.arguments[0]) != ""


def follow(system: System, values: Values, taken: Taken) -> tuple[str, State]:
    """Take the local steps of the program after an access: it reads the main node, then makes of it what it wants."""
    p, s = taken.arguments[0], taken.case.post
    op, fresh = operation(values, p), len(values["mem"]["node"]) + 1

    def local(name: str, state: State, *arguments: Any) -> State:
        after: State
        (after,) = (case.post for case in system.actions[name].run(state, p, *arguments) if case.guard)
        return after

    if taken.step == "RdcssRead:root":
        opened = s.sg(p) == s.gen(OBJECT)
        if op == "get" or opened == (op != "look"):
            s = local("CallGcasRead", s, OBJECT, "walk" if op == "look" else "client")
    elif s.pc(p) == "GotMain":
        m = s.gm(p)
        if op == "add":
            s = local("CallGcas", s.but(old=s.old.set(fresh, m)), fresh)
        elif op == "snapshot":
            d = fresh + 1
            made = {"ov": s.ov.set(d, OBJECT), "exp": s.exp.set(d, m), "nv": s.nv.set(d, fresh)}
            s = local("Propose", s.but(gen=s.gen.set(fresh, s.gen(OBJECT) + 1), **made), d)
        else:
            s = local("Done", s)
    return "Invoke" if values["L"][p]["pc"] == "idle" else taken.name, s


GCAS: Final = Bond("gcas_snapshot", instance, lift, look, allowed, follow)
