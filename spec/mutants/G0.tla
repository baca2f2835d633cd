-------------------------------- MODULE G0 ----------------------------------
(***************************************************************************)
(* Mutant G0 (Workiva #122): generations were zero-size objects that share *)
(* one address, so all generations compare equal and GCAS is a mere CAS.   *)
(*                                                                         *)
(* No I-node is ever renewed after a snapshot: a completed put below the   *)
(* root is seen in the snapshot that was taken before.                     *)
(***************************************************************************)
EXTENDS Scenarios

G0_Gen(h, i) == 1

TwoKeys == Trie({"a", "b"})
PutAndSnapshot == [w |-> <<{Put("a", 2)}>>, s |-> <<{Snapshot}>>]
=============================================================================
