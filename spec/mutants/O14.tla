-------------------------------- MODULE O14 ---------------------------------
(***************************************************************************)
(* Mutant O14: an opener does not read the state again when the checksum   *)
(* is wrong.                                                               *)
(*                                                                         *)
(* Another one has opened the arena meanwhile and writes: a sound arena is *)
(* refused as damaged.                                                     *)
(***************************************************************************)
EXTENDS LifecycleScenarios

O14_IsChanged(x) == FALSE
=============================================================================
