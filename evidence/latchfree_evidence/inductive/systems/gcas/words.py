"""The fields of GCAS and RDCSS, and the words of their actions and of their invariant.

A main node is *unborn*, then some thread's *own*, *pending* from its installation on, and then committed or failed.
What never changes is in rigid fields: an I-node's generation, a main node's old one. To allocate a node is to take an
unborn one that has the wanted ones.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final

from latchfree_evidence.inductive.logic import Term, all_of, choose
from latchfree_evidence.inductive.system import State, System, is_one_of

READING: Final = (
    "GcasReadPrev",
    "CompleteReadPrev",
    "CompleteReadRoot",
    "CompleteAbortStatus",
    "CompleteAbortRoot",
    "CompleteCommit",
    "CompleteFail",
    "CompleteRollback",
)
"""Where a thread holds a main node that it has read and that may be uncommitted."""
ACCESSES: Final = ("GcasReadMain", "GcasCas", "GcasReadPrevAfter", "CompleteRereadMain", *READING)
SWAPPING: Final = ("RdcssInstall", "RdcssReadStatus", "RdcssDecide", "RdcssSwing")


class Words(System):
    """The fields; the ghosts are `pub`, `inst`, `late`, `copied` and `cmain`."""

    sorts: ClassVar[Any] = {
        "T": None,
        "I": None,
        "M": None,
        "D": None,
        "PC": ("idle", "GotMain", *ACCESSES, *SWAPPING),
        "Status": ("unmade", "UNDECIDED", "COMMIT", "ABORT"),
        "Kind": ("unborn", "own", "committed", "pending", "failed"),
        "For": ("client", "walk", "decide", "gcas"),
    }
    fields: ClassVar[Any] = {
        # the root: an I-node, or a descriptor
        "is_d": ((), "Bool"),
        "root_i": ((), "I"),
        "root_d": ((), "D"),
        "status": (("D",), "Status"),
        "main": (("I",), "M"),
        "kind": (("M",), "Kind"),
        # registers: of GCAS; the generation of the root read; of RDCSS
        "pc": (("T",), "PC"),
        "gi": (("T",), "I"),
        "gm": (("T",), "M"),
        "n": (("T",), "M"),
        "ret": (("T",), "For"),
        "sg": (("T",), "Int"),
        "rd": (("T",), "D"),
        "want": (("T",), "Bool"),
        "ad": (("T",), "D"),
        # whether an I-node was made, was published; a descriptor was in the root; a main node is too late to commit;
        # an I-node was copied into a newer generation, and with which main node
        "used": (("I",), "Bool"),
        "pub": (("I",), "Bool"),
        "inst": (("D",), "Bool"),
        "late": (("M",), "Bool"),
        "copied": (("I",), "Bool"),
        "cmain": (("I",), "M"),
        # never changed
        "gen": (("I",), "Int"),
        "old": (("M",), "M"),
        "of": (("M",), "I"),
        "ov": (("D",), "I"),
        "exp": (("D",), "M"),
        "nv": (("D",), "I"),
    }
    rigid = ("gen", "old", "of", "ov", "exp", "nv")

    def at(self, s: State, t: Term, *names: str) -> Term:
        """Return whether a thread is at one of these accesses."""
        return is_one_of(s.pc(t), *names)

    def go(self, s: State, t: Term, name: str, **changes: Any) -> State:
        """Return the state with a thread at another access."""
        return s.but(pc=s.pc.set(t, name), **changes)

    def kind(self, s: State, m: Term, *names: str) -> Term:
        """Return whether a main node is of one of these kinds."""
        return is_one_of(s.kind(m), *names)

    def status(self, s: State, d: Term, *names: str) -> Term:
        """Return whether a descriptor has one of these statuses."""
        return is_one_of(s.status(d), *names)

    def reads_for(self, s: State, t: Term, *names: str) -> Term:
        """Return whether a thread reads a main node for one of these purposes."""
        return is_one_of(s.ret(t), *names)

    def outcome(self, s: State, d: Term) -> Term:
        """Return the I-node that the root moves to from a descriptor."""
        return choose(self.status(s, d, "COMMIT"), s.nv(d), s.ov(d))

    def root(self, s: State) -> Term:
        """Return the abstract root: an I-node always."""
        return choose(s.is_d, self.outcome(s, s.root_d), s.root_i)

    def generation(self, s: State) -> Term:
        """Return the generation of the abstract root."""
        return s.gen(self.root(s))

    def settled(self, s: State, i: Term) -> Term:
        """Return the abstract main node of an I-node: main if it is committed, else its old one."""
        m = s.main(i)
        return choose(self.kind(s, m, "committed"), m, s.old(m))

    def in_root(self, s: State, d: Term) -> Term:
        """Return whether the root holds a descriptor."""
        return all_of(s.is_d, s.root_d == d)
