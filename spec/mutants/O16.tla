-------------------------------- MODULE O16 ---------------------------------
(***************************************************************************)
(* Mutant O16: only the opener that breaks the seal brings IN_USE to disk. *)
(*                                                                         *)
(* Another opener writes first, and the system goes down: the disk has the *)
(* seal of before, and what was written after.                             *)
(***************************************************************************)
EXTENDS LifecycleScenarios

O16_FlushesAlways == FALSE
=============================================================================
