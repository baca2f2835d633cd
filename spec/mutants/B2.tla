--------------------------------- MODULE B2 ---------------------------------
(***************************************************************************)
(* Mutant B2: an item does not fit into a word, and its words are exchanged*)
(* one after the other.  Of two items there remains a third one, never     *)
(* added, which then is said to be seen: a false positive.                 *)
(***************************************************************************)
EXTENDS InverseBloom, InverseBloomScenarios

B2_Exchange(p) == LET i == L[p].op.item IN At(p, "Exchange")
    /\ table' = [table EXCEPT ![Slot[i]][1] = i[1]]
    /\ L' = [L EXCEPT ![p].pc = "ExchangeSecond", ![p].old = <<table[Slot[i]][1], 0>>]
    /\ UNCHANGED <<at, begun, lies, M>>
ExchangeSecond(p) == LET i == L[p].op.item IN At(p, "ExchangeSecond")
    /\ table' = [table EXCEPT ![Slot[i]][2] = i[2]]
    /\ Answer(p, i, <<L[p].old[1], table[Slot[i]][2]>>)
B2_Step(p) == B2_Exchange(p) \/ ExchangeSecond(p)
=============================================================================
