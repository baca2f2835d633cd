-------------------------------- MODULE R22 ---------------------------------
(***************************************************************************)
(* Mutant R22: who parks a snapshot does not look again.                   *)
(*                                                                         *)
(* An update that comes between the first look and the parking finds       *)
(* nothing idle, and an old snapshot stays idle.                           *)
(***************************************************************************)
EXTENDS Idle

R22_LooksAfterParking == FALSE

OnlyS == <<"s">>
GiveAndUpdate == [s |-> <<Give>>, w |-> <<Inc("top")>>]
=============================================================================
