-------------------------------- MODULE O7 ----------------------------------
(***************************************************************************)
(* Mutant O7: a closer does not look again after it has marked the header. *)
(*                                                                         *)
(* An opener comes between the look and the mark, finds IN_USE and writes. *)
(***************************************************************************)
EXTENDS LifecycleScenarios

O7_MarkedThen == "CloseSum"
=============================================================================
