-------------------------------- MODULE R7 ----------------------------------
(***************************************************************************)
(* Mutant R7: the killer takes what its last search found, also for nodes  *)
(* that die in another generation.                                         *)
(*                                                                         *)
(* A snapshot was taken since, and its generation is older than this death *)
(* but newer than the snapshot remembered.  The killer retires a node that *)
(* was born in between, which the new snapshot sees.                       *)
(***************************************************************************)
EXTENDS Reclamation

R7_Remembers(l) == l.known # Unknown

OnlyS == <<"s">>
SnapshotBetweenUpdates == [s |-> <<>>, t |-> <<Snapshot>>, w |-> <<Inc("top"), Inc("top")>>]
=============================================================================
