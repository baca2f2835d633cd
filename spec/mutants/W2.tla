--------------------------------- MODULE W2 ---------------------------------
(***************************************************************************)
(* Mutant W2 (Workiva ctrie): a remove from an L-node whose GCAS fails     *)
(* answers "absent" and does not try again.                                *)
(*                                                                         *)
(* While u is about to install the L-node without a, another process       *)
(* changes b in the same L-node: the GCAS of u fails, and u reports a,     *)
(* which is there, as absent.                                              *)
(***************************************************************************)
EXTENDS Scenarios

W2_UpdateFailed(h, l) ==
    IF l.op.op = "remove" /\ h.node[Abs(Prev(h, l.n))].t = "L" THEN Return(h, Absent) ELSE Restart(h, l)

ThreeKeys == Trie({"a", "b", "c"})
RemoveAndPut == [u |-> <<{Remove("a")}>>, w |-> <<{Put("b", 2)}>>]
=============================================================================
