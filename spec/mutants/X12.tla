--------------------------------- MODULE X12 ---------------------------------
(***************************************************************************)
(* Mutant X12: who finds his own hash in the slot takes the item for       *)
(* written.  What a race or a kill has spoilt stays so.                    *)
(***************************************************************************)
EXTENDS MCTopK

X12_Look(p) == /\ At(p, "Look")
               /\ IF hash = Own(p)
                  THEN Done(p) /\ healed' = (healed /\ (L[p].alone => seal = SealOf(hash, b)))
                  ELSE L' = [L EXCEPT ![p].hash = hash, ![p].pc = "Claim"] /\ UNCHANGED <<at, healed>>
               /\ UNCHANGED <<hash, seal, b, forged>>
=============================================================================
