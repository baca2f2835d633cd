-------------------------------- MODULE O11 ---------------------------------
(***************************************************************************)
(* Mutant O11: an opening also asks about itself.                          *)
(*                                                                         *)
(* A lock is no conflict for its owner, so the kernel says that the byte   *)
(* is free: an opening adopts from itself.                                 *)
(***************************************************************************)
EXTENDS LifecycleScenarios

O11_IsOwn(w, o) == FALSE
=============================================================================
