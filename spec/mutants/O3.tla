-------------------------------- MODULE O3 ----------------------------------
(***************************************************************************)
(* Mutant O3: an opening is alive as long as its process is (process id    *)
(* and start time).                                                        *)
(*                                                                         *)
(* exec keeps both, so what the old program held never comes back.         *)
(***************************************************************************)
EXTENDS LifecycleScenarios

O3_Taken(x, asker) == Lives(Of[x]) /\ x # asker
=============================================================================
