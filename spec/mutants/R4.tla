-------------------------------- MODULE R4 ----------------------------------
(***************************************************************************)
(* Mutant R4: the new nodes of a GCAS that was installed and failed are    *)
(* freed at once, as they were never part of the trie.                     *)
(*                                                                         *)
(* The reader of a snapshot has seen the new main node, and is about to    *)
(* fail it too, when its maker frees it.                                   *)
(***************************************************************************)
EXTENDS Reclamation

R4_Discard(a, l, X) == Undo(a, l, X)

Nobody == <<>>
LateUpdate == [s |-> <<Snapshot, Read>>, w |-> <<Inc("top")>>]
=============================================================================
