--------------------------------- MODULE B1 ---------------------------------
(***************************************************************************)
(* Mutant B1: the slot is read and then written, in two steps.  Two that   *)
(* add one item at a time are both told that it was not seen.  (There is   *)
(* still no false positive.)                                               *)
(***************************************************************************)
EXTENDS InverseBloom, InverseBloomScenarios

B1_Exchange(p) == LET i == L[p].op.item IN At(p, "Exchange")
    /\ L' = [L EXCEPT ![p].pc = "Store", ![p].old = table[Slot[i]]]
    /\ UNCHANGED <<table, at, begun, lies, M>>
Store(p) == LET i == L[p].op.item IN At(p, "Store")
    /\ table' = [table EXCEPT ![Slot[i]] = i]
    /\ Answer(p, i, L[p].old)
B1_Step(p) == B1_Exchange(p) \/ Store(p)
=============================================================================
