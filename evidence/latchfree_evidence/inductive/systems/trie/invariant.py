"""Why the theorem holds: what a tree is made of, what trees share, and what a thread knows."""

from __future__ import annotations

from latchfree_evidence.inductive.logic import Term, all_of, any_of, choose, implies, negated
from latchfree_evidence.inductive.system import State, conjunct
from latchfree_evidence.inductive.systems.trie.theorem import Claims
from latchfree_evidence.inductive.systems.trie.words import SWAPS, UPDATES


class Invariant(Claims):
    """The conjuncts that the induction needs."""

    # the trees
    @conjunct("Int", "P")
    def made_of(self, s: State, g: Term, q: Term) -> Term:
        """At a place of a tree is an I-node of that place; one of an older generation is in the tree of that, too."""
        i = s.tree(g, q)
        older = implies(s.gen(i) < g, all_of(s.there(s.gen(i), q), s.tree(s.gen(i), q) == i))
        fits = all_of(s.used(i), s.place(i) == q, s.gen(i) >= 1, s.gen(i) <= g, older)
        return implies(all_of(self.known(s, g), s.there(g, q)), fits)

    @conjunct("Int", "P", "K")
    def renewed_above(self, s: State, g: Term, q: Term, k: Term) -> Term:
        """On the path of a key what is of the present generation is above what is older."""
        on_path = all_of(self.known(s, g), s.there(g, q), s.covers(q, k))
        return implies(on_path, (s.gen(s.tree(g, q)) == g) == (s.level(q) < s.own(g, k)))

    @conjunct("Int", "P", "K")
    def shared(self, s: State, g: Term, q: Term, k: Term) -> Term:
        """While the path of a key has an I-node of an older generation, the key has the value of then."""
        older = s.gen(s.tree(g, q))
        on_path = all_of(self.known(s, g), s.there(g, q), s.covers(q, k), older < g)
        return implies(on_path, s.map(g, k) == s.map(older, k))

    @conjunct("I")
    def kept(self, s: State, i: Term) -> Term:
        """An I-node stays in the tree of its generation, until it is a tomb."""
        g, m = s.gen(i), s.cell(i)
        fits = all_of(g >= 1, g <= s.now, s.born(m), any_of(self.among(s, g, i), self.is_tomb(s, m)))
        return implies(s.used(i), fits)

    @conjunct("M", "K")
    def entombed(self, s: State, m: Term, k: Term) -> Term:
        """A tomb has one key."""
        other = all_of(s.born(m), self.is_tomb(s, m), negated(k == s.tomb(m)))
        return implies(other, s.value(m, k) == 0)

    @conjunct("M", "B")
    def born_first(self, s: State, m: Term, b: Term) -> Term:
        """A child was made before, or with its parent."""
        return implies(all_of(s.born(m), self.link(s, m, b)), s.used(s.kid(m, b)))

    # what a thread knows
    @conjunct("T")
    def going(self, s: State, t: Term) -> Term:
        """The present I-node covers the key; an update goes through I-nodes of its own generation alone."""
        i, g = s.ci(t), s.sg(t)
        there = all_of(s.used(i), g >= 1, g <= s.now, s.gen(i) <= g)
        walks = all_of(self.at(s, t, "AtMain", "CopyChild", "Commit", "Copied"), negated(self.does(s, t, *SWAPS)))
        older = all_of(self.among(s, s.gen(i), i), s.held(t) == s.map(s.gen(i), s.k(t)))
        at_root = all_of(self.at(s, t, "AtMain", "Decide"), self.does(s, t, *SWAPS))
        return all_of(
            implies(walks, all_of(there, s.covers(s.place(i), s.k(t)))),
            implies(all_of(walks, self.does(s, t, *UPDATES)), s.gen(i) == g),
            implies(all_of(walks, s.gen(i) < g), older),
            implies(at_root, all_of(there, i == s.tree(g, self.top))),
            implies(self.at(s, t, "CopyChild", "Commit", "Copied"), self.does(s, t, *UPDATES)),
            implies(self.at(s, t, "Decide"), self.does(s, t, *SWAPS)),
            implies(self.at(s, t, "Compressed"), all_of(s.used(i), s.born(s.cm(t)))),
        )

    @conjunct("T")
    def renewing(self, s: State, t: Term) -> Term:
        """A child that is being renewed is of an older generation, so its main node is still the one read."""
        m, b = s.cm(t), self.way(s, t)
        c = s.kid(m, b)
        older = all_of(self.link(s, m, b), s.used(c), s.gen(c) < s.sg(t))
        return all_of(
            implies(self.at(s, t, "CopyChild", "Copied"), older),
            implies(self.at(s, t, "Copied"), s.cell(c) == s.xm(t)),
        )

    @conjunct("T", "B", "K")
    def taking(self, s: State, t: Term, b: Term, k: Term) -> Term:
        """A tomb that was found is one still."""
        m = s.cm(t)
        c = s.kid(m, b)
        x = s.cell(c)
        found = all_of(self.link(s, m, b), s.used(c), self.is_tomb(s, x))
        value = s.value(x, k) == choose(k == s.tk(t, b), s.tv(t, b), 0)
        same = all_of(s.tk(t, b) == s.tomb(x), value)
        return implies(all_of(self.at(s, t, "Compressed"), s.took(t, b)), all_of(found, same))
