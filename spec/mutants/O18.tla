-------------------------------- MODULE O18 ---------------------------------
(***************************************************************************)
(* Mutant O18: a closer leaves the mark of another closer alone.           *)
(*                                                                         *)
(* That one takes its mark back for an opening that is just closing: all   *)
(* have closed, and nobody has sealed.                                     *)
(***************************************************************************)
EXTENDS LifecycleScenarios

O18_Replaces(state) == state.t # "SEALING"
=============================================================================
