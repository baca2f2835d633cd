-------------------------------- MODULE O4 ----------------------------------
(***************************************************************************)
(* Mutant O4: close neither waits for the calls of other threads nor hides *)
(* the arena from them.                                                    *)
(*                                                                         *)
(* A daemon thread writes to an arena that is sealed.                      *)
(***************************************************************************)
EXTENDS LifecycleScenarios

O4_CallsAreOver(o) == TRUE
O4_Hides(o) == FALSE
=============================================================================
