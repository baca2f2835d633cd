"""The inverse Bloom filter (``InverseBloom.tla``) for any number of threads, items, slots and operations.

The filter may say of an item that it has not seen it, never the opposite: who is told "seen" adds an item that was
added before. And who is told "not seen" is the first to add the item, or another item has taken the slot since. So of
several that add one item, and no other to that slot, exactly one is told "not seen". An add takes effect at Exchange.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from latchfree_evidence.inductive.instance import Instance
from latchfree_evidence.inductive.logic import Term, all_of, any_of, choose, implies, negated
from latchfree_evidence.inductive.system import Case, Part, State, System, action, conjunct, is_one_of


class InverseBloom(System):
    """The filter. Ghosts: whether an item was added, and whether another item took its slot since the last time."""

    sorts = {"T": None, "Item": None, "Slot": None, "PC": ("idle", "Exchange", "Write")}
    constants = {"nothing": "Item"}
    fields = {
        "table": (("Slot",), "Item"),
        "pc": (("T",), "PC"),
        "item": (("T",), "Item"),
        "old": (("T",), "Item"),
        "added": (("Item",), "Bool"),
        "evicted": (("Item",), "Bool"),
        "slot": (("Item",), "Slot"),
    }
    rigid = ("slot",)
    variants = {
        "read, then write": "the slot is read in one access and written in another",
        "any slot": "an item is put into a slot that is not that of its hash",
        "seen if full": "an item counts as seen if any item is in the slot",
        "kept if full": "an item is not put into a slot that is taken",
    }
    theorem = ("in_place", "no_false_positive")

    nothing: Any

    @action("Invoke", "T", "Item")
    def invoke(self, s: State, p: Term, x: Term) -> list[Case]:
        """Begin to add an item."""
        can = all_of(is_one_of(s.pc(p), "idle"), negated(x == self.nothing))
        return [Case("", can, s.but(pc=s.pc.set(p, "Exchange"), item=s.item.set(p, x)))]

    @action("Exchange", "T", "Slot")
    def exchange(self, s: State, p: Term, k: Term) -> list[Case]:
        """Exchange the slot of the item: the item for what was there."""
        x, here = s.item(p), is_one_of(s.pc(p), "Exchange")
        if self.wrong == "read, then write":
            read = s.but(pc=s.pc.set(p, "Write"), old=s.old.set(p, s.table(s.slot(x))))
            reading = Case("read", all_of(here, k == s.slot(x)), read)
            return [reading, *self.added(s, p, all_of(is_one_of(s.pc(p), "Write"), k == s.slot(x)), k, s.old(p))]
        there = True if self.wrong == "any slot" else k == s.slot(x)
        return self.added(s, p, all_of(here, there), k, s.table(k))

    def added(self, s: State, p: Term, guard: Term, k: Term, old: Term) -> list[Case]:
        """Return how an add ends that found `old` in its slot."""
        x, there = s.item(p), s.table(k)
        seen = negated(old == self.nothing) if self.wrong == "seen if full" else old == x
        stays = all_of(self.wrong == "kept if full", negated(old == self.nothing))
        gone = negated(any_of(there == x, there == self.nothing, stays))
        q = s.but(
            table=s.table.set(k, choose(stays, there, x)),
            pc=s.pc.set(p, "idle"),
            item=s.item.set(p, self.nothing),
            old=s.old.set(p, self.nothing),
            added=s.added.set(x, True),
            evicted=s.evicted.set(there, choose(gone, True, s.evicted(there))).set(x, False),
        )
        return [
            Case("seen", all_of(guard, seen), q, was_added=s.added(x)),
            Case("not seen", all_of(guard, negated(seen)), q, new=any_of(negated(s.added(x)), s.evicted(x))),
        ]

    # the theorem
    @conjunct("Slot")
    def in_place(self, s: State, k: Term) -> Term:
        """A slot holds what belongs there."""
        return any_of(s.table(k) == self.nothing, s.slot(s.table(k)) == k)

    @conjunct("Slot")
    def no_false_positive(self, s: State, k: Term) -> Term:
        """What a slot holds was added."""
        return any_of(s.table(k) == self.nothing, s.added(s.table(k)))

    # why
    @conjunct("Item")
    def kept(self, s: State, x: Term) -> Term:
        """What was added is there until another item takes its slot."""
        return implies(all_of(s.added(x), negated(s.evicted(x))), s.table(s.slot(x)) == x)

    @conjunct("T")
    def adding(self, s: State, t: Term) -> Term:
        """Who is about to exchange has an item; nothing was never added."""
        return all_of(
            implies(is_one_of(s.pc(t), "Exchange", "Write"), negated(s.item(t) == self.nothing)),
            negated(s.added(self.nothing)),
        )

    def initially(self, s: State) -> dict[str, Part]:
        """Every slot is empty."""
        return {
            "idle": Part("idle", ("T",), lambda t: is_one_of(s.pc(t), "idle")),
            "empty": Part("empty", ("Slot",), lambda k: s.table(k) == self.nothing),
            "new": Part("new", ("Item",), lambda x: negated(any_of(s.added(x), s.evicted(x)))),
        }

    def starts(self, domains: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
        """Yield the state in which every slot is empty."""
        nothing = domains["Item"][0]
        registers = {"pc": "idle", "item": nothing, "old": nothing}
        yield {"table": nothing, **registers, "added": False, "evicted": False}


def small(system: System) -> Instance:
    """Return two threads, two items of one slot and one of another."""
    return Instance(
        system,
        {"T": ("u", "v"), "Item": range(4), "Slot": (1, 2)},
        constants={"nothing": 0},
        rigid={"slot": lambda x: 2 if x == 3 else 1},
    )
