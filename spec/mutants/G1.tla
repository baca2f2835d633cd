--------------------------------- MODULE G1 ---------------------------------
(***************************************************************************)
(* Mutant G1 (axel22/Ctries before 161ad77): GCAS takes its success from   *)
(* the main node that Complete returns, not from prev.                     *)
(*                                                                         *)
(* A helper commits the update of w and replaces it by its own; then it    *)
(* takes a snapshot.  w, who read the old main's prev before all that, now *)
(* finds another generation, and another main node than its own: it takes  *)
(* its update for failed, and puts a second time.                          *)
(***************************************************************************)
EXTENDS Scenarios

G1_GcasCompleted(h, l, m) == GcasReturned(h, l, m = l.n)

TwoKeys == Trie({"a", "b"})
PutAndHelper == [w |-> <<{Put("a", 2)}>>, s |-> <<{Put("b", 2)}, {Snapshot}>>]
=============================================================================
