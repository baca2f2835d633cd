------------------------ MODULE MCReclamationBroken -------------------------
(***************************************************************************)
(* Every invariant of reclamation can fail: for each that no mutant        *)
(* violates, a small change that does.                                     *)
(***************************************************************************)
EXTENDS MCReclamation

\* I2: an update also retires the child that its new main node shares with the old one.
WithChild(a, old, new) == {old, a.node[old].kid} \ {0}
SnapshotAndTop == [s |-> <<Snapshot, Read, Drop>>, w |-> <<Inc("top")>>]
\* I5: a child is renewed, whatever its generation.
NeverRecent(a, i, g) == FALSE
\* I6: a child is never renewed, and the generation of the root is not compared.
AlwaysRecent(a, i, g) == TRUE
NotCompared(a, l, r) == Goto(a, [l EXCEPT !.ad = 0], "CompleteCommit")
\* I7: what an update unlinks is forgotten.
Forgotten(a, old, new) == {}
=============================================================================
