"""Put and remove: each changes one cell, by one GCAS.

A GCAS is one step here: it compares the main node of the I-node and the generation of the root, and succeeds if both
are as they were.

Two keys that share a slot get a child of their own, and more children below it while they share slots there. The code
makes all of these by one GCAS. Here each is a step that leaves the map alone (`BuildSlot`), and then comes the put.
"""

from __future__ import annotations

from typing import Any

from latchfree_evidence.inductive.logic import Term, all_of, any_of, choose, negated
from latchfree_evidence.inductive.system import Case, Part, State, action
from latchfree_evidence.inductive.systems.trie.walking import Walking


class Updates(Walking):
    """What puts, removes, and what they make on their way."""

    def compared(self, s: State, p: Term) -> Term:
        """Return whether the GCAS of a thread succeeds."""
        i = s.ci(p)
        same = s.cell(i) == s.cm(p)
        return same if self.wrong == "generation not compared" else all_of(same, s.gen(i) == s.now)

    def installed(self, s: State, p: Term, n: Term, name: str, /, **changes: Any) -> State:
        """Return the state with a new main node in the cell of the present I-node."""
        changes.setdefault("cell", s.cell.set(s.ci(p), n))
        changes.setdefault("born", s.born.set(n, True))
        return self.go(s, p, name, **changes)

    def same_slot(self, s: State, n: Term, m: Term, b: Term) -> Term:
        """Return whether two C-nodes have the same in a slot."""
        same = (s.what(n, b) == s.what(m, b), s.key(n, b) == s.key(m, b), s.val(n, b) == s.val(m, b))
        return all_of(*same, s.kid(n, b) == s.kid(m, b))

    def has_leaf(self, s: State, n: Term, b: Term, k: Term, v: Term) -> Term:
        """Return whether a C-node has a key with a value in a slot."""
        return all_of(self.leaf(s, n, b), s.key(n, b) == k, s.val(n, b) == v)

    def but_for(self, s: State, n: Term, m: Term, b: Term) -> Part:
        """Return that a C-node is the copy of another but for a slot."""
        return Part("but for", ("B",), lambda other: any_of(other == b, self.same_slot(s, n, m, other)))

    def with_value(self, s: State, n: Term, m: Term, k: Term, v: Term) -> Part:
        """Return that a main node without slots is the copy of another but for the value of a key."""
        return Part("with value", ("K",), lambda other: s.value(n, other) == choose(other == k, v, s.value(m, other)))

    @action("Commit", "T", "M")
    def commit(self, s: State, p: Term, n: Term) -> list[Case]:
        """Put or remove a key, if the GCAS succeeds: here the map changes."""
        m, k, v, b = s.cm(p), s.k(p), s.v(p), self.way(s, p)
        here, ok = self.at(s, p, "Commit"), self.compared(s, p)
        puts, removes = (all_of(here, ok, negated(s.born(n)), self.does(s, p, op)) for op in ("put", "remove"))
        apart = all_of(self.leaf(s, m, b), negated(s.key(m, b) == k))
        no_slots = any_of(self.is_l(s, m), self.is_tomb(s, m)) if self.wrong == "put into a tomb" else self.is_l(s, m)
        answers = self.content(s, m, b, k) == s.map(s.now, k)

        def changed(value: Term) -> State:
            return self.installed(s, p, n, "idle", map=s.map.set(s.now, k, value))

        is_c, is_l = all_of(self.is_c(s, m), self.is_c(s, n)), self.is_l(s, n)
        return [
            Case(
                "put",
                all_of(puts, is_c, negated(self.link(s, m, b)), negated(apart), self.has_leaf(s, n, b, k, v)),
                changed(v),
                given=self.but_for(s, n, m, b),
                names=self.names(s, p),
                answers=answers,
            ),
            Case(
                "put in L",
                all_of(puts, no_slots, is_l),
                changed(v),
                given=self.with_value(s, n, m, k, v),
                names=self.names(s, p),
                answers=answers,
            ),
            Case(
                "remove",
                all_of(removes, is_c, self.leaf(s, m, b), s.key(m, b) == k, self.empty(s, n, b)),
                changed(0),
                given=self.but_for(s, n, m, b),
                names=self.names(s, p),
                answers=answers,
            ),
            Case(
                "remove from L",
                all_of(removes, self.is_l(s, m), is_l),
                changed(0),
                given=self.with_value(s, n, m, k, 0),
                names=self.names(s, p),
                answers=answers,
            ),
            Case(
                "lost",
                all_of(self.at(s, p, "Commit", "Copied", "Compressed"), negated(ok)),
                self.go(s, p, "idle"),
            ),
        ]

    @action("BuildSlot", "T", "M", "M", "I")
    def build_slot(self, s: State, p: Term, n: Term, x: Term, c: Term) -> list[Case]:
        """Put the other key of the slot into a child of its own, a C-node or an L-node."""
        m, b, q = s.cm(p), self.way(s, p), s.place(s.ci(p))
        k, v, below = s.key(m, b), s.val(m, b), s.place(c)
        fresh = all_of(negated(n == x), negated(s.born(n)), negated(s.born(x)), negated(s.used(c)))
        fits = all_of(s.gen(c) == s.gen(s.ci(p)), self.child(s, below, q, b))
        shares = all_of(self.leaf(s, m, b), negated(k == s.k(p)), self.is_c(s, n), self.link(s, n, b), s.kid(n, b) == c)
        can = all_of(self.at(s, p, "Commit"), self.does(s, p, "put"), self.compared(s, p), fresh, fits, shares)
        deeper = s.level(below) + 1
        built = self.installed(
            s,
            p,
            n,
            "AtMain",
            ci=s.ci.set(p, c),
            cell=s.cell.set(s.ci(p), n).set(c, x),
            born=s.born.set(n, True).set(x, True),
            used=s.used.set(c, True),
            there=s.there.set(s.now, below, True),
            tree=s.tree.set(s.now, below, c),
            home=s.home.everywhere(
                lambda g, j: choose(all_of(g == s.now, s.home(g, j) == q, s.slot(q, j) == b), below, s.home(g, j))
            ),
            own=s.own.everywhere(lambda g, j: choose(all_of(g == s.now, s.covers(below, j)), deeper, s.own(g, j))),
        )
        slot = s.slot(below, k)

        def single(other: Term) -> Term:
            return all_of(self.but_for(s, n, m, b).run(other), any_of(other == slot, self.empty(s, x, other)))

        def collides(other: Term, j: Term) -> Term:
            return all_of(self.but_for(s, n, m, b).run(other), s.value(x, j) == choose(j == k, v, 0))

        return [
            Case(
                "",
                all_of(can, self.is_c(s, x), self.has_leaf(s, x, slot, k, v)),
                built,
                given=Part("single", ("B",), single),
                names=self.names(s, p, c),
            ),
            Case(
                "L",
                all_of(can, self.is_l(s, x)),
                built,
                given=Part("collides", ("B", "K"), collides),
                names=self.names(s, p, c),
            ),
        ]

    @action("Copied", "T", "M", "I")
    def copied(self, s: State, p: Term, n: Term, c: Term) -> list[Case]:
        """Renew a child: an I-node of the present generation takes its place, with the same main node."""
        m, b = s.cm(p), self.way(s, p)
        old, q = s.kid(m, b), s.place(c)
        fits = all_of(negated(s.used(c)), s.gen(c) == s.gen(s.ci(p)), q == s.place(old))
        linked = all_of(negated(s.born(n)), self.is_c(s, m), self.is_c(s, n), self.link(s, n, b), s.kid(n, b) == c)
        renewed = self.installed(
            s,
            p,
            n,
            "AtMain",
            cell=s.cell.set(s.ci(p), n).set(c, s.xm(p)),
            used=s.used.set(c, True),
            tree=s.tree.set(s.now, q, c),
            own=s.own.everywhere(lambda g, j: choose(all_of(g == s.now, s.covers(q, j)), s.level(q) + 1, s.own(g, j))),
        )
        can = all_of(self.at(s, p, "Copied"), self.compared(s, p), fits, linked)
        return [Case("", can, renewed, given=self.but_for(s, n, m, b), names=self.names(s, p, c, old))]
