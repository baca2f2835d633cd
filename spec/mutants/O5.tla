-------------------------------- MODULE O5 ----------------------------------
(***************************************************************************)
(* Mutant O5: a slot is released by a plain store.                         *)
(*                                                                         *)
(* A finalizer that releases the slot once more frees the slot of the next *)
(* owner.                                                                  *)
(***************************************************************************)
EXTENDS LifecycleScenarios

O5_IsStill(s, w) == TRUE
=============================================================================
