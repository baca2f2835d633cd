"""Dropping a snapshot: its list is closed, and moved to the next older one."""

from __future__ import annotations

from latchfree_evidence.inductive.logic import Term, all_of, choose, implies, negated
from latchfree_evidence.inductive.system import Case, Part, State, action, is_one_of, like
from latchfree_evidence.inductive.systems.deadlists.retiring import Retiring


class Dropping(Retiring):
    """Dropping, as in ``Deadlists.tla``."""

    @action("DropMark", "T")
    def drop_mark(self, s: State, p: Term) -> list[Case]:
        """Mark the slot as dropped."""
        q = self.go(s, p, "SweepLock", state=s.state.set(s.k(p), "DROPPED"), held=s.held.set(p, 0))
        return [Case("", self.at(s, p, "DropMark"), q)]

    @action("SweepLock", "T")
    def sweep_lock(self, s: State, p: Term) -> list[Case]:
        """Take the lock by a CAS, or leave the mark to its holder."""
        here = self.at(s, p, "SweepLock")
        taken = self.go(s, p, "SweepScan", lock=True, owner=p, j=s.j.set(p, 1))
        return [
            Case("taken", all_of(here, s.lock), self.go(s, p, "idle")),
            Case("ok", all_of(here, negated(s.lock)), taken),
        ]

    @action("SweepScan", "T", "K")
    def sweep_scan(self, s: State, p: Term, k: Term) -> list[Case]:
        """Read the state of one slot."""
        here, dropped = all_of(self.at(s, p, "SweepScan"), s.nth(k) == s.j(p)), is_one_of(s.state(k), "DROPPED")
        rest, more = all_of(here, negated(dropped)), s.j(p) < self.slots
        return [
            Case("dropped", all_of(here, dropped), self.go(s, p, "SweepClose", k=s.k.set(p, k))),
            Case("next", all_of(rest, more), s.but(j=s.j.set(p, s.j(p) + 1))),
            Case("last", all_of(rest, negated(more)), self.go(s, p, "SweepUnlock")),
        ]

    @action("SweepClose", "T")
    def sweep_close(self, s: State, p: Term) -> list[Case]:
        """Exchange the head for a closed one, and take the list."""
        k = s.k(p)

        def taken(x: Term) -> Term:
            return all_of(self.is_at(s, x, "listed"), s.on(x) == k)

        q = self.go(
            s,
            p,
            "SweepPrev",
            head=s.head.set(k, "closed"),
            lgen=s.lgen.set(k, 0),
            place=s.place.everywhere(lambda x: choose(taken(x), like(s.place(x), "swept"), s.place(x))),
            with_=s.with_.everywhere(lambda x: choose(taken(x), p, s.with_(x))),
            s=s.s.set(p, s.gen(k)),
            j=s.j.set(p, 1),
            pg=s.pg.set(p, 0),
        )
        return [Case("", self.at(s, p, "SweepClose"), q)]

    @action("SweepPrev", "T", "K")
    def sweep_prev(self, s: State, p: Term, k: Term) -> list[Case]:
        """Read the generation of one slot, in search of the newest snapshot that is not newer."""
        here, g = all_of(self.at(s, p, "SweepPrev"), s.nth(k) == s.j(p)), s.gen(k)
        not_newer = True if self.wrong == "moved to newer" else g <= s.s(p)
        better = all_of(negated(k == s.k(p)), not_newer, g > s.pg(p))
        q = s.but(
            pk=s.pk.everywhere(lambda t: choose(all_of(t == p, better), k, s.pk(t))),
            pg=s.pg.everywhere(lambda t: choose(all_of(t == p, better), g, s.pg(t))),
        )
        more = s.j(p) < self.slots
        return [
            Case("next", all_of(here, more), q.but(j=s.j.set(p, s.j(p) + 1))),
            Case("last", all_of(here, negated(more)), self.go(q, p, "SweepClear")),
        ]

    @action("SweepClear", "T")
    def sweep_clear(self, s: State, p: Term) -> list[Case]:
        """Clear the generation of the slot."""
        k = s.k(p)
        q = self.go(s, p, "SweepUncount", gen=s.gen.set(k, 0), past=s.past.set(k, s.gen(k)))
        return [Case("", self.at(s, p, "SweepClear"), q)]

    @action("SweepUncount", "T")
    def sweep_uncount(self, s: State, p: Term) -> list[Case]:
        """Subtract 1 from the number; the slot with the last number gets the one that becomes free."""
        k, n = s.k(p), s.registered
        last, hole = s.slot_at(n), s.num(k)
        num = s.num.set(last, hole).set(k, 0)
        q = self.go(s, p, "SweepFree", registered=n - 1, num=num, slot_at=s.slot_at.set(hole, last))
        return [Case("", self.at(s, p, "SweepUncount"), q)]

    @action("SweepFree", "T", "X", "X")
    def sweep_free(self, s: State, p: Term, x: Term, y: Term) -> list[Case]:
        """Free the slot. Nodes that the older snapshot sees stay in hand (as `x`), others leave (as `y`)."""
        here = self.at(s, p, "SweepFree")

        def swept(z: Term) -> Term:
            return self.has(s, p, z, "swept")

        def stays(z: Term) -> Term:
            return False if self.wrong == "drops all" else all_of(swept(z), s.birth(z) <= s.pg(p))

        def leaves(z: Term) -> Term:
            return all_of(swept(z), negated(stays(z)))

        q = s.but(
            state=s.state.set(s.k(p), "FREE"),
            place=s.place.everywhere(lambda z: choose(leaves(z), like(s.place(z), "leaving"), s.place(z))),
            j=s.j.set(p, 1),
        )
        none_leaves = Part("none leaves", ("X",), lambda z: negated(leaves(z)))
        none_stays = Part("none stays", ("X",), lambda z: negated(stays(z)))
        some = self.go(q, p, "RetireReadEpoch")
        return [
            Case("both", all_of(here, stays(x), leaves(y)), some.but(after=s.after.set(p, "SweepHead"))),
            Case("all stay", all_of(here, stays(x)), self.go(q, p, "SweepHead"), given=none_leaves),
            Case("all leave", all_of(here, leaves(y)), some.but(after=s.after.set(p, "SweepScan")), given=none_stays),
            Case("empty", here, self.go(q, p, "SweepScan"), given=Part("none", ("X",), lambda z: negated(swept(z)))),
        ]

    @action("SweepHead", "T")
    def sweep_head(self, s: State, p: Term) -> list[Case]:
        """Read the head of the older snapshot's list, which nobody else can close."""
        k = s.pk(p)
        read = {"hhead": s.hhead.set(p, s.head(k)), "hgen": s.hgen.set(p, s.lgen(k)), "htop": s.htop.set(p, s.top(k))}
        return [Case("", self.at(s, p, "SweepHead"), self.go(s, p, "SweepMove", **read))]

    @action("SweepMove", "T", "X", "X")
    def sweep_move(self, s: State, p: Term, x: Term, y: Term) -> list[Case]:
        """Put node `x` on that list by a CAS of its head; `y` is another one in hand."""
        here, k = all_of(self.at(s, p, "SweepMove"), self.has(s, p, x, "swept")), s.pk(p)
        same = self.head_is(s, k, p)
        moved = s.but(**self.pushed(s, k, x), j=s.j.set(p, 1))
        other = all_of(self.has(s, p, y, "swept"), negated(y == x))
        alone = Part("alone", ("X",), lambda z: implies(self.has(s, p, z, "swept"), z == x))
        return [
            Case("more", all_of(here, same, other), self.go(moved, p, "SweepHead")),
            Case("last", all_of(here, same), self.go(moved, p, "SweepScan"), given=alone),
            Case("lost", all_of(here, negated(same)), self.go(s, p, "SweepHead")),
        ]

    @action("SweepUnlock", "T")
    def sweep_unlock(self, s: State, p: Term) -> list[Case]:
        """Give the lock back."""
        return [Case("", self.at(s, p, "SweepUnlock"), self.go(s, p, "SweepRecheck", lock=False, j=s.j.set(p, 1)))]

    @action("SweepRecheck", "T", "K")
    def sweep_recheck(self, s: State, p: Term, k: Term) -> list[Case]:
        """Read the state of one slot again."""
        here, dropped = all_of(self.at(s, p, "SweepRecheck"), s.nth(k) == s.j(p)), is_one_of(s.state(k), "DROPPED")
        rest, more = all_of(here, negated(dropped)), s.j(p) < self.slots
        return [
            Case("dropped", all_of(here, dropped), self.go(s, p, "SweepLock")),
            Case("next", all_of(rest, more), s.but(j=s.j.set(p, s.j(p) + 1))),
            Case("last", all_of(rest, negated(more)), self.go(s, p, "idle")),
        ]
