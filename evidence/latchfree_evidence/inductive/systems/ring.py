"""What the strict and the weak ring have in common (``Ring.tla``): all but what an old turn means.

The queue is the sequence ``queue(deq), ..., queue(enq - 1)``. A put appends to it at PutClaim, a get takes from it at
GetClaim and answers, at GetRelease, the value that was put there.

Why: the sequence number of a cell is that of one position in the window from ``enq - capacity`` to ``enq`` (`turns`),
and a thread that has claimed a position in the window has its cell alone (`exclusive`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from latchfree_evidence.inductive.logic import Term, all_of, any_of, choose, implies, negated
from latchfree_evidence.inductive.system import Case, Part, State, System, action, conjunct, is_one_of

PUTTING = ("PutReadPosition", "PutReadTurn", "PutClaim", "PutCheckFull", "PutWrite", "PutPublish")
GETTING = ("GetReadPosition", "GetReadTurn", "GetClaim", "GetCheckEmpty", "GetRead", "GetRelease")


class Ring(System):
    """What both rings do. ``queue(k)`` is the value put at position k: a ghost, which no access reads."""

    sorts = {"T": None, "Cell": None, "V": None, "PC": ("idle", *PUTTING, *GETTING)}
    constants = {"capacity": "Int", "nothing": "V"}
    fields = {
        "enq": ((), "Int"),
        "deq": ((), "Int"),
        "seq": (("Cell",), "Int"),
        "val": (("Cell",), "V"),
        "pc": (("T",), "PC"),
        "pos": (("T",), "Int"),
        "arg": (("T",), "V"),
        "got": (("T",), "V"),
        "queue": (("Int",), "V"),
        "cell": (("Int",), "Cell"),
    }
    rigid = ("cell",)
    variants = {
        "claim without comparing": "a put stores the position instead of a CAS",
        "publish before writing": "a put passes the turn before its value is in the cell",
        "release before reading": "a get passes the turn before it has read the value",
        "put at any turn": "a put claims its position without a look at the turn of the cell",
    }
    theorem = ("bounds", "exclusive", "read")
    rounds = 3

    capacity: Any
    nothing: Any

    # words
    def at(self, s: State, t: Term, *names: str) -> Term:
        """Return whether a thread is at one of these accesses."""
        return is_one_of(s.pc(t), *names)

    def mine(self, s: State, t: Term) -> Term:
        """Return the cell of a thread's position."""
        return s.cell(s.pos(t))

    def go(self, s: State, t: Term, name: str, **changes: Any) -> State:
        """Return the state with a thread at another access."""
        return s.but(pc=s.pc.set(t, name), **changes)

    def ends(self, s: State, t: Term, **changes: Any) -> State:
        """Return the state after an operation returned: the registers are as at the start."""
        reset = {"pos": s.pos.set(t, 0), "arg": s.arg.set(t, self.nothing), "got": s.got.set(t, self.nothing)}
        return self.go(s, t, "idle", **reset, **changes)

    def again(self, s: State, t: Term, name: str) -> State:
        """Return the state with an operation about to read the position again."""
        return self.go(s, t, name, pos=s.pos.set(t, 0))

    def seems_full(self, s: State, t: Term) -> tuple[State, dict[str, Term]]:
        """Return the state after a put found an old turn, and what it claims."""
        raise NotImplementedError

    def seems_empty(self, s: State, t: Term) -> tuple[State, dict[str, Term]]:
        """Return the state after a get found an old turn, and what it claims."""
        raise NotImplementedError

    def claimed(self, s: State, t: Term, ghost: str) -> dict[str, Any]:
        """Return what a claim of a position does to a ghost of the weak ring."""
        return {ghost: getattr(s, ghost).set(s.pos(t), t)} if ghost in self.fields else {}

    # put
    @action("Invoke", "T", "Bool", "V")
    def invoke(self, s: State, p: Term, put: Term, v: Term) -> list[Case]:
        """Begin, with the first read of the position."""
        idle = self.at(s, p, "idle")
        return [
            Case("put", all_of(idle, put), self.go(s, p, "PutReadTurn", pos=s.pos.set(p, s.enq), arg=s.arg.set(p, v))),
            Case("get", all_of(idle, negated(put)), self.go(s, p, "GetReadTurn", pos=s.pos.set(p, s.deq))),
        ]

    @action("PutReadPosition", "T")
    def put_read_position(self, s: State, p: Term) -> list[Case]:
        """Read the position again."""
        return [Case("", self.at(s, p, "PutReadPosition"), self.go(s, p, "PutReadTurn", pos=s.pos.set(p, s.enq)))]

    @action("PutReadTurn", "T")
    def put_read_turn(self, s: State, p: Term) -> list[Case]:
        """Read the sequence number of the cell."""
        here, turn, pos = self.at(s, p, "PutReadTurn"), s.seq(self.mine(s, p)), s.pos(p)
        old, full = self.seems_full(s, p)
        if self.wrong == "put at any turn":
            return [Case("turn", here, self.go(s, p, "PutClaim"))]
        return [
            Case("turn", all_of(here, turn == pos), self.go(s, p, "PutClaim")),
            Case("old", all_of(here, turn < pos), old, **full),
            Case("late", all_of(here, turn > pos), self.again(s, p, "PutReadPosition")),
        ]

    @action("PutClaim", "T")
    def put_claim(self, s: State, p: Term) -> list[Case]:
        """Claim the position by a CAS: here a put appends."""
        here, pos = self.at(s, p, "PutClaim"), s.pos(p)
        next_ = True if self.wrong == "claim without comparing" else s.enq == pos
        won = self.go(s, p, self.first_of_put, enq=pos + 1, queue=s.queue.set(pos, s.arg(p)))
        won = won.but(**self.claimed(s, p, "putter_of"))
        return [
            Case("ok", all_of(here, next_), won, not_full=s.enq - s.deq < self.capacity, at_the_end=pos == s.enq),
            Case("lost", all_of(here, negated(next_)), self.again(s, p, "PutReadPosition")),
        ]

    @property
    def first_of_put(self) -> str:
        """What a put does first with its cell."""
        return "PutPublish" if self.wrong == "publish before writing" else "PutWrite"

    @action("PutWrite", "T")
    def put_write(self, s: State, p: Term) -> list[Case]:
        """Write the value into the cell."""
        q = s.but(val=s.val.set(self.mine(s, p), s.arg(p)))
        after = self.go(q, p, "PutPublish") if self.first_of_put == "PutWrite" else self.ends(q, p)
        return [Case("", self.at(s, p, "PutWrite"), after)]

    @action("PutPublish", "T")
    def put_publish(self, s: State, p: Term) -> list[Case]:
        """Pass the turn: whoever gets may read."""
        q = s.but(seq=s.seq.set(self.mine(s, p), s.pos(p) + 1))
        after = self.ends(q, p) if self.first_of_put == "PutWrite" else self.go(q, p, "PutWrite")
        return [Case("", self.at(s, p, "PutPublish"), after)]

    # get
    @action("GetReadPosition", "T")
    def get_read_position(self, s: State, p: Term) -> list[Case]:
        """Read the position again."""
        return [Case("", self.at(s, p, "GetReadPosition"), self.go(s, p, "GetReadTurn", pos=s.pos.set(p, s.deq)))]

    @action("GetReadTurn", "T")
    def get_read_turn(self, s: State, p: Term) -> list[Case]:
        """Read the sequence number of the cell."""
        here, turn, pos = self.at(s, p, "GetReadTurn"), s.seq(self.mine(s, p)), s.pos(p)
        old, empty = self.seems_empty(s, p)
        return [
            Case("turn", all_of(here, turn == pos + 1), self.go(s, p, "GetClaim")),
            Case("old", all_of(here, turn < pos + 1), old, **empty),
            Case("late", all_of(here, turn > pos + 1), self.again(s, p, "GetReadPosition")),
        ]

    @action("GetClaim", "T")
    def get_claim(self, s: State, p: Term) -> list[Case]:
        """Claim the position by a CAS: here a get takes the first value."""
        here, pos = self.at(s, p, "GetClaim"), s.pos(p)
        won = self.go(s, p, self.first_of_get, deq=pos + 1, **self.claimed(s, p, "getter_of"))
        return [
            Case("ok", all_of(here, s.deq == pos), won, not_empty=s.deq < s.enq),
            Case("lost", all_of(here, negated(s.deq == pos)), self.again(s, p, "GetReadPosition")),
        ]

    @property
    def first_of_get(self) -> str:
        """What a get does first with its cell."""
        return "GetRelease" if self.wrong == "release before reading" else "GetRead"

    @action("GetRead", "T")
    def get_read(self, s: State, p: Term) -> list[Case]:
        """Read the value in the cell."""
        v = s.val(self.mine(s, p))
        if self.first_of_get == "GetRelease":
            return [Case("", self.at(s, p, "GetRead"), self.ends(s, p), answers_what_was_put=v == s.queue(s.pos(p)))]
        return [Case("", self.at(s, p, "GetRead"), self.go(s, p, "GetRelease", got=s.got.set(p, v)))]

    @action("GetRelease", "T")
    def get_release(self, s: State, p: Term) -> list[Case]:
        """Pass the turn: whoever puts one round later may write."""
        here, pos = self.at(s, p, "GetRelease"), s.pos(p)
        q = s.but(seq=s.seq.set(self.mine(s, p), pos + self.capacity))
        if self.first_of_get == "GetRelease":
            return [Case("", here, self.go(q, p, "GetRead"))]
        return [Case("", here, self.ends(q, p), answers_what_was_put=s.got(p) == s.queue(pos))]

    # the theorem
    @conjunct()
    def bounds(self, s: State) -> Term:
        """Never more values than there is room for, nor fewer than none."""
        return all_of(s.deq >= 0, s.deq <= s.enq, s.enq <= s.deq + self.capacity)

    @conjunct("T", "T")
    def exclusive(self, s: State, t: Term, u: Term) -> Term:
        """A claimed cell is used by one thread."""
        claimed = ("PutWrite", "PutPublish", "GetRead", "GetRelease")
        both = all_of(negated(t == u), self.at(s, t, *claimed), self.at(s, u, *claimed))
        return implies(both, negated(self.mine(s, t) == self.mine(s, u)))

    @conjunct("T")
    def read(self, s: State, t: Term) -> Term:
        """A get has read the value that was put at its position."""
        return implies(self.at(s, t, "GetRelease"), s.got(t) == s.queue(s.pos(t)))

    # why
    def in_window(self, s: State, k: Term) -> Term:
        """Return whether a cell's number may be that of this position."""
        return all_of(s.enq - self.capacity <= k, k < s.enq)

    @conjunct("Int")
    def turns(self, s: State, k: Term) -> Term:
        """The sequence number of a position in the window is one of two."""
        turn = s.seq(s.cell(k))
        put = any_of(turn == k, turn == k + 1)
        return implies(self.in_window(s, k), choose(k >= s.deq, put, any_of(turn == k + 1, turn == k + self.capacity)))

    @conjunct("Int")
    def published(self, s: State, k: Term) -> Term:
        """A published value is that of the queue."""
        ready = all_of(self.in_window(s, k), k >= s.deq, s.seq(s.cell(k)) == k + 1)
        return implies(ready, s.val(s.cell(k)) == s.queue(k))

    @conjunct("T")
    def putter(self, s: State, t: Term) -> Term:
        """Who has claimed a position to put at has its turn."""
        pos = s.pos(t)
        owns = all_of(s.deq <= pos, pos < s.enq, s.seq(self.mine(s, t)) == pos, s.queue(pos) == s.arg(t))
        return implies(self.at(s, t, "PutWrite", "PutPublish"), owns)

    @conjunct("T")
    def written(self, s: State, t: Term) -> Term:
        """A put that passes the turn has written its value."""
        return implies(self.at(s, t, "PutPublish"), s.val(self.mine(s, t)) == s.arg(t))

    @conjunct("T")
    def getter(self, s: State, t: Term) -> Term:
        """Who has claimed a position to get from has its turn."""
        pos = s.pos(t)
        owns = all_of(pos < s.deq, s.enq - self.capacity <= pos, s.seq(self.mine(s, t)) == pos + 1)
        return implies(self.at(s, t, "GetRead", "GetRelease"), owns)

    @conjunct("T")
    def unread(self, s: State, t: Term) -> Term:
        """A get that is about to read finds the value that was put there."""
        return implies(self.at(s, t, "GetRead"), s.val(self.mine(s, t)) == s.queue(s.pos(t)))

    @conjunct("T")
    def located(self, s: State, t: Term) -> Term:
        """No thread is ahead of the position that it has read."""
        put = implies(self.at(s, t, "PutReadTurn", "PutClaim", "PutCheckFull"), s.pos(t) <= s.enq)
        return all_of(put, implies(self.at(s, t, "GetReadTurn", "GetClaim", "GetCheckEmpty"), s.pos(t) <= s.deq))

    @conjunct("T")
    def may_put(self, s: State, t: Term) -> Term:
        """A put whose position is still the next one has the turn."""
        next_ = all_of(self.at(s, t, "PutClaim"), s.pos(t) == s.enq)
        return implies(next_, s.seq(self.mine(s, t)) == s.pos(t))

    @conjunct("T")
    def may_get(self, s: State, t: Term) -> Term:
        """A get whose position is still the first one has the turn."""
        next_ = all_of(self.at(s, t, "GetClaim"), s.pos(t) == s.deq)
        return implies(next_, all_of(s.pos(t) < s.enq, s.seq(self.mine(s, t)) == s.pos(t) + 1))

    def axioms(self, s: State) -> dict[str, Part]:
        """Position k is in cell ``k % capacity``."""
        c = self.capacity

        def around(k: Term) -> Term:
            return all_of(s.cell(k + c) == s.cell(k), s.cell(k - c) == s.cell(k))

        def apart(k: Term, m: Term) -> Term:
            return implies(all_of(k < m, m < k + c), negated(s.cell(k) == s.cell(m)))

        return {
            "two cells": Part("two cells", (), lambda: c >= (1 if self.wrong == "one cell" else 2)),
            "around": Part("around", ("Int",), around),
            "apart": Part("apart", ("Int", "Int"), apart),
        }

    def initially(self, s: State) -> dict[str, Part]:
        """Every thread is idle; the queue holds any values; every other cell waits for its next position."""

        def idle(t: Term) -> Term:
            return all_of(self.at(s, t, "idle"), s.pos(t) == 0)

        def cells(k: Term) -> Term:
            held = all_of(s.seq(s.cell(k)) == k + 1, s.val(s.cell(k)) == s.queue(k))
            return implies(self.in_window(s, k), choose(k >= 0, held, s.seq(s.cell(k)) == k + self.capacity))

        return {
            "filled": Part("filled", (), lambda: all_of(s.deq == 0, s.enq >= 0, s.enq <= self.capacity)),
            "idle": Part("idle", ("T",), idle),
            "cells": Part("cells", ("Int",), cells),
        }

    def starts(self, domains: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
        """Yield the initial state whose queue is empty."""
        seq = {(k,): k for k in domains["Cell"]}
        registers = {"pc": "idle", "pos": 0, "arg": 0, "got": 0}
        yield {"enq": 0, "deq": 0, "seq": seq, "val": 0, "queue": 0, **registers}
