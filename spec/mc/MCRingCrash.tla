---------------------------- MODULE MCRingCrash -----------------------------
(***************************************************************************)
(* Bounded models of the ring whose processes may be killed.               *)
(***************************************************************************)
EXTENDS RingCrash, RingScenarios

Putter == {"p"}
Taker == {"g"}
Both  == {"p", "g"}
\* One puts and may be killed; another puts and gets, and wants to get once more.
PutKilled == [p |-> <<{TryPut(1)}>>, q |-> <<{TryPut(2)}, {TryGet}, {TryGet}>>]
\* One gets and may be killed; another gets, and puts where the first one was.
GetKilled == [g |-> <<{TryGet}>>, h |-> <<{TryGet}, {TryPut(1)}, {TryPut(2)}>>]
\* Both, beside a third.
BothKilled == [p |-> <<{TryPut(1)}>>, g |-> <<{TryGet}>>, q |-> <<{TryPut(2)}, {TryGet}>>]
=============================================================================
