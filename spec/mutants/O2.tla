-------------------------------- MODULE O2 ----------------------------------
(***************************************************************************)
(* Mutant O2: a question that failed counts as the answer that the opening *)
(* is dead.                                                                *)
(*                                                                         *)
(* A process without descriptors adopts from living ones, and clears the   *)
(* pin of a call under way.                                                *)
(***************************************************************************)
EXTENDS LifecycleScenarios

O2_DeadIfUnknown == TRUE
=============================================================================
