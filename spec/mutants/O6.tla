-------------------------------- MODULE O6 ----------------------------------
(***************************************************************************)
(* Mutant O6: the kernel's lock goes with the descriptor, not with the     *)
(* mapping.                                                                *)
(*                                                                         *)
(* A daemonizer that closes all descriptors is adopted while it lives.     *)
(***************************************************************************)
EXTENDS LifecycleScenarios

O6_GoesWithDescriptor == TRUE
=============================================================================
