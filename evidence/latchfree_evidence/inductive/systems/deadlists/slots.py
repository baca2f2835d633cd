"""The invariant of deadlists: nodes, slots, and who is at work on them."""

from __future__ import annotations

from latchfree_evidence.inductive.logic import Term, all_of, any_of, implies, negated
from latchfree_evidence.inductive.system import State, conjunct, is_one_of
from latchfree_evidence.inductive.systems.deadlists.dropping import Dropping
from latchfree_evidence.inductive.systems.deadlists.words import (
    CLOSING,
    MOVING,
    NOT_HOLDING,
    REGISTERING,
    RETIRING,
    SWEEPING,
)


class Slots(Dropping):
    """The conjuncts about nodes and slots."""

    @conjunct("X")
    def dead(self, s: State, x: Term) -> Term:
        """A node that is not linked has died, after its birth."""
        alive = implies(self.is_at(s, x, "linked"), s.death(x) == 0)
        return all_of(
            alive,
            implies(negated(self.is_at(s, x, "linked")), all_of(s.birth(x) <= s.death(x), s.death(x) <= s.generation)),
        )

    @conjunct("T")
    def in_hand(self, s: State, t: Term) -> Term:
        """Who retires has a node in hand."""
        return implies(self.at(s, t, *RETIRING), self.has(s, t, s.cur(t), "unlinked"))

    @conjunct("X")
    def in_place(self, s: State, x: Term) -> Term:
        """A node that is unlinked, or swept, is with a thread that is there."""
        t = s.with_(x)
        moves = any_of(
            self.at(s, t, *CLOSING, *MOVING),
            all_of(self.at(s, t, "RetireReadEpoch"), is_one_of(s.after(t), "SweepHead")),
        )
        return all_of(
            implies(self.is_at(s, x, "unlinked"), all_of(self.at(s, t, *RETIRING), s.cur(t) == x)),
            implies(self.is_at(s, x, "swept"), moves),
            implies(self.is_at(s, x, "listed"), is_one_of(s.head(s.on(x)), "node")),
        )

    @conjunct("T", "X")
    def kept(self, s: State, u: Term, x: Term) -> Term:
        """What is on a list, or was taken from one, no snapshot newer than that sees."""
        return all_of(
            implies(all_of(self.is_at(s, x, "listed"), self.sees(s, u, x)), s.held(u) <= s.lgen(s.on(x))),
            implies(all_of(self.is_at(s, x, "swept"), self.sees(s, u, x)), s.held(u) <= s.s(s.with_(x))),
        )

    # slots
    @conjunct("K")
    def in_order(self, s: State, k: Term) -> Term:
        """The words of a slot fit."""
        free, dropped = is_one_of(s.state(k), "FREE"), is_one_of(s.state(k), "DROPPED")
        shut, o = self.closed(s, k), s.owner
        return all_of(
            s.gen(k) >= 0,
            s.gen(k) <= s.generation,
            s.past(k) >= 0,
            s.past(k) <= s.generation,
            implies(s.gen(k) >= 1, s.past(k) <= s.gen(k)),
            implies(free, all_of(s.gen(k) == 0, shut, s.num(k) == 0)),
            implies(s.gen(k) >= 1, all_of(s.num(k) >= 1, any_of(shut, s.lgen(k) == s.gen(k)))),
            implies(negated(shut), all_of(s.lgen(k) >= 1, s.lgen(k) <= s.generation, s.past(k) <= s.lgen(k))),
            implies(all_of(dropped, negated(shut)), s.gen(k) >= 1),
            implies(dropped, s.gen(k) < s.generation),
            implies(all_of(shut, negated(free)), all_of(s.lock, self.at(s, o, *CLOSING), s.k(o) == k)),
            implies(is_one_of(s.head(k), "node"), all_of(self.is_at(s, s.top(k), "listed"), s.on(s.top(k)) == k)),
        )

    @conjunct("T")
    def registering(self, s: State, t: Term) -> Term:
        """A slot that is being registered, or marked, is its thread's."""
        k = s.k(t)
        mine = all_of(is_one_of(s.state(k), "CLAIMED"), s.user(k) == t, negated(self.closed(s, k)), s.lgen(k) == s.s(t))
        return all_of(
            implies(self.at(s, t, "Register", *REGISTERING), all_of(s.s(t) >= 1, s.s(t) <= s.generation)),
            implies(self.at(s, t, *REGISTERING), mine),
            implies(self.at(s, t, "RegisterCount", "RegisterPublish"), s.gen(k) == 0),
            implies(self.at(s, t, "RegisterCount"), s.num(k) == 0),
            implies(self.at(s, t, "RegisterPublish"), s.num(k) >= 1),
            implies(self.at(s, t, "Commit", "DropMark"), s.gen(k) == s.s(t)),
            implies(self.at(s, t, "DropMark"), s.s(t) < s.generation),
            implies(any_of(self.at(s, t, *NOT_HOLDING), self.returns(s, t)), s.held(t) == 0),
            s.generation >= 1,
        )

    @conjunct("T")
    def holding(self, s: State, t: Term) -> Term:
        """The slot of a snapshot that is held is its thread's, and its list is open."""
        k = s.hk(t)
        mine = all_of(
            is_one_of(s.state(k), "CLAIMED"),
            s.user(k) == t,
            negated(self.closed(s, k)),
            s.gen(k) == s.held(t),
            s.held(t) < s.generation,
            implies(self.at(s, t, "DropMark"), s.k(t) == k),
        )
        return all_of(s.held(t) >= 0, implies(s.held(t) >= 1, mine))

    @conjunct("K")
    def numbered(self, s: State, k: Term) -> Term:
        """A counted slot has a number, which leads to it."""
        return all_of(
            s.num(k) >= 0,
            s.registered >= 0,
            implies(s.num(k) >= 1, all_of(s.num(k) <= s.registered, s.slot_at(s.num(k)) == k)),
        )

    @conjunct("Int")
    def counted(self, s: State, n: Term) -> Term:
        """Each number is that of a slot."""
        return implies(all_of(n >= 1, n <= s.registered), s.num(s.slot_at(n)) == n)

    # who sweeps
    @conjunct("T")
    def sweeper(self, s: State, t: Term) -> Term:
        """Who sweeps has the lock; and what is being closed is dropped."""
        k, g = s.k(t), s.gen(s.k(t))
        back = self.returns(s, t)
        dropped = is_one_of(s.state(k), "DROPPED")
        return all_of(
            implies(self.at(s, t, "RetireReadEpoch"), is_one_of(s.after(t), "idle", "SweepScan", "SweepHead")),
            implies(any_of(self.at(s, t, *SWEEPING), back), all_of(s.lock, s.owner == t)),
            implies(self.at(s, t, "SweepClose"), all_of(dropped, negated(self.closed(s, k)))),
            implies(self.at(s, t, *CLOSING), all_of(dropped, self.closed(s, k))),
            implies(self.at(s, t, "SweepPrev", "SweepClear"), all_of(g == s.s(t), g >= 1)),
            implies(self.at(s, t, "SweepUncount", "SweepFree"), g == 0),
            implies(self.at(s, t, "SweepUncount"), s.num(k) >= 1),
            implies(self.at(s, t, "SweepFree"), s.num(k) == 0),
        )

    @conjunct("T")
    def older_there(self, s: State, t: Term) -> Term:
        """The older snapshot that a sweeper has found stays until its list is moved."""
        k = s.pk(t)
        there = all_of(s.gen(k) == s.pg(t), negated(self.closed(s, k)), s.pg(t) <= s.s(t))
        busy = any_of(self.at(s, t, *CLOSING), self.moves(s, t))
        return all_of(
            implies(busy, all_of(s.pg(t) >= 0, s.s(t) < s.generation, implies(s.pg(t) >= 1, there))),
            implies(all_of(self.at(s, t, *CLOSING), s.pg(t) >= 1), negated(k == s.k(t))),
            implies(self.moves(s, t), s.pg(t) >= 1),
        )

    @conjunct("T", "T")
    def none_between(self, s: State, t: Term, u: Term) -> Term:
        """It is the newest that is held."""
        below = all_of(s.held(u) >= 1, s.held(u) <= s.s(t))
        done = any_of(
            self.at(s, t, "SweepClear", "SweepUncount", "SweepFree"),
            self.moves(s, t),
            all_of(self.at(s, t, "SweepPrev"), s.nth(s.hk(u)) < s.j(t)),
        )
        return implies(all_of(below, done), s.held(u) <= s.pg(t))
