"""Contraction: a C-node with one key left becomes a tomb, which nobody changes; its key then moves to the parent."""

from __future__ import annotations

from latchfree_evidence.inductive.logic import Term, all_of, any_of, choose, implies, negated
from latchfree_evidence.inductive.system import Case, Part, State, action
from latchfree_evidence.inductive.systems.trie.updates import Updates


class Contraction(Updates):
    """What makes tombs, and what removes them."""

    def below(self, s: State, p: Term) -> Term:
        """Return whether the present I-node is below the root."""
        return True if self.wrong == "root entombed" else negated(s.place(s.ci(p)) == self.top)

    @action("Contracted", "T", "M")
    def contracted(self, s: State, p: Term, n: Term) -> list[Case]:
        """Remove a key where one other is left: the new main node is a tomb."""
        m, k, b = s.cm(p), s.k(p), self.way(s, p)
        other = s.tomb(n)
        only = s.slot(s.place(s.ci(p)), other)
        can = all_of(
            self.at(s, p, "Commit"),
            self.does(s, p, "remove"),
            self.compared(s, p),
            self.below(s, p),
            negated(s.born(n)),
            self.is_tomb(s, n),
        )
        post = self.installed(s, p, n, "idle", map=s.map.set(s.now, k, 0))
        answers = self.content(s, m, b, k) == s.map(s.now, k)
        value = s.val(m, only)

        def single(a: Term, j: Term) -> Term:
            alone = any_of(a == only, a == b, self.empty(s, m, a))
            return all_of(alone, s.value(n, j) == choose(j == other, value, 0))

        def last(j: Term) -> Term:
            left = choose(j == k, 0, s.value(m, j))
            return all_of(s.value(n, j) == left, implies(negated(j == other), left == 0))

        found = all_of(self.leaf(s, m, b), s.key(m, b) == k, negated(only == b))
        return [
            Case(
                "",
                all_of(can, found, self.leaf(s, m, only), s.key(m, only) == other),
                post,
                given=Part("single", ("B", "K"), single),
                names=self.names(s, p),
                answers=answers,
            ),
            Case(
                "L",
                all_of(can, self.is_l(s, m), negated(s.value(n, other) == 0)),
                post,
                given=Part("last", ("K",), last),
                names=self.names(s, p),
                answers=answers,
            ),
        ]

    @action("Compressed", "T", "M")
    def compressed(self, s: State, p: Term, n: Term) -> list[Case]:
        """Put the keys of tombs in their places; where one key is left, that is a tomb as well."""
        m, i = s.cm(p), s.ci(p)
        q = s.place(i)
        same = s.gen(i) == s.now if self.wrong == "main not compared" else self.compared(s, p)
        can = all_of(self.at(s, p, "Compressed"), same, negated(s.born(n)), self.is_c(s, m))

        def gone(x: Term) -> Term:
            return all_of(negated(x == self.top), s.up(x) == q, s.took(p, s.last(x)))

        def home(g: Term, j: Term) -> Term:
            end = s.home(g, j)
            return choose(all_of(g == s.now, gone(end)), q, end)

        post = self.installed(
            s,
            p,
            n,
            "idle",
            there=s.there.everywhere(lambda g, x: all_of(s.there(g, x), negated(all_of(g == s.now, gone(x))))),
            home=s.home.everywhere(home),
        )

        def slots(b: Term) -> Term:
            moved = self.has_leaf(s, n, b, s.tk(p, b), s.tv(p, b))
            return choose(s.took(p, b), moved, self.same_slot(s, n, m, b))

        last = s.tomb(n)
        only = s.slot(q, last)
        taken = all_of(s.took(p, only), s.tk(p, only) == last)
        kept = all_of(negated(s.took(p, only)), self.leaf(s, m, only), s.key(m, only) == last)
        value = choose(s.took(p, only), s.tv(p, only), s.val(m, only))

        def single(b: Term, j: Term) -> Term:
            alone = any_of(b == only, all_of(negated(s.took(p, b)), self.empty(s, m, b)))
            return all_of(alone, s.value(n, j) == choose(j == last, value, 0))

        return [
            Case("", all_of(can, self.is_c(s, n)), post, given=Part("slots", ("B",), slots), names=self.children(s, p)),
            Case(
                "tomb",
                all_of(can, self.is_tomb(s, n), self.below(s, p), any_of(taken, kept)),
                post,
                given=Part("single", ("B", "K"), single),
                names=self.children(s, p),
            ),
        ]
