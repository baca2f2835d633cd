-------------------------------- MODULE O15 ---------------------------------
(***************************************************************************)
(* Mutant O15: the descriptor asked is not checked.                        *)
(*                                                                         *)
(* Somebody has closed the descriptor, another file has got its number,    *)
(* and nobody has locked that file: a closer seals while others write.     *)
(***************************************************************************)
EXTENDS LifecycleScenarios

O15_Verified == FALSE
=============================================================================
