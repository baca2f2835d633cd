-------------------------------- MODULE R9 ----------------------------------
(***************************************************************************)
(* Mutant R9: a node is retired in the epoch that is pinned.               *)
(*                                                                         *)
(* The pin may be older than the epoch.  A reader that came later, and has *)
(* read the node just before it was unlinked, is pinned in the newer epoch,*)
(* which counts for nothing.                                               *)
(***************************************************************************)
EXTENDS MCEpochs

R9_RetiredIn(a, p) == a.pin[p]
=============================================================================
