"""The weak ring (``RingWeak.tla``) for any number of threads, any capacity from two on, any number of operations.

It is a queue that is first in, first out, as the strict ring is, but a thread that finds an old turn answers at once.
So "full" is true, or a get has claimed the cell and is still at work there; "empty" is true, or a put has claimed the
first position and is still at work there.

Why: a turn is old since nobody has claimed that position, or since who has claimed it has not passed the turn. The
ghosts ``putter_of(k)`` and ``getter_of(k)`` are the threads that have claimed position k.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from latchfree_evidence.inductive.instance import Instance
from latchfree_evidence.inductive.logic import Term, all_of, any_of, implies
from latchfree_evidence.inductive.system import Case, Part, State, System, action, conjunct
from latchfree_evidence.inductive.systems import ring_strict
from latchfree_evidence.inductive.systems.ring import Ring


class RingWeak(Ring):
    """The weak ring: what seems full is answered to be full."""

    fields = {**Ring.fields, "putter_of": (("Int",), "T"), "getter_of": (("Int",), "T")}
    variants = {**Ring.variants, "full when late": "a put that finds a later turn says full, instead of trying again"}

    def puts(self, s: State, k: Term) -> Term:
        """Return whether the thread that has claimed a position to put at is at work."""
        t = s.putter_of(k)
        return all_of(self.at(s, t, "PutWrite", "PutPublish"), s.pos(t) == k)

    def gets(self, s: State, k: Term) -> Term:
        """Return whether the thread that has claimed a position to get from is at work."""
        t = s.getter_of(k)
        return all_of(self.at(s, t, "GetRead", "GetRelease"), s.pos(t) == k)

    def seems_full(self, s: State, t: Term) -> tuple[State, dict[str, Term]]:
        """Answer that the ring is full."""
        full = any_of(s.enq - s.deq == self.capacity, self.gets(s, s.pos(t) - self.capacity))
        return self.ends(s, t), {"is_full": full}

    def seems_empty(self, s: State, t: Term) -> tuple[State, dict[str, Term]]:
        """Answer that the ring is empty."""
        return self.ends(s, t), {"is_empty": any_of(s.enq == s.deq, self.puts(s, s.deq))}

    @action("PutReadTurn", "T")
    def put_read_turn(self, s: State, p: Term) -> list[Case]:
        """Read the sequence number of the cell."""
        cases = super().put_read_turn(s, p)
        if self.wrong == "full when late":
            after, claims = self.seems_full(s, p)
            cases[-1] = Case("late", cases[-1].guard, after, **claims)
        return cases

    @conjunct("Int")
    def unpublished(self, s: State, k: Term) -> Term:
        """Who has claimed a position to put at is there until it passes the turn."""
        return implies(all_of(s.deq <= k, k < s.enq, s.seq(s.cell(k)) == k), self.puts(s, k))

    @conjunct("Int")
    def unreleased(self, s: State, k: Term) -> Term:
        """Who has claimed a position to get from is there until it passes the turn."""
        return implies(all_of(self.in_window(s, k), k < s.deq, s.seq(s.cell(k)) == k + 1), self.gets(s, k))

    @conjunct("Int")
    def grown(self, s: State, k: Term) -> Term:
        """The sequence number of a cell is behind none of its positions that were claimed."""
        turn = s.seq(s.cell(k))
        return all_of(implies(k < s.enq, turn >= k), implies(k < s.deq, turn >= k + 1))

    def initially(self, s: State) -> dict[str, Part]:
        """Return those of both rings; no cell is behind."""
        return {**super().initially(s), "grown": Part("grown", ("Int",), lambda k: self.grown(s, k))}

    def starts(self, domains: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
        """Yield the initial state whose queue is empty."""
        for start in super().starts(domains):
            yield {**start, "putter_of": domains["T"][0], "getter_of": domains["T"][0]}


def small(system: System) -> Instance:
    """Return two threads at a ring of two cells."""
    return ring_strict.small(system)
