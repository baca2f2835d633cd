---------------------------- MODULE MCIdleBroken ----------------------------
(***************************************************************************)
(* Registered can fail: who drops the idle snapshot leaves it in the word. *)
(***************************************************************************)
EXTENDS MCIdle

\* The idle snapshot is dropped, and not taken out.
StillThere == parked
=============================================================================
