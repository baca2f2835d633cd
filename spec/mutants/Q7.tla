--------------------------------- MODULE Q7 ---------------------------------
(***************************************************************************)
(* Mutant Q7: who has changed the ring wakes nobody who is only about to   *)
(* sleep: it looks for sleepers without a word, and calls the kernel.      *)
(***************************************************************************)
EXTENDS MCParking

Q7_AfterChange == "Wake"
=============================================================================
