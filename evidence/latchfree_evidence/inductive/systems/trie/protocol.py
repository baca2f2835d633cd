"""The trie over atomic cells: the system, its wrong variants and its initial states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from latchfree_evidence.inductive.logic import Term, all_of, implies, negated
from latchfree_evidence.inductive.system import Part, State
from latchfree_evidence.inductive.systems.trie.invariant import Invariant

OF_THREADS = ("going", "renewing", "taking")


class Trie(Invariant):
    """The trie."""

    variants = {
        "no tombs": "a child with one key is moved to its parent although the child may still change",
        "put into a tomb": "a put changes a tomb",
        "renewed twice": "a child of the present generation is renewed as well",
        "generation not compared": "an update succeeds whatever the generation of the root",
        "snapshot not compared": "a snapshot does not compare the main node of the root",
        "main not compared": "contraction does not compare the main node that it has copied",
        "root entombed": "the root becomes a tomb as well",
    }
    local = ()
    rounds = 1

    begun: Mapping[str, Any]
    """The memory at the start of a small instance."""

    def axioms(self, s: State) -> dict[str, Part]:
        """A place is that of the root, or has one more digit than another; it covers the keys that go there."""

        def root(k: Term) -> Term:
            return s.covers(self.top, k)

        def levels(q: Term) -> Term:
            below = all_of(s.level(s.up(q)) == s.level(q) - 1, s.level(q) >= 1)
            return implies(negated(q == self.top), below)

        def below(q: Term, k: Term) -> Term:
            goes = all_of(s.covers(s.up(q), k), s.slot(s.up(q), k) == s.last(q))
            return implies(negated(q == self.top), s.covers(q, k) == goes)

        def one(q: Term, r: Term, k: Term) -> Term:
            return implies(all_of(s.covers(q, k), s.covers(r, k), s.level(q) == s.level(r)), q == r)

        return {
            "zero": Part("zero", (), lambda: s.level(self.top) == 0),
            "root": Part("root", ("K",), root),
            "levels": Part("levels", ("P",), levels),
            "below": Part("below", ("P", "K"), below),
            "one": Part("one", ("P", "P", "K"), one),
        }

    def initially(self, s: State) -> dict[str, Part]:
        """Nobody is at work, and the memory is that of any trie, with any snapshots; the empty trie is one."""
        memory = {
            name: Part(name, part.sorts, lambda *point, run=part.run: run(s, *point))
            for name, part in self.invariant.items()
            if name not in OF_THREADS
        }
        return {**memory, "idle": Part("idle", ("T",), lambda t: self.at(s, t, "idle"))}

    def starts(self, domains: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
        """Yield the memory that the small instance gives."""
        first = {
            name: domains[sort][0] for name, sort in (("ci", "I"), ("cm", "M"), ("xm", "M"), ("k", "K"), ("tk", "K"))
        }
        yield {
            "pc": "idle",
            "op": "lookup",
            **first,
            **dict.fromkeys(("v", "sg", "tv", "held"), 0),
            "took": False,
            **self.begun,
        }
