"""The free list (``FreeList.tla``) for any number of threads, batches and operations.

The list in memory is the sequence ``stack(1), ..., stack(size)``, the last one first. A push appends to it at Push, a
pop takes and answers the last one at PopCas, and "empty" is true at PopRead: the list is an atomic stack. Each batch is
on the list once, or some thread's own, once. And the list is lock-free: a thread takes at most five accesses of its own
until somebody completes an operation (`FreeList.rank`).

Why there is no ABA: a version that is still that of the head was read with the batch that is still first (`versioned`),
and since then its link has not changed (`below`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from latchfree_evidence.inductive.instance import Instance
from latchfree_evidence.inductive.logic import Term, all_of, any_of, choose, implies, negated
from latchfree_evidence.inductive.system import Case, Part, State, System, action, conjunct, is_one_of


class FreeList(System):
    """The free list. ``own(t, k)`` is the k-th batch of a thread; ghosts are the sequence and where each batch is."""

    sorts = {"T": None, "B": None, "PC": ("idle", "PushRead", "Push", "PopRead", "PopLink", "PopCas")}
    constants = {"nil": "B"}
    fields = {
        # the head, with its version; what is below each batch
        "first": ((), "B"),
        "version": ((), "Int"),
        "link": (("B",), "B"),
        # registers, and the batches of each thread
        "pc": (("T",), "PC"),
        "lfirst": (("T",), "B"),
        "lversion": (("T",), "Int"),
        "lbelow": (("T",), "B"),
        "owns": (("T",), "Int"),
        "own": (("T", "Int"), "B"),
        # the sequence; where a batch is in it, 0 if it is not; else whose it is, and which one of them
        "size": ((), "Int"),
        "stack": (("Int",), "B"),
        "pos": (("B",), "Int"),
        "holder": (("B",), "T"),
        "rank_of": (("B",), "Int"),
    }
    variants = {
        "no version": "the head has no version",
        "pop by address": "a pop compares the batch of the head but not its version",
        "stale link": "a push that lost reads the head anew, but does not write the link anew",
    }
    theorem = ("listed", "owned", "not_lost")
    completes = ("Push:ok", "PopCas:ok", "PopRead:empty")
    rounds = 2

    nil: Any

    # words
    def at(self, s: State, t: Term, *names: str) -> Term:
        """Return whether a thread is at one of these accesses."""
        return is_one_of(s.pc(t), *names)

    def top(self, s: State, t: Term) -> Term:
        """Return the batch that a thread took last."""
        return s.own(t, s.owns(t))

    def is_head(self, s: State, t: Term) -> Term:
        """Return whether the head is as a thread has read it."""
        return all_of(s.first == s.lfirst(t), s.version == s.lversion(t))

    def goes_on(self, next_: Term, left: Term) -> Term:
        """Return whether a thread with so many batches may do this next: anything but push without one."""
        return any_of(is_one_of(next_, "idle", "PopRead"), all_of(is_one_of(next_, "PushRead"), left >= 1))

    def more(self, version: Term) -> Term:
        """Return the next version."""
        return version if self.wrong == "no version" else version + 1

    def read(self, s: State, t: Term, name: str, **changes: Any) -> State:
        """Return the state with a thread that has read the head."""
        head = {"lfirst": s.lfirst.set(t, s.first), "lversion": s.lversion.set(t, s.version)}
        return s.but(pc=s.pc.set(t, name), **head, **changes)

    def forget(self, s: State, t: Term, name: Term) -> State:
        """Return the state with a thread that has nothing in its registers."""
        registers = {
            "lfirst": s.lfirst.set(t, self.nil),
            "lversion": s.lversion.set(t, 0),
            "lbelow": s.lbelow.set(t, self.nil),
        }
        return s.but(pc=s.pc.set(t, name), **registers)

    # the actions; what a thread does after an operation is free, so it is a parameter of the last access
    @action("PushRead", "T")
    def push_read(self, s: State, p: Term) -> list[Case]:
        """Read the head; write it into the own batch as the link."""
        return [Case("", self.at(s, p, "PushRead"), self.read(s, p, "Push", link=s.link.set(self.top(s, p), s.first)))]

    @action("Push", "T", "PC")
    def push(self, s: State, p: Term, next_: Term) -> list[Case]:
        """Put the own batch first by a CAS: here a push takes effect."""
        here, ok, b = self.at(s, p, "Push"), self.is_head(s, p), self.top(s, p)
        done = self.forget(s, p, next_).but(
            first=b,
            version=self.more(s.lversion(p)),
            owns=s.owns.set(p, s.owns(p) - 1),
            size=s.size + 1,
            stack=s.stack.set(s.size + 1, b),
            pos=s.pos.set(b, s.size + 1),
        )
        lost = self.read(s, p, "Push") if self.wrong == "stale link" else self.forget(s, p, "PushRead")
        return [
            Case("ok", all_of(here, ok, self.goes_on(next_, s.owns(p) - 1)), done, was_not_listed=s.pos(b) == 0),
            Case("lost", all_of(here, negated(ok)), lost),
        ]

    @action("PopRead", "T", "PC")
    def pop_read(self, s: State, p: Term, next_: Term) -> list[Case]:
        """Read the head; empty if there is none."""
        here, none = self.at(s, p, "PopRead"), s.first == self.nil
        may = self.goes_on(next_, s.owns(p))
        return [
            Case("empty", all_of(here, none, may), self.forget(s, p, next_), is_empty=s.size == 0),
            Case("some", all_of(here, negated(none)), self.read(s, p, "PopLink")),
        ]

    @action("PopLink", "T")
    def pop_link(self, s: State, p: Term) -> list[Case]:
        """Read the link of the first batch, which may be in use by now."""
        below = s.lbelow.set(p, s.link(s.lfirst(p)))
        return [Case("", self.at(s, p, "PopLink"), s.but(pc=s.pc.set(p, "PopCas"), lbelow=below))]

    @action("PopCas", "T", "PC")
    def pop_cas(self, s: State, p: Term, next_: Term) -> list[Case]:
        """Put the batch below first by a CAS: here a pop takes effect."""
        here, b, more = self.at(s, p, "PopCas"), s.lfirst(p), s.owns(p) + 1
        ok = s.first == b if self.wrong == "pop by address" else self.is_head(s, p)
        done = self.forget(s, p, next_).but(
            first=s.lbelow(p),
            version=self.more(s.version),
            owns=s.owns.set(p, more),
            own=s.own.set(p, more, b),
            size=s.size - 1,
            pos=s.pos.set(b, 0),
            holder=s.holder.set(b, p),
            rank_of=s.rank_of.set(b, more),
        )
        last = all_of(s.size >= 1, b == s.stack(s.size))
        return [
            Case("ok", all_of(here, ok, self.goes_on(next_, more)), done, answers_the_last=last),
            Case("lost", all_of(here, negated(ok)), self.forget(s, p, "PopRead")),
        ]

    # the theorem
    @conjunct("B")
    def listed(self, s: State, b: Term) -> Term:
        """A batch on the list is where it is said to be."""
        return implies(negated(s.pos(b) == 0), all_of(s.pos(b) >= 1, s.pos(b) <= s.size, s.stack(s.pos(b)) == b))

    @conjunct("T", "Int")
    def owned(self, s: State, t: Term, k: Term) -> Term:
        """A thread's batch is nowhere else."""
        b = s.own(t, k)
        mine = all_of(negated(b == self.nil), s.pos(b) == 0, s.holder(b) == t, s.rank_of(b) == k)
        return implies(all_of(k >= 1, k <= s.owns(t)), mine)

    @conjunct("B")
    def not_lost(self, s: State, b: Term) -> Term:
        """A batch that is not on the list is some thread's."""
        t, k = s.holder(b), s.rank_of(b)
        mine = all_of(k >= 1, k <= s.owns(t), s.own(t, k) == b)
        return implies(all_of(negated(b == self.nil), s.pos(b) == 0), mine)

    # why
    @conjunct()
    def headed(self, s: State) -> Term:
        """The head is the last one of the sequence."""
        return all_of(s.size >= 0, s.first == choose(s.size == 0, self.nil, s.stack(s.size)), s.pos(self.nil) == 0)

    @conjunct("Int")
    def chained(self, s: State, k: Term) -> Term:
        """Each batch of the sequence is linked to the one before."""
        b = s.stack(k)
        linked = s.link(b) == choose(k == 1, self.nil, s.stack(k - 1))
        return implies(all_of(k >= 1, k <= s.size), all_of(negated(b == self.nil), s.pos(b) == k, linked))

    @conjunct("T")
    def counted(self, s: State, t: Term) -> Term:
        """Who pushes has a batch."""
        return all_of(s.owns(t) >= 0, implies(self.at(s, t, "Push", "PushRead"), s.owns(t) >= 1))

    @conjunct("T")
    def versioned(self, s: State, t: Term) -> Term:
        """The version read is not newer than the head's; if it is the same, so is the batch read."""
        same = implies(s.lversion(t) == s.version, s.lfirst(t) == s.first)
        return implies(self.at(s, t, "Push", "PopLink", "PopCas"), all_of(s.lversion(t) <= s.version, same))

    @conjunct("T")
    def popping(self, s: State, t: Term) -> Term:
        """A pop that goes on has found a batch."""
        return implies(self.at(s, t, "PopLink", "PopCas"), negated(s.lfirst(t) == self.nil))

    @conjunct("T")
    def linked(self, s: State, t: Term) -> Term:
        """A push that can succeed has written the link."""
        current = all_of(self.at(s, t, "Push"), s.lversion(t) == s.version)
        return implies(current, s.link(self.top(s, t)) == s.lfirst(t))

    @conjunct("T")
    def below(self, s: State, t: Term) -> Term:
        """A pop that can succeed has read the link that is still there."""
        current = all_of(self.at(s, t, "PopCas"), s.lversion(t) == s.version)
        return implies(current, s.lbelow(t) == s.link(s.lfirst(t)))

    def rank(self, s: State, thread: Term) -> Term:
        """Return how many accesses a thread can take until somebody completes an operation: 5 at most."""
        stale = negated(self.is_head(s, thread))
        ranks = {
            "PushRead": 2,
            "Push": choose(stale, 3, 1),
            "PopRead": 3,
            "PopLink": choose(stale, 5, 2),
            "PopCas": choose(stale, 4, 1),
        }
        found: Term = 0
        for name, value in ranks.items():
            found = choose(self.at(s, thread, name), value, found)
        return found

    def initially(self, s: State) -> dict[str, Part]:
        """All batches are on the list; every thread is about to pop, or does nothing."""

        def idle(t: Term) -> Term:
            empty = all_of(s.lversion(t) == 0, s.lfirst(t) == self.nil, s.lbelow(t) == self.nil)
            return all_of(self.at(s, t, "idle", "PopRead"), s.owns(t) == 0, empty)

        def all_listed(b: Term) -> Term:
            return all_of(self.listed(s, b), implies(negated(b == self.nil), negated(s.pos(b) == 0)))

        return {
            "head": Part("head", (), lambda: all_of(s.version == 0, self.headed(s))),
            "idle": Part("idle", ("T",), idle),
            "chained": Part("chained", ("Int",), lambda k: self.chained(s, k)),
            "listed": Part("listed", ("B",), all_listed),
        }

    def starts(self, domains: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
        """Yield the state in which every thread is about to pop."""
        batches = len(domains["B"]) - 1
        link = {b: (b + 1) % (batches + 1) for b in range(1, batches + 1)}
        registers = {t: {"pc": "PopRead", "first": 0, "version": 0, "below": 0, "own": ()} for t in domains["T"]}
        yield concrete(1, 0, link, registers)


def concrete(first: int, version: int, link: Mapping[int, int], registers: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields for a head, the links and the registers of the specification; the ghosts follow from them."""
    chain: list[int] = []
    b = first
    while b and len(chain) <= len(link):
        chain.append(b)
        b = link[b]
    stack = dict(enumerate(reversed(chain), 1))
    mine = {(t, k): b for t, own in registers.items() for k, b in enumerate(reversed(own["own"]), 1)}
    return {
        "first": first,
        "version": version,
        "link": {(b,): below for b, below in link.items()},
        "pc": {(t,): own["pc"] for t, own in registers.items()},
        "lfirst": {(t,): own["first"] for t, own in registers.items()},
        "lversion": {(t,): own["version"] for t, own in registers.items()},
        "lbelow": {(t,): own["below"] for t, own in registers.items()},
        "owns": {(t,): len(own["own"]) for t, own in registers.items()},
        "own": mine,
        "size": len(chain),
        "stack": {(k,): b for k, b in stack.items()},
        "pos": {(b,): k for k, b in stack.items()},
        "holder": {(b,): t for (t, _), b in mine.items()},
        "rank_of": {(b,): k for (_, k), b in mine.items()},
    }


def small(system: System) -> Instance:
    """Return three threads and batches: one pushes and pops, two pop once. An ABA needs a third that keeps one."""

    def once(p: str, next_: str) -> bool:
        return p == "v" or next_ == "idle"

    return Instance(
        system,
        {"T": ("u", "v", "w"), "B": range(4), "Int": range(5)},
        constants={"nil": 0},
        only={"Push": once, "PopRead": once, "PopCas": once},
        bound=lambda s: s.version <= (4 if system.wrong else 3),
    )
