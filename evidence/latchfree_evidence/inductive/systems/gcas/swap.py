"""The accesses of RDCSS: install a descriptor in the root, decide it, move the root; or abort somebody's."""

from __future__ import annotations

from latchfree_evidence.inductive.logic import Term, all_of, any_of, choose, negated
from latchfree_evidence.inductive.system import Case, State, action
from latchfree_evidence.inductive.systems.gcas.update import Update


class Swap(Update):
    """RDCSS, as in ``Rdcss.tla``."""

    @action("RdcssInstall", "T")
    def rdcss_install(self, s: State, p: Term) -> list[Case]:
        """Install the own descriptor by a CAS on the root."""
        here, d = self.at(s, p, "RdcssInstall"), s.rd(p)
        ok = all_of(negated(s.is_d), s.root_i == s.ov(d))
        q = s.but(is_d=True, root_d=d, inst=s.inst.set(d, True))
        if self.wrong == "compared before":
            installed = self.go(q, p, "RdcssDecide", want=s.want.set(p, True))
        else:
            installed = self.go(q, p, "RdcssReadStatus")
        return [
            Case("ok", all_of(here, ok), installed),
            Case("lost", all_of(here, negated(ok)), self.go(s, p, "idle")),
        ]

    @action("RdcssReadStatus", "T")
    def rdcss_read_status(self, s: State, p: Term) -> list[Case]:
        """Read the status; if undecided, the main node of the old root is read next."""
        here, d = self.at(s, p, "RdcssReadStatus"), s.rd(p)
        open_ = self.status(s, d, "UNDECIDED")
        reading = self.go(s, p, "GcasReadMain", gi=s.gi.set(p, s.ov(d)), ret=s.ret.set(p, "decide"))
        return [
            Case("undecided", all_of(here, open_), reading),
            Case("decided", all_of(here, negated(open_)), self.go(s, p, "RdcssSwing")),
        ]

    @action("RdcssDecide", "T")
    def rdcss_decide(self, s: State, p: Term) -> list[Case]:
        """Decide by a CAS on the status: here a snapshot is taken, though the main node was compared before."""
        here, d = self.at(s, p, "RdcssDecide"), s.rd(p)
        i, open_, want = s.ov(d), self.status(s, d, "UNDECIDED"), s.want(p)
        q = self.go(s, p, "RdcssSwing")
        if self.wrong == "moved before decided":
            mine = self.in_root(s, d)
            q = q.but(is_d=choose(mine, False, s.is_d), root_i=choose(all_of(mine, want), s.nv(d), s.root_i))
        pending = s.late.everywhere(lambda m: any_of(s.late(m), all_of(self.kind(s, m, "pending"), s.of(m) == i)))
        taken = q.but(
            status=s.status.set(d, "COMMIT"),
            pub=s.pub.set(s.nv(d), True),
            copied=s.copied.set(i, True),
            cmain=s.cmain.set(i, s.exp(d)),
            late=pending,
        )
        return [
            Case(
                "commit",
                all_of(here, open_, want),
                taken,
                old_root=all_of(self.in_root(s, d), self.root(s) == i),
                main_is_expected=self.settled(s, i) == s.exp(d),
                same_contents=self.settled(s, s.nv(d)) == self.settled(s, i),
            ),
            Case("abort", all_of(here, open_, negated(want)), q.but(status=s.status.set(d, "ABORT"))),
            Case("decided", all_of(here, negated(open_)), q),
        ]

    @action("RdcssSwing", "T")
    def rdcss_swing(self, s: State, p: Term) -> list[Case]:
        """Move the root by a CAS, from the descriptor to what its status says."""
        here, d = self.at(s, p, "RdcssSwing"), s.rd(p)
        ok, q = self.in_root(s, d), self.go(s, p, "idle")
        return [
            Case("ok", all_of(here, ok), q.but(is_d=False, root_i=self.outcome(s, d))),
            Case("lost", all_of(here, negated(ok)), q),
        ]

    @action("CompleteAbortStatus", "T")
    def complete_abort_status(self, s: State, p: Term) -> list[Case]:
        """Abort by a CAS on the status, from UNDECIDED."""
        here, d = self.at(s, p, "CompleteAbortStatus"), s.ad(p)
        open_ = True if self.wrong == "abort by a store" else self.status(s, d, "UNDECIDED")
        q = self.go(s, p, "CompleteAbortRoot")
        return [
            Case("ok", all_of(here, open_), q.but(status=s.status.set(d, "ABORT"))),
            Case("decided", all_of(here, negated(open_)), q),
        ]

    @action("CompleteAbortRoot", "T")
    def complete_abort_root(self, s: State, p: Term) -> list[Case]:
        """Move the root by a CAS, from the aborted descriptor; then its generation is known."""
        here, d = self.at(s, p, "CompleteAbortRoot"), s.ad(p)
        found, mine = self.outcome(s, d), self.in_root(s, d)
        same = s.gen(found) == s.gen(s.gi(p))
        return [
            *self.settle(s.but(is_d=False, root_i=found), p, "ok ", all_of(here, mine), same),
            *self.settle(s, p, "late ", all_of(here, negated(mine)), same),
        ]
