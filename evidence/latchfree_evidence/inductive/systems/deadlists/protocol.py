"""Deadlists: the system, its theorem and its wrong variants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from latchfree_evidence.inductive.logic import Term, all_of, any_of, implies, negated
from latchfree_evidence.inductive.system import Part, State, conjunct, is_one_of
from latchfree_evidence.inductive.systems.deadlists.searches import Searches


class Deadlists(Searches):
    """Deadlists, with the most general client."""

    variants = {
        "registered late": "a snapshot is registered after the root has moved",
        "no recheck": "the generation of a slot is not read again after its head",
        "any memory": "what a search found is taken for another death, too",
        "moved to newer": "a list is moved to the newest snapshot, older or not",
        "drops all": "a list that is closed goes to the epochs as it is",
    }
    theorem = ("unseen", "exact")

    holders: tuple[str, ...] = ()

    @conjunct("T", "X")
    def unseen(self, s: State, u: Term, x: Term) -> Term:
        """No snapshot sees a node that leaves, or has gone to the epochs."""
        return implies(self.is_at(s, x, "leaving", "retired"), negated(self.sees(s, u, x)))

    @conjunct("X")
    def exact(self, s: State, x: Term) -> Term:
        """What is on a list is dead, and the snapshot of that generation sees it."""
        g = s.lgen(s.on(x))
        return implies(self.is_at(s, x, "listed"), all_of(s.birth(x) <= g, g < s.death(x)))

    def axioms(self, s: State) -> dict[str, Part]:
        """The slots have places from 1 on, each its own; a birth is a generation."""
        return {
            "apart": Part("apart", ("K", "K"), lambda k, m: implies(s.nth(k) == s.nth(m), k == m)),
            "in range": Part("in range", ("K",), lambda k: all_of(s.nth(k) >= 1, s.nth(k) <= self.slots)),
            "some": Part("some", (), lambda: self.slots >= 1),
            "births": Part("births", ("X",), lambda x: s.birth(x) >= 1),
        }

    def initially(self, s: State) -> dict[str, Part]:
        """Nobody is at work and every node is linked; a slot is free, or that of a snapshot that is held."""

        def slot(k: Term) -> Term:
            free = all_of(is_one_of(s.state(k), "FREE"), self.closed(s, k), s.gen(k) == 0, s.num(k) == 0)
            counted = all_of(s.num(k) >= 1, s.num(k) <= s.registered, s.slot_at(s.num(k)) == k)
            listed = all_of(
                is_one_of(s.head(k), "empty"), s.lgen(k) == s.gen(k), s.gen(k) >= 1, s.gen(k) < s.generation
            )
            return all_of(s.past(k) == 0, any_of(free, all_of(is_one_of(s.state(k), "CLAIMED"), counted, listed)))

        def idle(t: Term) -> Term:
            k = s.hk(t)
            holds = all_of(is_one_of(s.state(k), "CLAIMED"), s.user(k) == t, s.gen(k) == s.held(t), s.held(t) >= 1)
            return all_of(self.at(s, t, "idle"), any_of(s.held(t) == 0, holds), s.kdeath(t) == 0, negated(s.kfound(t)))

        def number(n: Term) -> Term:
            return implies(all_of(n >= 1, n <= s.registered), s.num(s.slot_at(n)) == n)

        return {
            "root": Part("root", (), lambda: all_of(s.generation >= 1, s.registered >= 0, negated(s.lock))),
            "slot": Part("slot", ("K",), slot),
            "idle": Part("idle", ("T",), idle),
            "number": Part("number", ("Int",), number),
            "linked": Part("linked", ("X",), lambda x: all_of(self.is_at(s, x, "linked"), s.death(x) == 0)),
        }

    def starts(self, domains: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
        """Yield the state in which every slot is free and every node linked, but for the snapshots that are held."""
        holders = dict(enumerate(self.holders, 1))
        ones = ("k", "kk", "pk", "hk", "on", "slot_at", "top", "htop", "cur")
        numbers = ("death", "past", "s", "j", "e", "hgen", "kdeath", "ks", "pg", "last")
        held = {(g,): g for g in holders}
        yield {
            **dict.fromkeys(numbers, 0),
            **dict.fromkeys(ones, 1),
            **dict.fromkeys(("lock", "found", "kfound"), False),
            **dict.fromkeys(("with_", "owner"), domains["T"][0]),
            **dict.fromkeys(("pc", "after"), "idle"),
            **dict.fromkeys(("gen", "lgen", "num"), held),
            "generation": len(holders) + 1,
            "registered": len(holders),
            "slot_at": {(n,): n if n in holders else 1 for n in domains["Int"]},
            "state": {(k,): "CLAIMED" if k in holders else "FREE" for k in domains["K"]},
            "head": {(k,): "empty" if k in holders else "closed" for k in domains["K"]},
            "hhead": "closed",
            "user": {(k,): holders.get(k, domains["T"][0]) for k in domains["K"]},
            "held": {(t,): g for g, t in holders.items()},
            "hk": {(t,): next((g for g, u in holders.items() if u == t), 1) for t in domains["T"]},
            "place": "linked",
        }
