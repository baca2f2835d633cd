"""The invariant of deadlists: what a search knows while snapshots come and go."""

from __future__ import annotations

from latchfree_evidence.inductive.logic import Term, all_of, any_of, implies, negated
from latchfree_evidence.inductive.system import State, conjunct, is_one_of
from latchfree_evidence.inductive.systems.deadlists.slots import Slots
from latchfree_evidence.inductive.systems.deadlists.words import PUSHING, SEARCHING


class Searches(Slots):
    """The conjuncts about searches."""

    @conjunct("T")
    def searching(self, s: State, t: Term) -> Term:
        """The registers of a search are in their ranges."""
        d = s.death(s.cur(t))
        turns = ("RetireScan", "RetireScanHead", "SweepScan", "SweepPrev", "SweepRecheck")
        return all_of(
            implies(self.at(s, t, *turns), all_of(s.j(t) >= 1, s.j(t) <= self.slots)),
            implies(all_of(self.at(s, t, *SEARCHING), s.found(t)), all_of(s.s(t) >= 1, s.s(t) < d)),
            implies(
                self.at(s, t, "RetireScanHead"), all_of(s.e(t) >= 1, s.e(t) < d, implies(s.found(t), s.s(t) < s.e(t)))
            ),
            implies(self.at(s, t, *PUSHING), all_of(s.s(t) >= 1, s.s(t) < d)),
            implies(self.at(s, t, "RetireKnown"), all_of(s.kdeath(t) == d, s.kfound(t))),
            s.kdeath(t) <= s.generation,
            implies(s.kfound(t), all_of(s.ks(t) >= 1, s.ks(t) < s.kdeath(t))),
        )

    @conjunct("T", "T")
    def searched(self, s: State, t: Term, u: Term) -> Term:
        """Of the snapshots that see the node a search has found the newest so far."""
        older = all_of(s.held(u) >= 1, s.held(u) < s.death(s.cur(t)))
        passed = s.nth(s.hk(u)) < s.j(t)
        there = s.nth(s.hk(u)) == s.j(t)
        best = all_of(s.found(t), s.held(u) <= s.s(t))
        return implies(
            older,
            all_of(
                implies(all_of(self.at(s, t, *SEARCHING), passed), best),
                implies(all_of(self.at(s, t, "RetireScanHead"), there), s.held(u) <= s.e(t)),
                implies(self.at(s, t, *PUSHING), s.held(u) <= s.s(t)),
            ),
        )

    @conjunct("T", "T")
    def known(self, s: State, t: Term, u: Term) -> Term:
        """What a search found stays the newest below its death."""
        below = all_of(s.held(u) >= 1, s.held(u) < s.kdeath(t))
        return implies(below, all_of(s.kfound(t), s.held(u) <= s.ks(t)))

    @conjunct("T")
    def aimed(self, s: State, t: Term) -> Term:
        """If the head is the same at the push, it is that of the snapshot found: slots and nodes go one way."""
        k, x, g = s.k(t), s.htop(t), s.hgen(t)
        node, read = is_one_of(s.hhead(t), "node"), self.at(s, t, "RetireCheck", "RetirePush")
        opened, push = negated(self.closed(s, k)), self.at(s, t, "RetirePush")
        reached = any_of(s.past(k) >= g, s.gen(k) >= g)
        found = any_of(s.past(k) >= s.s(t), s.gen(k) >= s.s(t))
        return all_of(
            implies(read, negated(is_one_of(s.hhead(t), "closed"))),
            implies(all_of(read, node), negated(self.is_at(s, x, "linked", "unlinked"))),
            implies(all_of(read, node), s.last(x) <= g),
            implies(all_of(read, opened), s.lgen(k) >= g),
            implies(all_of(read, self.closed(s, k)), reached),
            implies(push, g <= s.s(t)),
            implies(all_of(push, opened), s.lgen(k) >= s.s(t)),
            implies(all_of(push, self.closed(s, k)), found),
            implies(self.at(s, t, *PUSHING), s.birth(s.cur(t)) <= s.s(t)),
        )

    @conjunct("X")
    def downwards(self, s: State, x: Term) -> Term:
        """A node goes from list to list of an older generation."""
        return all_of(
            implies(self.is_at(s, x, "listed"), s.last(x) == s.lgen(s.on(x))),
            implies(self.is_at(s, x, "swept"), all_of(s.last(x) == s.s(s.with_(x)), s.last(x) < s.death(x))),
            implies(all_of(self.is_at(s, x, "swept"), self.moves(s, s.with_(x))), s.birth(x) <= s.pg(s.with_(x))),
        )
