"""GCAS and RDCSS: the system, its wrong variants and a small instance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from latchfree_evidence.inductive.instance import Instance
from latchfree_evidence.inductive.logic import Term, all_of, implies, negated
from latchfree_evidence.inductive.system import Part, State, System
from latchfree_evidence.inductive.systems.gcas.commits import Commits


class Gcas(Commits):
    """GCAS and RDCSS together."""

    variants = {
        "no generation": "a pending main node is committed whatever the root",
        "main not compared": "an RDCSS does not compare the main node of the old root",
        "read uncommitted": "a main node is taken whether committed or not",
        "no abort": "a descriptor in the root is read as its old I-node, and not aborted",
        "same generation": "a snapshot may keep the generation",
        "moved before decided": "the root moves before the status is decided",
        "abort by a store": "a descriptor is aborted by a store instead of a CAS",
        "compared before": "the main node is compared before the descriptor is in the root, not after",
    }
    rounds = 2

    def initially(self, s: State) -> dict[str, Part]:
        """Every thread is idle, every main node committed, and the root an I-node."""

        def memory(i: Term) -> Term:
            held = implies(s.used(i), self.kind(s, s.main(i), "committed"))
            return all_of(implies(s.pub(i), s.used(i)), held, negated(s.copied(i)))

        def idle(t: Term) -> Term:
            return all_of(self.at(s, t, "idle"), s.sg(t) <= s.gen(s.root_i))

        return {
            "root": Part("root", (), lambda: all_of(negated(s.is_d), s.pub(s.root_i))),
            "idle": Part("idle", ("T",), idle),
            "memory": Part("memory", ("I",), memory),
            "nodes": Part(
                "nodes", ("M",), lambda m: all_of(self.kind(s, m, "committed", "unborn"), negated(s.late(m)))
            ),
            "descriptors": Part(
                "descriptors", ("D",), lambda d: all_of(self.status(s, d, "unmade"), negated(s.inst(d)))
            ),
        }

    def starts(self, domains: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
        """Yield the state in which the root is the first I-node, with the first main node."""
        first = {(1,): True}
        yield {
            "is_d": False,
            "root_i": 1,
            "root_d": 1,
            "status": "unmade",
            "main": 1,
            "kind": {(m,): "committed" if m == 1 else "unborn" for m in domains["M"]},
            "pc": "idle",
            "gi": 1,
            "gm": 1,
            "n": 1,
            "ret": "client",
            "sg": 1,
            "rd": 1,
            "want": False,
            "ad": 1,
            "used": first,
            "pub": first,
            "inst": False,
            "late": False,
            "copied": False,
            "cmain": 1,
        }


def _instance(
    system: System,
    nodes: int,
    mains: Mapping[int, int],
    swaps: int,
    roles: Mapping[str, Any],
    bound: Callable[[State], bool] | None = None,
) -> Instance:
    """Return two threads with I-nodes 1, 2, ...; `mains` says of which I-node each main node is."""
    newer = 1 if system.wrong == "same generation" else 2
    calls = {"CallGcas": (), "Propose": (), "NewINode": (), **roles}
    return Instance(
        system,
        {"T": ("u", "v"), "I": range(1, nodes + 1), "M": tuple(mains), "D": range(1, swaps + 1)},
        rigid={
            "gen": lambda i: newer if 2 <= i <= swaps + 1 else 1,
            "old": lambda _: 1,
            "of": mains.__getitem__,
            "ov": lambda _: 1,
            "exp": lambda _: 1,
            "nv": lambda d: d + 1,
        },
        only={name: lambda *call, calls=allowed: call in calls for name, allowed in calls.items()},
        bound=bound,
    )


def one_of_each(system: System) -> Instance:
    """Return one that gives the root another main node, while another replaces the root."""
    reads = [("u", 1, "client"), ("v", 1, "client")]
    return _instance(system, 2, {1: 1, 2: 1}, 1, {"CallGcasRead": reads, "CallGcas": [("u", 2)], "Propose": [("v", 1)]})


def walker(system: System) -> Instance:
    """Return one that gives the root another main node, and one that walks, fails that, and then replaces the root."""
    reads = [("u", 1, "client"), ("v", 1, "walk")]
    roles = {"CallGcasRead": reads, "CallGcas": [("u", 2)], "Propose": [("v", 1)]}

    def bound(s: State) -> bool:
        late = s.pub(2) or (s.kind(2) == "failed" and s.pc("u") in ("idle", "GotMain", "GcasReadMain"))
        return not late and (s.pc("v") == "idle" or s.kind(2) not in ("unborn", "own"))

    return _instance(system, 2, {1: 1, 2: 1}, 1, roles, bound)


def two_updates(system: System) -> Instance:
    """Return two that give the root another main node."""
    reads = [("u", 1, "client"), ("v", 1, "client")]
    return _instance(system, 2, {1: 1, 2: 1, 3: 1}, 1, {"CallGcasRead": reads, "CallGcas": [("u", 2), ("v", 3)]})


def two_swaps(system: System) -> Instance:
    """Return two that replace the root."""
    reads = [("u", 1, "client"), ("v", 1, "client")]
    roles = {"CallGcasRead": reads, "Propose": [("u", 1), ("v", 2)]}
    return _instance(system, 3, {1: 1}, 2, roles, lambda s: not (s.pub(2) or s.pub(3)))


def below_the_root(system: System) -> Instance:
    """Return one that gives an I-node below the root another main node; another replaces the root and then reads it."""
    reads = [("u", 1, "client"), ("u", 3, "client"), ("v", 1, "client"), ("v", 3, "client")]
    roles = {"CallGcasRead": reads, "NewINode": [("u", 3)], "CallGcas": [("u", 2)], "Propose": [("v", 1)]}

    def bound(s: State) -> bool:
        if s.pub(2):
            return s.pc("u") in ("CompleteCommit", "GcasReadPrevAfter") and (
                s.gi("v") == 3 or s.pc("v") in ("RdcssSwing", "idle")
            )
        waits = s.pc("u") == "CompleteCommit" and s.gi("u") == 3
        return bool(s.gi("v") == 1 and (s.pc("v") == "idle" or waits))

    return _instance(system, 3, {1: 1, 2: 3}, 1, roles, bound)


SMALL = (one_of_each, walker, two_updates, two_swaps, below_the_root)
"""Small instances; together they take every case."""
