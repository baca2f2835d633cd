-------------------------------- MODULE O9 ----------------------------------
(***************************************************************************)
(* Mutant O9: a closer gives its byte back after it has looked for others. *)
(*                                                                         *)
(* Two closers see each other, and nobody seals.                           *)
(***************************************************************************)
EXTENDS LifecycleScenarios

O9_HiddenThen == "CloseLook"
O9_AloneThen == "CloseUnlock"
O9_UnlockedThen == "CloseRead"
=============================================================================
