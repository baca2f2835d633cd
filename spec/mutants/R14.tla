-------------------------------- MODULE R14 ---------------------------------
(***************************************************************************)
(* Mutant R14: who has unlocked does not look for marks again.             *)
(*                                                                         *)
(* A drop that came after the last look finds the lock taken and goes.  The*)
(* holder unlocks and goes, too: nobody ever sweeps that snapshot.         *)
(***************************************************************************)
EXTENDS Reclamation

R14_LooksAgain == FALSE

SThenT == <<"s", "t">>
TwoDrops == [s |-> <<Drop>>, t |-> <<Drop>>]
=============================================================================
