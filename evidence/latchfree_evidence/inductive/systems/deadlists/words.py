"""The fields of deadlists, and the words of their actions and of their invariant."""

from __future__ import annotations

from typing import Any, ClassVar

from latchfree_evidence.inductive.logic import Term, all_of, any_of
from latchfree_evidence.inductive.system import State, System, is_one_of

REGISTERING = ("RegisterCount", "RegisterPublish", "Commit", "DropMark")
SEARCHING = ("RetireScan", "RetireScanHead")
PUSHING = ("RetireHead", "RetireCheck", "RetirePush")
RETIRING = ("RetireCount", "RetireKnown", *SEARCHING, *PUSHING)
CLOSING = ("SweepPrev", "SweepClear", "SweepUncount", "SweepFree")
MOVING = ("SweepHead", "SweepMove")
SWEEPING = ("SweepScan", "SweepClose", *CLOSING, *MOVING, "SweepUnlock")
NOT_HOLDING = ("Register", "RegisterCount", "RegisterPublish", "Commit", "SweepLock", *SWEEPING, "SweepRecheck")


class Words(System):
    """Registered snapshots and their lists. Ghosts: where a node is, the number of a counted slot, who sweeps."""

    sorts: ClassVar[Any] = {
        "T": None,
        "K": None,
        "X": None,
        "PC": ("idle", "Register", *REGISTERING, *RETIRING, "RetireReadEpoch", "SweepLock", *SWEEPING, "SweepRecheck"),
        "Slot": ("FREE", "CLAIMED", "DROPPED"),
        "Head": ("closed", "empty", "node"),
        "Place": ("linked", "unlinked", "listed", "swept", "leaving", "retired"),
    }
    constants: ClassVar[Any] = {"slots": "Int"}
    fields: ClassVar[Any] = {
        "generation": ((), "Int"),
        "death": (("X",), "Int"),
        # a slot: its generation, its state, its list with the generation of that, and the newest node on it
        "gen": (("K",), "Int"),
        "state": (("K",), "Slot"),
        "head": (("K",), "Head"),
        "lgen": (("K",), "Int"),
        "top": (("K",), "X"),
        "past": (("K",), "Int"),
        "registered": ((), "Int"),
        "lock": ((), "Bool"),
        # registers: the slot in hand and its generation; the slot to look at next; what its head was
        "pc": (("T",), "PC"),
        "k": (("T",), "K"),
        "s": (("T",), "Int"),
        "found": (("T",), "Bool"),
        "j": (("T",), "Int"),
        "e": (("T",), "Int"),
        "hhead": (("T",), "Head"),
        "hgen": (("T",), "Int"),
        "htop": (("T",), "X"),
        # what the last search found, and for which death; the older snapshot; the one held, 0 for none; what is next
        "kdeath": (("T",), "Int"),
        "kfound": (("T",), "Bool"),
        "kk": (("T",), "K"),
        "ks": (("T",), "Int"),
        "pk": (("T",), "K"),
        "pg": (("T",), "Int"),
        "held": (("T",), "Int"),
        "hk": (("T",), "K"),
        "cur": (("T",), "X"),
        "after": (("T",), "PC"),
        # where a node is: with which thread, on the list of which slot; the generation of the last list it was on
        "place": (("X",), "Place"),
        "with_": (("X",), "T"),
        "on": (("X",), "K"),
        "last": (("X",), "Int"),
        # who has claimed a slot; the number of a counted slot; who sweeps
        "user": (("K",), "T"),
        "num": (("K",), "Int"),
        "slot_at": (("Int",), "K"),
        "owner": ((), "T"),
        # never changed: the order in which slots are looked at; births
        "nth": (("K",), "Int"),
        "birth": (("X",), "Int"),
    }
    rigid = ("nth", "birth")

    slots: Any

    def at(self, s: State, t: Term, *names: str) -> Term:
        """Return whether a thread is at one of these accesses."""
        return is_one_of(s.pc(t), *names)

    def go(self, s: State, t: Term, name: str, /, **changes: Any) -> State:
        """Return the state with a thread at another access."""
        return s.but(pc=s.pc.set(t, name), **changes)

    def is_at(self, s: State, x: Term, *places: str) -> Term:
        """Return whether a node is in one of these places."""
        return is_one_of(s.place(x), *places)

    def has(self, s: State, t: Term, x: Term, place: str) -> Term:
        """Return whether a node is in such a place with a thread."""
        return all_of(self.is_at(s, x, place), s.with_(x) == t)

    def closed(self, s: State, k: Term) -> Term:
        """Return whether a list is closed."""
        return is_one_of(s.head(k), "closed")

    def head_is(self, s: State, k: Term, t: Term) -> Term:
        """Return whether the head of a list is as a thread has read it."""
        empty = all_of(is_one_of(s.head(k), "empty"), is_one_of(s.hhead(t), "empty"), s.lgen(k) == s.hgen(t))
        node = all_of(is_one_of(s.head(k), "node"), is_one_of(s.hhead(t), "node"), s.top(k) == s.htop(t))
        return any_of(empty, node)

    def sees(self, s: State, u: Term, x: Term) -> Term:
        """Return whether a thread holds a snapshot that sees a dead node."""
        return all_of(s.held(u) >= 1, s.birth(x) <= s.held(u), s.held(u) < s.death(x))

    def returns(self, s: State, t: Term) -> Term:
        """Return whether a thread reads the epoch in the midst of sweeping."""
        return all_of(self.at(s, t, "RetireReadEpoch"), is_one_of(s.after(t), "SweepScan", "SweepHead"))

    def moves(self, s: State, t: Term) -> Term:
        """Return whether a thread moves what it has taken."""
        return any_of(
            self.at(s, t, *MOVING), all_of(self.at(s, t, "RetireReadEpoch"), is_one_of(s.after(t), "SweepHead"))
        )
