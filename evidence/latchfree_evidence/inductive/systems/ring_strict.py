"""The strict ring (``RingStrict.tla``) for any number of threads, any capacity from two on, any number of operations.

The queue is the sequence ``queue(deq), ..., queue(enq - 1)``. A put appends to it at PutClaim, a get takes from it at
GetClaim and answers, at GetRelease, the value that was put there; "full" and "empty" are true at PutCheckFull and
GetCheckEmpty. So the ring is an atomic queue that is first in, first out.
"""

from __future__ import annotations

from latchfree_evidence.inductive.instance import Instance
from latchfree_evidence.inductive.logic import Term, all_of, negated
from latchfree_evidence.inductive.system import Case, State, System, action
from latchfree_evidence.inductive.systems.ring import Ring


class RingStrict(Ring):
    """The strict ring: before a thread answers full or empty it reads the other position."""

    variants = {
        **Ring.variants,
        "one cell": "the ring may have one cell",
        "full without comparing": "a put that finds an old turn says full without reading the other position",
        "empty without comparing": "a get that finds an old turn says empty without reading the other position",
    }

    def seems_full(self, s: State, t: Term) -> tuple[State, dict[str, Term]]:
        """Go on to read the other position."""
        if self.wrong == "full without comparing":
            return self.ends(s, t), {"is_full": s.enq - s.deq == self.capacity}
        return self.go(s, t, "PutCheckFull"), {}

    def seems_empty(self, s: State, t: Term) -> tuple[State, dict[str, Term]]:
        """Go on to read the other position."""
        if self.wrong == "empty without comparing":
            return self.ends(s, t), {"is_empty": s.enq == s.deq}
        return self.go(s, t, "GetCheckEmpty"), {}

    @action("PutCheckFull", "T")
    def put_check_full(self, s: State, p: Term) -> list[Case]:
        """Read the other position: full if it is one round behind."""
        here, full = self.at(s, p, "PutCheckFull"), s.deq + self.capacity == s.pos(p)
        return [
            Case("full", all_of(here, full), self.ends(s, p), is_full=s.enq - s.deq == self.capacity),
            Case("again", all_of(here, negated(full)), self.again(s, p, "PutReadPosition")),
        ]

    @action("GetCheckEmpty", "T")
    def get_check_empty(self, s: State, p: Term) -> list[Case]:
        """Read the other position: empty if it is the same."""
        here, empty = self.at(s, p, "GetCheckEmpty"), s.enq == s.pos(p)
        return [
            Case("empty", all_of(here, empty), self.ends(s, p), is_empty=s.enq == s.deq),
            Case("again", all_of(here, negated(empty)), self.again(s, p, "GetReadPosition")),
        ]


def small(system: System) -> Instance:
    """Return two threads at a ring of two cells, who claim up to three positions; a value for each thread."""
    cells = 1 if system.wrong == "one cell" else 2
    return Instance(
        system,
        {"T": ("u", "v"), "Cell": range(cells), "V": (0, 1, 2), "Int": range(-2, 5)},
        constants={"capacity": cells, "nothing": 0},
        rigid={"cell": lambda k: k % cells},
        only={"Invoke": lambda p, put, v: v == ({"u": 1, "v": 2}[p] if put else 0)},
        bound=lambda s: s.enq <= 2 and s.deq <= 2,
    )
