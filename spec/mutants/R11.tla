-------------------------------- MODULE R11 ---------------------------------
(***************************************************************************)
(* Mutant R11: what a search finds may be a list that is closed.           *)
(*                                                                         *)
(* Whoever sweeps has closed the list and was stopped before it cleared the*)
(* generation.  The update finds the list, sees that it is closed, searches*)
(* again, and finds it again, for ever.                                    *)
(***************************************************************************)
EXTENDS Reclamation

R11_Skips(top) == FALSE

OnlyS == <<"s">>
DropAndUpdate == [s |-> <<Drop>>, w |-> <<Inc("top")>>]
=============================================================================
