-------------------------------- MODULE O13 ---------------------------------
(***************************************************************************)
(* Mutant O13: an opener waits for a closer that is sealing.               *)
(*                                                                         *)
(* The closer is stopped, and nobody can open the arena any more.          *)
(***************************************************************************)
EXTENDS LifecycleScenarios

O13_Passes(state) == state.t # "SEALING"
=============================================================================
