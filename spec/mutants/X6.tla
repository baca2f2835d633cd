--------------------------------- MODULE X6 ---------------------------------
(***************************************************************************)
(* Mutant X6: counted by a load and a store.  Counts are lost, and the     *)
(* layer gets too many items.                                              *)
(***************************************************************************)
EXTENDS MCScalableBloom

VARIABLE x6   \* what each process has loaded
X6_Vars == <<vars, x6>>
X6_Init == Init /\ x6 = [p \in Procs |-> -1]
X6_Count(p) == /\ At(p, "Count")
               /\ IF x6[p] = -1
                  THEN x6' = [x6 EXCEPT ![p] = count[L[p].k]] /\ UNCHANGED vars
                  ELSE /\ count' = [count EXCEPT ![L[p].k] = x6[p] + 1]
                       /\ AfterCount(p, x6[p] + 1)
                       /\ x6' = [x6 EXCEPT ![p] = -1]
                       /\ UNCHANGED <<last, held, lies>>
X6_Next == (Terminating /\ UNCHANGED x6) \/ \E p \in Procs : X6_Count(p) \/ ((Invoke(p) \/ ReadLast(p) \/ Look(p) \/ SetBits(p) \/ Grow(p)) /\ UNCHANGED x6)
X6_Spec == X6_Init /\ [][X6_Next]_X6_Vars
=============================================================================
