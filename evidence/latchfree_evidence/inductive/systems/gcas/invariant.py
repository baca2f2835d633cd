"""Why the theorem holds: what is true of memory, what a thread knows, and who may still commit."""

from __future__ import annotations

from latchfree_evidence.inductive.logic import Term, all_of, any_of, implies, negated
from latchfree_evidence.inductive.system import State, conjunct
from latchfree_evidence.inductive.systems.gcas.theorem import Claims
from latchfree_evidence.inductive.systems.gcas.words import READING

MADE = ("committed", "pending", "failed")


class Invariant(Claims):
    """The conjuncts that the induction needs."""

    # memory
    @conjunct("M")
    def copied_shut(self, s: State, m: Term) -> Term:
        """What is pending on a copied I-node is late."""
        return implies(all_of(s.copied(s.of(m)), self.kind(s, m, "pending")), s.late(m))

    @conjunct()
    def rooted(self, s: State) -> Term:
        """The root was published; a descriptor there was installed."""
        return all_of(s.pub(self.root(s)), implies(s.is_d, s.inst(s.root_d)))

    @conjunct("D")
    def proposed(self, s: State, d: Term) -> Term:
        """A descriptor moves the root to a newer generation."""
        proper = all_of(
            s.gen(s.nv(d)) > s.gen(s.ov(d)), s.pub(s.ov(d)), s.used(s.nv(d)), self.kind(s, s.exp(d), "committed")
        )
        return implies(negated(self.status(s, d, "unmade")), proper)

    @conjunct("D")
    def installed(self, s: State, d: Term) -> Term:
        """A descriptor that is installed and undecided is in the root; the generation of the root never falls."""
        inst = s.inst(d)
        return all_of(
            implies(inst, all_of(negated(self.status(s, d, "unmade")), self.generation(s) >= s.gen(s.ov(d)))),
            implies(negated(inst), self.status(s, d, "unmade", "UNDECIDED")),
            implies(all_of(inst, self.status(s, d, "UNDECIDED")), self.in_root(s, d)),
            implies(self.status(s, d, "COMMIT"), self.generation(s) >= s.gen(s.nv(d))),
        )

    @conjunct("D")
    def new_root(self, s: State, d: Term) -> Term:
        """The new root of an undecided descriptor is nobody's yet."""
        private = all_of(negated(s.pub(s.nv(d))), s.main(s.nv(d)) == s.exp(d))
        return implies(self.status(s, d, "UNDECIDED"), private)

    @conjunct("D", "D")
    def new_roots(self, s: State, d: Term, e: Term) -> Term:
        """Each undecided descriptor has a new root of its own."""
        both = all_of(self.status(s, d, "UNDECIDED"), self.status(s, e, "UNDECIDED"), s.nv(d) == s.nv(e))
        return implies(both, d == e)

    @conjunct("I")
    def used(self, s: State, i: Term) -> Term:
        """The main node of an I-node was installed there, if it is uncommitted."""
        m = s.main(i)
        made = all_of(self.kind(s, m, *MADE), implies(self.kind(s, m, "pending", "failed"), s.of(m) == i))
        return all_of(implies(s.pub(i), s.used(i)), implies(s.used(i), made))

    @conjunct("M")
    def pending(self, s: State, m: Term) -> Term:
        """A pending main node is that of its I-node; the old one of an uncommitted one is committed."""
        there = all_of(s.main(s.of(m)) == m, s.pub(s.of(m)))
        return all_of(
            implies(self.kind(s, m, "pending"), there),
            implies(self.kind(s, m, "pending", "failed"), self.kind(s, s.old(m), "committed")),
        )

    # what a thread knows
    @conjunct("T")
    def registers(self, s: State, t: Term) -> Term:
        """The main node in a register is of a kind that fits the access."""
        m = s.gm(t)
        public = ("GotMain", "GcasReadMain", "GcasCas", "CompleteRereadMain", *READING)
        reading = self.at(s, t, *READING)
        return all_of(
            s.sg(t) <= self.generation(s),
            implies(self.at(s, t, *public), s.pub(s.gi(t))),
            implies(self.at(s, t, "GotMain"), self.kind(s, m, "committed")),
            implies(reading, self.kind(s, m, *MADE)),
            implies(all_of(reading, negated(self.kind(s, m, "committed"))), s.of(m) == s.gi(t)),
            implies(self.at(s, t, "CompleteRollback"), self.kind(s, m, "failed")),
        )

    @conjunct("T")
    def own(self, s: State, t: Term) -> Term:
        """A thread that is about to install a main node has made it of a committed one."""
        m = s.n(t)
        mine = all_of(self.kind(s, m, "own"), s.of(m) == s.gi(t), self.kind(s, s.old(m), "committed"))
        return implies(self.at(s, t, "GcasCas"), mine)

    @conjunct("T", "T")
    def own_alone(self, s: State, t: Term, u: Term) -> Term:
        """Nobody else has it."""
        both = all_of(negated(t == u), self.at(s, t, "GcasCas"), self.at(s, u, "GcasCas"))
        return implies(both, negated(s.n(t) == s.n(u)))

    @conjunct("T")
    def answers(self, s: State, t: Term) -> Term:
        """A GCAS answers when its main node is decided."""
        m, own = s.n(t), self.reads_for(s, t, "gcas")
        busy = all_of(self.at(s, t, "CompleteRereadMain", "GcasReadPrevAfter", *READING), own)
        held = all_of(self.at(s, t, *READING), s.gm(t) == m)
        return all_of(
            implies(busy, self.kind(s, m, *MADE)),
            implies(all_of(busy, self.kind(s, m, "pending")), held),
            implies(self.at(s, t, "GcasReadPrevAfter"), own),
            implies(self.at(s, t, "GcasReadMain", "GcasReadPrev"), negated(own)),
        )

    @conjunct("T")
    def descriptors(self, s: State, t: Term) -> Term:
        """The descriptor in a register is as far as the access says."""
        d, a = s.rd(t), s.ad(t)
        reading = self.at(s, t, "GcasReadMain", "CompleteRereadMain", *READING)
        comparing = all_of(reading, self.reads_for(s, t, "decide"))
        completing = any_of(comparing, self.at(s, t, "RdcssReadStatus", "RdcssDecide", "RdcssSwing"))
        fresh = all_of(negated(s.inst(d)), self.status(s, d, "UNDECIDED"))
        return all_of(
            implies(completing, s.inst(d)),
            implies(comparing, s.gi(t) == s.ov(d)),
            implies(self.at(s, t, "RdcssSwing"), negated(self.status(s, d, "UNDECIDED"))),
            implies(self.at(s, t, "RdcssInstall"), fresh),
            implies(self.at(s, t, "CompleteAbortStatus", "CompleteAbortRoot"), s.inst(a)),
            implies(self.at(s, t, "CompleteAbortRoot"), negated(self.status(s, a, "UNDECIDED"))),
        )

    @conjunct("T", "T")
    def install_alone(self, s: State, t: Term, u: Term) -> Term:
        """Nobody else installs it."""
        both = all_of(negated(t == u), self.at(s, t, "RdcssInstall"), self.at(s, u, "RdcssInstall"))
        return implies(both, negated(s.rd(t) == s.rd(u)))
