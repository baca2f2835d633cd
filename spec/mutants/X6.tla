--------------------------------- MODULE X6 ---------------------------------
(***************************************************************************)
(* Mutant X6: counted by a load and a store.  Counts are lost, and the     *)
(* layer gets too many items.                                              *)
(***************************************************************************)
EXTENDS MCScalableBloom

\* What an add has loaded is in a register that adds do not use.
X6_Count(p) == /\ At(p, "Count")
               /\ L' = [L EXCEPT ![p].pc = "Store", ![p].sure = count[L[p].k]]
               /\ UNCHANGED <<last, held, count, at, sure, lies>>
Store(p) == /\ At(p, "Store")
            /\ count' = [count EXCEPT ![L[p].k] = L[p].sure + 1]
            /\ AfterCount(p, L[p].sure + 1)
            /\ UNCHANGED <<last, held, lies>>
X6_Step(p) == ReadLast(p) \/ Look(p) \/ SetBits(p) \/ X6_Count(p) \/ Store(p) \/ Grow(p)
=============================================================================
