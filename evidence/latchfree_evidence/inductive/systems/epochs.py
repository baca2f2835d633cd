"""Epochs (``Epochs.tla``) for any number of threads, nodes and epochs: what a pinned thread may hold is not freed.

The client is the most general one: between pin and unpin a thread links free nodes, unlinks linked ones and retires
what it has unlinked, as often as it likes. It may have reached every node that was linked at some instant since its pin
was published (`reached`); none of those is free. And a node is in one place: linked, free, or with the thread that has
unlinked it. Addresses are used again at once.

Why: the epoch at the publication of a pin (`published`), which may be newer than the pin itself, is at most one behind
the epoch. Who has looked at the pin of a thread cannot move the epoch beyond that. A node that the thread has reached
is retired in that epoch at the earliest, so two more are never begun while it is pinned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from latchfree_evidence.inductive.instance import Instance
from latchfree_evidence.inductive.logic import Term, all_of, any_of, choose, implies, negated
from latchfree_evidence.inductive.system import Case, Part, State, System, action, conjunct, is_one_of

PINNED = ("work", "RetireReadEpoch", "Unpin")


class Epochs(System):
    """Epochs. Ghosts: the epoch when a pin was published, and what was linked since."""

    sorts = {
        "T": None,
        "X": None,
        "PC": ("idle", "PinLoad", "PinPublish", *PINNED, "AdvanceLoad", "AdvanceScan", "AdvanceCas"),
    }
    constants = {"threads": "Int"}
    fields = {
        "epoch": ((), "Int"),
        "pin": (("T",), "Int"),
        "buffer": (("T",), "Int"),
        "linked": (("X",), "Bool"),
        "freed": (("X",), "Bool"),
        # registers: the epoch read, the thread to look at next, the nodes to retire; what was retired, and when
        "pc": (("T",), "PC"),
        "e": (("T",), "Int"),
        "j": (("T",), "Int"),
        "limb": (("T", "X"), "Bool"),
        "limbo": (("T", "X"), "Bool"),
        "since": (("T", "X"), "Int"),
        "published": (("T",), "Int"),
        "reached": (("T", "X"), "Bool"),
        # the order in which threads are looked at
        "place": (("T",), "Int"),
    }
    rigid = ("place",)
    variants = {
        "grace of one": "a node is free one epoch after it was retired",
        "pin by store": "the pin is a plain store, which others see later",
        "early epoch": "a node is retired in the epoch that is pinned, not in one read after it was unlinked",
        "no scan": "the epoch moves without a look at the pins",
        "skip one": "the first thread is not looked at",
        "scan before": "a pin of the epoch before counts as one of the epoch",
    }
    theorem = ("safe", "in_one_place")
    never = ("Drain",)

    threads: Any

    def at(self, s: State, t: Term, *names: str) -> Term:
        """Return whether a thread is at one of these accesses."""
        return is_one_of(s.pc(t), *names)

    def pinned(self, s: State, t: Term) -> Term:
        """Return whether a thread is between pin and unpin."""
        return self.at(s, t, *PINNED)

    def reclaimed(self, s: State, p: Term, epoch: Term) -> dict[str, Any]:
        """Return the changes when a thread frees, in an epoch, what it has retired long enough ago."""
        grace = 1 if self.wrong == "grace of one" else 2

        def old(x: Term) -> Term:
            return all_of(s.limbo(p, x), s.since(p, x) + grace <= epoch)

        return {
            "freed": s.freed.everywhere(lambda x: any_of(s.freed(x), old(x))),
            "limbo": s.limbo.everywhere(lambda t, x: all_of(s.limbo(t, x), negated(all_of(t == p, old(x))))),
        }

    # the client
    @action("Invoke", "T", "PC")
    def invoke(self, s: State, p: Term, next_: Term) -> list[Case]:
        """Begin to use the structure, or to move the epoch."""
        may = all_of(self.at(s, p, "idle"), is_one_of(next_, "PinLoad", "AdvanceLoad"))
        return [Case("", may, s.but(pc=s.pc.set(p, next_)))]

    @action("Link", "T", "X")
    def link(self, s: State, p: Term, x: Term) -> list[Case]:
        """Publish a pointer to a node that was free: whoever is pinned may reach it."""
        q = s.but(
            freed=s.freed.set(x, False),
            linked=s.linked.set(x, True),
            reached=s.reached.everywhere(lambda t, y: any_of(s.reached(t, y), all_of(y == x, self.pinned(s, t)))),
        )
        return [Case("", all_of(self.at(s, p, "work"), s.freed(x)), q)]

    @action("Unlink", "T", "X")
    def unlink(self, s: State, p: Term, x: Term) -> list[Case]:
        """Remove the last pointer to a node, which is now to be retired."""
        q = s.but(linked=s.linked.set(x, False), limb=s.limb.set(p, x, True))
        return [Case("", all_of(self.at(s, p, "work"), s.linked(x)), q)]

    @action("Leave", "T", "PC")
    def leave(self, s: State, p: Term, next_: Term) -> list[Case]:
        """Retire what is to be retired, or return."""
        may = all_of(self.at(s, p, "work"), is_one_of(next_, "RetireReadEpoch", "Unpin"))
        return [Case("", may, s.but(pc=s.pc.set(p, next_)))]

    # pins
    @action("PinLoad", "T")
    def pin_load(self, s: State, p: Term) -> list[Case]:
        """Read the epoch."""
        return [Case("", self.at(s, p, "PinLoad"), s.but(e=s.e.set(p, s.epoch), pc=s.pc.set(p, "PinPublish")))]

    @action("PinPublish", "T")
    def pin_publish(self, s: State, p: Term) -> list[Case]:
        """Exchange the pin: from now on the thread may reach what is linked."""
        seen = "buffer" if self.wrong == "pin by store" else "pin"
        q = s.but(
            **{seen: getattr(s, seen).set(p, s.e(p))},
            e=s.e.set(p, 0),
            pc=s.pc.set(p, "work"),
            published=s.published.set(p, s.epoch),
            reached=s.reached.everywhere(lambda t, x: choose(t == p, s.linked(x), s.reached(t, x))),
        )
        return [Case("", self.at(s, p, "PinPublish"), q)]

    @action("Drain", "T")
    def drain(self, s: State, p: Term) -> list[Case]:
        """Let others see a pin that was stored; an exchange leaves nothing to be seen later."""
        return [Case("", negated(s.buffer(p) == 0), s.but(pin=s.pin.set(p, s.buffer(p)), buffer=s.buffer.set(p, 0)))]

    @action("RetireReadEpoch", "T")
    def retire_read_epoch(self, s: State, p: Term) -> list[Case]:
        """Read the epoch after the nodes were unlinked, and retire them in it."""
        epoch = s.pin(p) if self.wrong == "early epoch" else s.epoch
        q = s.but(
            limbo=s.limbo.everywhere(lambda t, x: any_of(s.limbo(t, x), all_of(t == p, s.limb(p, x)))),
            since=s.since.everywhere(lambda t, x: choose(all_of(t == p, s.limb(p, x)), epoch, s.since(t, x))),
            limb=s.limb.everywhere(lambda t, x: all_of(s.limb(t, x), negated(t == p))),
            pc=s.pc.set(p, "work"),
        )
        return [Case("", self.at(s, p, "RetireReadEpoch"), q)]

    @action("Unpin", "T")
    def unpin(self, s: State, p: Term) -> list[Case]:
        """Store 0: the thread holds nothing any more."""
        q = s.but(
            pin=s.pin.set(p, 0),
            buffer=s.buffer.set(p, 0),
            pc=s.pc.set(p, "idle"),
            published=s.published.set(p, 0),
            reached=s.reached.everywhere(lambda t, x: all_of(s.reached(t, x), negated(t == p))),
        )
        return [Case("", self.at(s, p, "Unpin"), q)]

    # the epoch
    @action("AdvanceLoad", "T")
    def advance_load(self, s: State, p: Term) -> list[Case]:
        """Read the epoch to move it; free what is old enough."""
        first = 2 if self.wrong == "skip one" else 1
        q = s.but(
            **self.reclaimed(s, p, s.epoch),
            e=s.e.set(p, s.epoch),
            j=s.j.set(p, first),
            pc=s.pc.set(p, "AdvanceCas" if self.wrong == "no scan" else "AdvanceScan"),
        )
        return [Case("", self.at(s, p, "AdvanceLoad"), q)]

    @action("AdvanceScan", "T", "T")
    def advance_scan(self, s: State, p: Term, u: Term) -> list[Case]:
        """Read one pin: give up if it is set to another epoch."""
        here = all_of(self.at(s, p, "AdvanceScan"), s.place(u) == s.j(p))
        before = all_of(self.wrong == "scan before", s.pin(u) + 1 == s.e(p))
        back = negated(any_of(s.pin(u) == 0, s.pin(u) == s.e(p), before))
        more = s.j(p) < self.threads
        gone = {"e": s.e.set(p, 0), "j": s.j.set(p, 0)}
        return [
            Case("back", all_of(here, back), s.but(pc=s.pc.set(p, "idle"), **gone)),
            Case("next", all_of(here, negated(back), more), s.but(j=s.j.set(p, s.j(p) + 1))),
            Case(
                "last",
                all_of(here, negated(back), negated(more)),
                s.but(pc=s.pc.set(p, "AdvanceCas"), j=s.j.set(p, 0)),
            ),
        ]

    @action("AdvanceCas", "T")
    def advance_cas(self, s: State, p: Term) -> list[Case]:
        """Move the epoch by a CAS; free what is old enough then."""
        here, ok = self.at(s, p, "AdvanceCas"), s.epoch == s.e(p)
        idle = s.but(pc=s.pc.set(p, "idle"), e=s.e.set(p, 0))
        moved = idle.but(**self.reclaimed(s, p, s.e(p) + 1), epoch=s.epoch + 1)
        return [Case("ok", all_of(here, ok), moved), Case("lost", all_of(here, negated(ok)), idle)]

    # the theorem
    @conjunct("T", "X")
    def safe(self, s: State, t: Term, x: Term) -> Term:
        """What a thread may have reached is not free."""
        return implies(s.reached(t, x), negated(s.freed(x)))

    @conjunct("T", "T", "X")
    def in_one_place(self, s: State, t: Term, u: Term, x: Term) -> Term:
        """A node is linked, free, or with one thread, to be retired or retired."""

        def with_(p: Term) -> Term:
            return any_of(s.limb(p, x), s.limbo(p, x))

        return all_of(
            implies(s.linked(x), negated(s.freed(x))),
            implies(with_(t), all_of(negated(s.linked(x)), negated(s.freed(x)))),
            implies(all_of(with_(t), with_(u)), t == u),
            negated(all_of(s.limb(t, x), s.limbo(t, x))),
        )

    # why
    @conjunct("T")
    def counted(self, s: State, t: Term) -> Term:
        """Epochs that were read are not newer than the epoch; no pin is seen late."""
        read = implies(self.at(s, t, "PinPublish", "AdvanceScan", "AdvanceCas"), all_of(s.e(t) >= 1, s.e(t) <= s.epoch))
        return all_of(s.epoch >= 1, s.buffer(t) == 0, read)

    @conjunct("T")
    def pins(self, s: State, t: Term) -> Term:
        """A pin is set, not newer than its publication, and that is at most one epoch ago."""
        at = s.published(t)
        near = all_of(s.pin(t) >= 1, s.pin(t) <= at, at <= s.epoch, s.epoch <= at + 1)
        return implies(self.pinned(s, t), near)

    @conjunct("T", "T")
    def looked(self, s: State, t: Term, u: Term) -> Term:
        """Who has looked at the pin of a thread cannot move the epoch beyond the one after its publication."""
        past = all_of(self.at(s, t, "AdvanceScan"), s.place(u) < s.j(t))
        return implies(all_of(self.pinned(s, u), any_of(self.at(s, t, "AdvanceCas"), past)), s.e(t) <= s.published(u))

    @conjunct("T", "X")
    def holding(self, s: State, t: Term, x: Term) -> Term:
        """Who may have reached a node is pinned; and whoever is pinned may have reached what is linked."""
        pinned = self.pinned(s, t)
        return all_of(implies(s.reached(t, x), pinned), implies(all_of(pinned, s.linked(x)), s.reached(t, x)))

    @conjunct("T", "T", "X")
    def retired(self, s: State, t: Term, u: Term, x: Term) -> Term:
        """A node that a thread may have reached was not retired before its pin was published."""
        return implies(all_of(s.reached(t, x), s.limbo(u, x)), s.published(t) <= s.since(u, x))

    def axioms(self, s: State) -> dict[str, Part]:
        """The threads have places from 1 on, each its own."""

        def apart(t: Term, u: Term) -> Term:
            return implies(s.place(t) == s.place(u), t == u)

        def in_range(t: Term) -> Term:
            return all_of(s.place(t) >= 1, s.place(t) <= self.threads)

        return {"apart": Part("apart", ("T", "T"), apart), "in range": Part("in range", ("T",), in_range)}

    def initially(self, s: State) -> dict[str, Part]:
        """Nobody is pinned; each node is linked or free."""

        def idle(t: Term) -> Term:
            return all_of(self.at(s, t, "idle"), s.pin(t) == 0, s.buffer(t) == 0)

        def new(t: Term, x: Term) -> Term:
            apart = negated(all_of(s.linked(x), s.freed(x)))
            return all_of(negated(s.limb(t, x)), negated(s.limbo(t, x)), negated(s.reached(t, x)), apart)

        return {
            "epoch": Part("epoch", (), lambda: s.epoch >= 1),
            "idle": Part("idle", ("T",), idle),
            "new": Part("new", ("T", "X"), new),
        }

    def starts(self, domains: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
        """Yield the state in which every node is linked."""
        numbers = dict.fromkeys(("pin", "buffer", "e", "j", "since", "published"), 0)
        truths = dict.fromkeys(("freed", "limb", "limbo", "reached"), False)
        yield {"epoch": 1, "pc": "idle", **numbers, "linked": True, **truths}


def small(system: System) -> Instance:
    """Return a reader, a writer and one node; both move the epoch, but begin none after the third."""

    def writer(p: str, _: int) -> bool:
        return p == "v"

    return Instance(
        system,
        {"T": ("u", "v"), "X": (1,)},
        constants={"threads": 2},
        rigid={"place": {"u": 1, "v": 2}.__getitem__},
        only={"Link": writer, "Unlink": writer},
        bound=lambda s: s.epoch <= 3,
    )
