-------------------------------- MODULE Q15 ---------------------------------
(***************************************************************************)
(* Mutant Q15: the end of a ring frees what is in a cell between its       *)
(* counters, whatever the turn. A put that was killed has claimed a cell   *)
(* in which the number of an older block stands.                           *)
(***************************************************************************)
EXTENDS MCMessages

Q15_HasTurn(n) == TRUE
=============================================================================
