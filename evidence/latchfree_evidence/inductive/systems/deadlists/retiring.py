"""The client of deadlists, registering, and how a node that was unlinked finds its list."""

from __future__ import annotations

from typing import Any

from latchfree_evidence.inductive.logic import Term, all_of, any_of, choose, negated
from latchfree_evidence.inductive.system import Case, State, action, is_one_of, like
from latchfree_evidence.inductive.systems.deadlists.words import Words


class Retiring(Words):
    """Registering and retiring, as in ``Deadlists.tla``."""

    # ends of a search
    def search(self, s: State, p: Term) -> State:
        """Return the state of a thread that begins to search."""
        return self.go(s, p, "RetireScan", j=s.j.set(p, 1), found=s.found.set(p, False), s=s.s.set(p, 0))

    def none_sees(self, s: State, p: Term) -> State:
        """Return the state of a thread that gives its node to the epochs."""
        x = s.cur(p)
        return self.go(s, p, "RetireReadEpoch", place=s.place.set(x, "leaving"), after=s.after.set(p, "idle"))

    def decide(self, s: State, q: State, p: Term, guard: Term, label: str) -> list[Case]:
        """Return how a thread goes on that has found the newest snapshot in state `q`, or none."""
        none = any_of(negated(q.found(p)), q.s(p) < q.birth(q.cur(p)))
        return [
            Case(f"{label}none", all_of(guard, none), self.none_sees(q, p)),
            Case(f"{label}found", all_of(guard, negated(none)), self.go(q, p, "RetireHead")),
        ]

    def scanned(self, q: State, p: Term, guard: Term, label: str) -> list[Case]:
        """Return how a thread goes on that has looked at one slot, in the state `q` after that."""
        more = q.j(p) < self.slots
        known = q.but(
            kdeath=q.kdeath.set(p, q.death(q.cur(p))),
            kfound=q.kfound.set(p, q.found(p)),
            kk=q.kk.set(p, q.k(p)),
            ks=q.ks.set(p, q.s(p)),
        )
        following = self.go(q, p, "RetireScan", j=q.j.set(p, q.j(p) + 1))
        return [
            Case(f"{label}next", all_of(guard, more), following),
            *self.decide(q, known, p, all_of(guard, negated(more)), f"{label}last "),
        ]

    # the client
    @action("Invoke", "T", "PC")
    def invoke(self, s: State, p: Term, next_: Term) -> list[Case]:
        """Begin to take a snapshot, of the generation read, or to drop it."""
        here = self.at(s, p, "idle")
        take = self.go(s, p, "Register", s=s.s.set(p, s.generation))
        drop = self.go(s, p, "DropMark", k=s.k.set(p, s.hk(p)), s=s.s.set(p, s.held(p)))
        if self.wrong == "registered late":
            take = take.but(generation=s.generation + 1)
        return [
            Case("take", all_of(here, s.held(p) == 0, is_one_of(next_, "Register")), take),
            Case("drop", all_of(here, s.held(p) >= 1, is_one_of(next_, "DropMark")), drop),
        ]

    @action("Commit", "T")
    def commit(self, s: State, p: Term) -> list[Case]:
        """Move the root to the next generation, if it is still of the one that was registered."""
        here, g = self.at(s, p, "Commit"), s.s(p)
        late = self.wrong == "registered late"
        ok = True if late else s.generation == g
        known = {
            "kdeath": s.kdeath.set(p, g + 1),
            "kfound": s.kfound.set(p, True),
            "kk": s.kk.set(p, s.k(p)),
            "ks": s.ks.set(p, g),
        }
        taken = self.go(s, p, "idle", held=s.held.set(p, g), hk=s.hk.set(p, s.k(p)), **known)
        moved = taken if late else taken.but(generation=s.generation + 1)
        return [Case("ok", all_of(here, ok), moved), Case("lost", all_of(here, negated(ok)), self.go(s, p, "DropMark"))]

    @action("Unlink", "T", "X", "Int")
    def unlink(self, s: State, p: Term, x: Term, d: Term) -> list[Case]:
        """Unlink a node in a generation, which the root may have left by now."""
        may = all_of(self.at(s, p, "idle"), self.is_at(s, x, "linked"), s.birth(x) <= d, d <= s.generation)
        q = self.go(
            s,
            p,
            "RetireCount",
            death=s.death.set(x, d),
            place=s.place.set(x, "unlinked"),
            with_=s.with_.set(x, p),
            cur=s.cur.set(p, x),
        )
        return [Case("", may, q)]

    # registering
    @action("Register", "T", "K")
    def register(self, s: State, p: Term, k: Term) -> list[Case]:
        """Claim a free slot by a CAS; its list is then empty."""
        q = self.go(
            s,
            p,
            "RegisterCount",
            state=s.state.set(k, "CLAIMED"),
            head=s.head.set(k, "empty"),
            lgen=s.lgen.set(k, s.s(p)),
            k=s.k.set(p, k),
            user=s.user.set(k, p),
        )
        may = all_of(is_one_of(s.state(k), "FREE"), s.past(k) <= s.s(p))
        return [Case("", all_of(self.at(s, p, "Register"), may), q)]

    @action("RegisterCount", "T")
    def register_count(self, s: State, p: Term) -> list[Case]:
        """Add 1 to the number of registered snapshots."""
        n = s.registered + 1
        num, slot_at = s.num.set(s.k(p), n), s.slot_at.set(n, s.k(p))
        q = self.go(s, p, "RegisterPublish", registered=n, num=num, slot_at=slot_at)
        return [Case("", self.at(s, p, "RegisterCount"), q)]

    @action("RegisterPublish", "T")
    def register_publish(self, s: State, p: Term) -> list[Case]:
        """Exchange the generation of the slot."""
        q = self.go(s, p, "Commit", gen=s.gen.set(s.k(p), s.s(p)))
        return [Case("", self.at(s, p, "RegisterPublish"), q)]

    # retiring
    @action("RetireCount", "T")
    def retire_count(self, s: State, p: Term) -> list[Case]:
        """Read how many snapshots are registered."""
        here, none = self.at(s, p, "RetireCount"), s.registered == 0
        knows = any_of(self.wrong == "any memory", s.kdeath(p) == s.death(s.cur(p)))
        some = all_of(here, negated(none))
        return [
            Case("none", all_of(here, none), self.none_sees(s, p)),
            Case("search", all_of(some, negated(knows)), self.search(s, p)),
            Case("known none", all_of(some, knows, negated(s.kfound(p))), self.none_sees(s, p)),
            Case("known", all_of(some, knows, s.kfound(p)), self.go(s, p, "RetireKnown")),
        ]

    @action("RetireKnown", "T")
    def retire_known(self, s: State, p: Term) -> list[Case]:
        """Read the generation of the slot that was remembered."""
        here, there = self.at(s, p, "RetireKnown"), s.gen(s.kk(p)) == s.ks(p)
        recalled = s.but(k=s.k.set(p, s.kk(p)), s=s.s.set(p, s.ks(p)), found=s.found.set(p, True))
        return [
            *self.decide(s, recalled, p, all_of(here, there), ""),
            Case("gone", all_of(here, negated(there)), self.search(s, p)),
        ]

    @action("RetireScan", "T", "K")
    def retire_scan(self, s: State, p: Term, k: Term) -> list[Case]:
        """Read the generation of one slot."""
        here, g = all_of(self.at(s, p, "RetireScan"), s.nth(k) == s.j(p)), s.gen(k)
        newer = all_of(negated(g == 0), any_of(negated(s.found(p)), g > s.s(p)), g < s.death(s.cur(p)))
        look = self.go(s, p, "RetireScanHead", e=s.e.set(p, g))
        return [Case("newer", all_of(here, newer), look), *self.scanned(s, p, all_of(here, negated(newer)), "")]

    @action("RetireScanHead", "T", "K")
    def retire_scan_head(self, s: State, p: Term, k: Term) -> list[Case]:
        """Read the head of that slot: a closed list does not count."""
        here, shut = all_of(self.at(s, p, "RetireScanHead"), s.nth(k) == s.j(p)), self.closed(s, k)
        taken = s.but(k=s.k.set(p, k), s=s.s.set(p, s.e(p)), found=s.found.set(p, True))
        return [
            *self.scanned(s, p, all_of(here, shut), "closed "),
            *self.scanned(taken, p, all_of(here, negated(shut)), "open "),
        ]

    @action("RetireHead", "T")
    def retire_head(self, s: State, p: Term) -> list[Case]:
        """Read the head of the slot found."""
        here, k = self.at(s, p, "RetireHead"), s.k(p)
        read = {"hhead": s.hhead.set(p, s.head(k)), "hgen": s.hgen.set(p, s.lgen(k)), "htop": s.htop.set(p, s.top(k))}
        shut = self.closed(s, k)
        on = "RetirePush" if self.wrong == "no recheck" else "RetireCheck"
        return [
            Case("closed", all_of(here, shut), self.search(s, p)),
            Case("open", all_of(here, negated(shut)), self.go(s, p, on, **read)),
        ]

    @action("RetireCheck", "T")
    def retire_check(self, s: State, p: Term) -> list[Case]:
        """Read its generation again."""
        here, same = self.at(s, p, "RetireCheck"), s.gen(s.k(p)) == s.s(p)
        return [
            Case("same", all_of(here, same), self.go(s, p, "RetirePush")),
            Case("other", all_of(here, negated(same)), self.search(s, p)),
        ]

    def pushed(self, s: State, k: Term, x: Term) -> dict[str, Any]:
        """Return the changes when a node is put on a list."""
        return {
            "head": s.head.set(k, "node"),
            "top": s.top.set(k, x),
            "place": s.place.set(x, "listed"),
            "on": s.on.set(x, k),
            "last": s.last.set(x, s.lgen(k)),
        }

    @action("RetirePush", "T")
    def retire_push(self, s: State, p: Term) -> list[Case]:
        """Put the node on the list by a CAS of its head."""
        here, k = self.at(s, p, "RetirePush"), s.k(p)
        same = self.head_is(s, k, p)
        done = self.go(s, p, "idle", **self.pushed(s, k, s.cur(p)))
        return [Case("ok", all_of(here, same), done), Case("lost", all_of(here, negated(same)), self.search(s, p))]

    @action("RetireReadEpoch", "T")
    def retire_read_epoch(self, s: State, p: Term) -> list[Case]:
        """Read the epoch: what leaves is retired now."""
        place = s.place.everywhere(
            lambda x: choose(self.has(s, p, x, "leaving"), like(s.place(x), "retired"), s.place(x))
        )
        q = s.but(pc=s.pc.set(p, s.after(p)), place=place, j=s.j.set(p, 1))
        return [Case("", self.at(s, p, "RetireReadEpoch"), q)]
