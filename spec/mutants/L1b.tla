-------------------------------- MODULE L1b ---------------------------------
(***************************************************************************)
(* Mutant L1b (Workiva ctrie): who reads a snapshot passes over T-nodes.   *)
(*                                                                         *)
(* A snapshot taken after b was removed, and before the tomb is cleaned    *)
(* up, does not hold a.                                                    *)
(***************************************************************************)
EXTENDS Scenarios

L1b_Listed(n) == IF n.t = "T" THEN {} ELSE SNodes(n)

TwoKeys == Trie({"a", "b"})
RemoveAndSnapshot == [u |-> <<{Remove("b")}>>, s |-> <<{Snapshot}>>]
=============================================================================
