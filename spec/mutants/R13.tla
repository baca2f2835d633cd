-------------------------------- MODULE R13 ---------------------------------
(***************************************************************************)
(* Mutant R13: the generation of a slot is not read again after its head.  *)
(*                                                                         *)
(* The slot was found for one snapshot.  That one is dropped, and the slot is*)
(* given to a newer one, whose list takes the node, although that snapshot *)
(* was taken after the node had been unlinked.                             *)
(***************************************************************************)
EXTENDS Reclamation

R13_ChecksAgain == FALSE

OnlyS == <<"s">>
DropTakeAndUpdate == [s |-> <<Drop, Snapshot>>, w |-> <<Inc("top")>>]
=============================================================================
