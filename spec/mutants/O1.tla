-------------------------------- MODULE O1 ----------------------------------
(***************************************************************************)
(* Mutant O1: the owner is the process, not the opening.                   *)
(*                                                                         *)
(* Closing one opening releases every slot of the process, also those that *)
(* another opening of the process uses.                                    *)
(***************************************************************************)
EXTENDS LifecycleScenarios

O1_ToRelease(o) == {[s |-> s, w |-> arena.slot[s]] :
    s \in {k \in 1..Slots : arena.slot[k] # Nobody /\ Of[arena.slot[k].own] = Of[o]}}
=============================================================================
