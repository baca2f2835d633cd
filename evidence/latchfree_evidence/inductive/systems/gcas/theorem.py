"""The theorem about GCAS and RDCSS, claim by claim.

Abstractly there are one root and, for each I-node, one main node, the settled one.

- `settled_changes`: the settled main node changes at CompleteCommit alone, from the old main node to the new one, and
  never after the I-node was copied into a newer generation.
- `copied`: an I-node whose main node was read by a thread that had seen a newer root is frozen for ever, as that thread
  has read it. So all copies of an I-node are the same (the claims of the cases "copy").
- `never_late`: what is installed after the root has moved on is never committed.
- `root_moves`: the root moves where an RDCSS is decided COMMIT, to a newer generation. At that access the settled
  main node of the old root is the expected one, and is what the new root holds (the claims of RdcssDecide): a snapshot
  is one atomic step.
"""

from __future__ import annotations

from latchfree_evidence.inductive.logic import Term, all_of, implies, negated
from latchfree_evidence.inductive.system import State, between, conjunct
from latchfree_evidence.inductive.systems.gcas.swap import Swap


class Claims(Swap):
    """What is proved."""

    theorem = ("never_late", "copied")

    @between("I")
    def settled_changes(self, s: State, step: str, post: State, i: Term) -> Term:
        """Return whether the settled main node of an I-node changes as it may."""
        before, after = self.settled(s, i), self.settled(post, i)
        if step.startswith("CompleteCommit:ok"):
            new = all_of(s.old(after) == before, self.kind(post, after, "committed"), negated(s.copied(i)))
            return implies(all_of(s.used(i), negated(before == after)), new)
        return implies(s.used(i), before == after)

    @between()
    def root_moves(self, s: State, step: str, post: State) -> Term:
        """Return whether the abstract root moves as it may."""
        if step == "RdcssDecide:commit":
            return self.generation(post) > self.generation(s)
        return self.root(post) == self.root(s)

    @conjunct("M")
    def never_late(self, s: State, m: Term) -> Term:
        """A late main node is never committed."""
        return implies(s.late(m), all_of(s.gen(s.of(m)) < self.generation(s), self.kind(s, m, "pending", "failed")))

    @conjunct("I")
    def copied(self, s: State, i: Term) -> Term:
        """A copied I-node is of an older generation and frozen."""
        frozen = all_of(s.used(i), s.gen(i) < self.generation(s), self.settled(s, i) == s.cmain(i))
        return implies(s.copied(i), frozen)
