-------------------------------- MODULE R1 ----------------------------------
(***************************************************************************)
(* Mutant R1: a snapshot is registered after its RDCSS has committed.      *)
(*                                                                         *)
(* Between the two an update of the new generation finds no snapshot       *)
(* registered, and retires the main node that the snapshot contains.       *)
(***************************************************************************)
EXTENDS Reclamation

R1_RegisterFirst == FALSE

Nobody == <<>>
SnapshotAndUpdate == [s |-> <<Snapshot, Drop>>, w |-> <<Inc("top")>>]
=============================================================================
