"""Why the theorem holds: who may still commit, while the root moves to a newer generation."""

from __future__ import annotations

from latchfree_evidence.inductive.logic import Term, all_of, any_of, choose, implies, negated
from latchfree_evidence.inductive.system import State, conjunct
from latchfree_evidence.inductive.systems.gcas.invariant import Invariant
from latchfree_evidence.inductive.systems.gcas.words import READING


class Commits(Invariant):
    """The conjuncts about commits."""

    @conjunct("T")
    def permitted(self, s: State, t: Term) -> Term:
        """Who is about to commit has no late main node; who aborts a descriptor will find the newer generation."""
        d, m, g = s.ad(t), s.gm(t), s.gen(s.gi(t))
        pending = self.kind(s, m, "pending")
        aborting = self.at(s, t, "CompleteAbortStatus", "CompleteAbortRoot")
        newer = any_of(s.gen(s.ov(d)) > g, all_of(self.status(s, d, "COMMIT"), s.gen(s.nv(d)) > g))
        return all_of(
            implies(all_of(self.at(s, t, "CompleteCommit"), pending), negated(s.late(m))),
            implies(all_of(aborting, pending, s.late(m)), newer),
        )

    def newer(self, s: State, t: Term) -> Term:
        """Return whether a thread that has seen a newer root reads the main node of an I-node."""
        reading = all_of(self.at(s, t, *READING), self.reads_for(s, t, "client", "walk"))
        return all_of(s.sg(t) > s.gen(s.gi(t)), reading)

    @conjunct("T")
    def seen(self, s: State, t: Term) -> Term:
        """Nobody has seen a newer root than the one that a descriptor would replace; so it does not commit."""
        aborting = self.at(s, t, "CompleteAbortStatus", "CompleteAbortRoot")
        return all_of(
            implies(s.is_d, s.sg(t) <= s.gen(s.ov(s.root_d))),
            implies(aborting, s.sg(t) <= s.gen(s.ov(s.ad(t)))),
            implies(self.newer(s, t), negated(self.at(s, t, "CompleteCommit"))),
        )

    @conjunct("T")
    def newer_reads(self, s: State, t: Term) -> Term:
        """It holds the settled main node, or the pending one that may become it."""
        m = s.gm(t)
        found = choose(self.kind(s, m, "committed"), m, s.old(m))
        return implies(self.newer(s, t), self.settled(s, s.gi(t)) == found)

    @conjunct("T", "M")
    def newer_alone(self, s: State, t: Term, m: Term) -> Term:
        """No other pending main node of that I-node can commit."""
        other = all_of(self.newer(s, t), self.kind(s, m, "pending"), s.of(m) == s.gi(t), negated(s.late(m)))
        return implies(other, m == s.gm(t))

    def will_take(self, s: State, t: Term) -> Term:
        """Return whether a thread is going to decide COMMIT, unless somebody decides before."""
        d = s.rd(t)
        comparing = all_of(self.at(s, t, *READING), self.reads_for(s, t, "decide"), s.gm(t) == s.exp(d))
        return all_of(
            self.status(s, d, "UNDECIDED"), any_of(all_of(self.at(s, t, "RdcssDecide"), s.want(t)), comparing)
        )

    @conjunct("T")
    def as_expected(self, s: State, t: Term) -> Term:
        """Until then the settled main node of the old root is the expected one."""
        return implies(self.will_take(s, t), self.settled(s, s.ov(s.rd(t))) == s.exp(s.rd(t)))

    @conjunct("T", "T")
    def stays_expected(self, s: State, t: Term, u: Term) -> Term:
        """Nobody can commit there meanwhile: who wants to must first abort this descriptor."""
        holds = all_of(self.at(s, u, *READING), self.kind(s, s.gm(u), "pending"), s.gi(u) == s.ov(s.rd(t)))
        harmless = all_of(
            negated(self.at(s, u, "CompleteCommit", "CompleteAbortRoot")),
            implies(self.at(s, u, "CompleteAbortStatus"), s.ad(u) == s.rd(t)),
        )
        return implies(all_of(self.will_take(s, t), holds), harmless)
