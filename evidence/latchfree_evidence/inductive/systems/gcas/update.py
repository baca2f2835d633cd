"""The accesses of GCAS: install a main node, commit or fail what is pending, roll back what has failed."""

from __future__ import annotations

from latchfree_evidence.inductive.logic import Term, all_of, negated
from latchfree_evidence.inductive.system import Case, State, action
from latchfree_evidence.inductive.systems.gcas.client import Client


class Update(Client):
    """GCAS, as in ``Gcas.tla``."""

    @action("GcasReadMain", "T")
    def gcas_read_main(self, s: State, p: Term) -> list[Case]:
        """Read main."""
        here, m = self.at(s, p, "GcasReadMain"), s.main(s.gi(p))
        done = True if self.wrong == "read uncommitted" else self.kind(s, m, "committed")
        rest = Case("pending", all_of(here, negated(done)), self.go(s, p, "GcasReadPrev", gm=s.gm.set(p, m)))
        return [*self.hand(s, p, m, "", all_of(here, done)), rest]

    @action("GcasReadPrev", "T")
    def gcas_read_prev(self, s: State, p: Term) -> list[Case]:
        """Read prev: it may be committed by now."""
        here, m = self.at(s, p, "GcasReadPrev"), s.gm(p)
        done = self.kind(s, m, "committed")
        rest = Case("pending", all_of(here, negated(done)), self.go(s, p, "CompleteReadPrev"))
        return [*self.hand(s, p, m, "", all_of(here, done)), rest]

    @action("GcasCas", "T")
    def gcas_cas(self, s: State, p: Term) -> list[Case]:
        """Install the own main node by a CAS; from now on it is pending."""
        here, i, m = self.at(s, p, "GcasCas"), s.gi(p), s.n(p)
        ok = s.main(i) == s.old(m)
        installed = self.go(
            s,
            p,
            "CompleteReadPrev",
            main=s.main.set(i, m),
            kind=s.kind.set(m, "pending"),
            gm=s.gm.set(p, m),
            ret=s.ret.set(p, "gcas"),
            late=s.late.set(m, self.generation(s) > s.gen(i)),
        )
        return [
            Case("ok", all_of(here, ok), installed),
            Case("lost", all_of(here, negated(ok)), self.go(s, p, "idle")),
        ]

    @action("GcasReadPrevAfter", "T")
    def gcas_read_prev_after(self, s: State, p: Term) -> list[Case]:
        """Read prev of the own main node: null means that the GCAS has succeeded."""
        decided = self.kind(s, s.n(p), "committed", "failed")
        return [Case("", self.at(s, p, "GcasReadPrevAfter"), self.go(s, p, "idle"), decided=decided)]

    def settle(self, s: State, p: Term, label: str, guard: Term, same: Term) -> list[Case]:
        """Return how a thread goes on that has compared the generation of the root, in the state after its access."""
        same = True if self.wrong == "no generation" else same
        return [
            Case(f"{label}same", all_of(guard, same), self.go(s, p, "CompleteCommit")),
            Case(f"{label}other", all_of(guard, negated(same)), self.go(s, p, "CompleteFail")),
        ]

    @action("CompleteReadPrev", "T")
    def complete_read_prev(self, s: State, p: Term) -> list[Case]:
        """Read prev; undo what has failed. A reader that commits nothing fails what is pending, and reads no root."""
        here, m = self.at(s, p, "CompleteReadPrev"), s.gm(p)
        done, failed, walks = self.kind(s, m, "committed"), self.kind(s, m, "failed"), self.reads_for(s, p, "walk")
        pending = all_of(here, negated(done), negated(failed))
        return [
            *self.hand(s, p, m, "", all_of(here, done)),
            Case("failed", all_of(here, failed), self.go(s, p, "CompleteRollback")),
            Case("pending", all_of(pending, negated(walks)), self.go(s, p, "CompleteReadRoot")),
            Case("walk pending", all_of(pending, walks), self.go(s, p, "CompleteFail")),
        ]

    @action("CompleteReadRoot", "T")
    def complete_read_root(self, s: State, p: Term) -> list[Case]:
        """Read the root and compare its generation; a descriptor there is aborted first."""
        here, g = self.at(s, p, "CompleteReadRoot"), s.gen(s.gi(p))
        if self.wrong == "no abort":
            return self.settle(s, p, "", here, self.generation(s) == g)
        aborting = self.go(s, p, "CompleteAbortStatus", ad=s.ad.set(p, s.root_d))
        return [
            *self.settle(s, p, "", all_of(here, negated(s.is_d)), s.gen(s.root_i) == g),
            Case("descriptor", all_of(here, s.is_d), aborting),
        ]

    @action("CompleteCommit", "T")
    def complete_commit(self, s: State, p: Term) -> list[Case]:
        """Commit the main node by a CAS on prev: here the abstract main node changes."""
        here, m = self.at(s, p, "CompleteCommit"), s.gm(p)
        ok = self.kind(s, m, "pending")
        committed = s.but(kind=s.kind.set(m, "committed"))
        lost = Case("lost", all_of(here, negated(ok)), self.go(s, p, "CompleteReadPrev"))
        return [*self.hand(committed, p, m, "ok ", all_of(here, ok)), lost]

    @action("CompleteFail", "T")
    def complete_fail(self, s: State, p: Term) -> list[Case]:
        """Fail the main node by a CAS on prev."""
        here, m = self.at(s, p, "CompleteFail"), s.gm(p)
        ok, q = self.kind(s, m, "pending"), self.go(s, p, "CompleteRereadMain")
        return [
            Case("ok", all_of(here, ok), q.but(kind=s.kind.set(m, "failed"))),
            Case("lost", all_of(here, negated(ok)), q),
        ]

    @action("CompleteRollback", "T")
    def complete_rollback(self, s: State, p: Term) -> list[Case]:
        """Put the old main node back by a CAS on main."""
        here, m, i = self.at(s, p, "CompleteRollback"), s.gm(p), s.gi(p)
        ok = s.main(i) == m
        back = s.but(main=s.main.set(i, s.old(m)))
        lost = Case("lost", all_of(here, negated(ok)), self.go(s, p, "CompleteRereadMain"))
        return [*self.hand(back, p, s.old(m), "ok ", all_of(here, ok)), lost]

    @action("CompleteRereadMain", "T")
    def complete_reread_main(self, s: State, p: Term) -> list[Case]:
        """Read main again."""
        here = self.at(s, p, "CompleteRereadMain")
        return [Case("", here, self.go(s, p, "CompleteReadPrev", gm=s.gm.set(p, s.main(s.gi(p)))))]
