-------------------------------- MODULE O8 ----------------------------------
(***************************************************************************)
(* Mutant O8: checksum and CLEAN are stored, not swapped for the own mark. *)
(*                                                                         *)
(* A sealer that was stopped goes on after others have opened the arena.   *)
(***************************************************************************)
EXTENDS LifecycleScenarios

O8_IsMarked(o) == TRUE
O8_IsMarkedToUndo(o) == TRUE
=============================================================================
