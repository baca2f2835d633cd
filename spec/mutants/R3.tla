-------------------------------- MODULE R3 ----------------------------------
(***************************************************************************)
(* Mutant R3: a snapshot is read without a pin, as its nodes are kept for  *)
(* it anyway.                                                              *)
(*                                                                         *)
(* But the reader may come across the main node of an update that was late *)
(* and fails.  That node is in no snapshot; its maker retires it, two      *)
(* epochs pass, and the reader has the address of a free node.             *)
(***************************************************************************)
EXTENDS Reclamation

R3_PinToRead == FALSE

Nobody == <<>>
LateUpdate == [s |-> <<Snapshot, Read>>, w |-> <<Inc("top"), Advance, Advance>>]
=============================================================================
