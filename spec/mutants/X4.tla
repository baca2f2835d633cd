--------------------------------- MODULE X4 ---------------------------------
(***************************************************************************)
(* Mutant X4: a store for the compare-and-swap.  What others have set is   *)
(* undone.                                                                 *)
(***************************************************************************)
EXTENDS MCStableBloom

X4_Fade(p) == /\ At(p, "Fade")
              /\ word' = Faded(L[p].seen, Own(p).fade)
              /\ lowered' = [j \in Cells |-> IF j \in Own(p).fade THEN lowered[j] + 1 ELSE lowered[j]]
              /\ L' = [L EXCEPT ![p].pc = "Set"]
              /\ UNCHANGED at
=============================================================================
