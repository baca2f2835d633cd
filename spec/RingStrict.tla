----------------------------- MODULE RingStrict -----------------------------
(***************************************************************************)
(* The ring made strict (as in crossbeam's ArrayQueue): before a put says  *)
(* "full", or a get "empty", it reads the opposite position; if there is   *)
(* room, or a value, it tries again.  The price: it waits for whoever has  *)
(* claimed that cell, so it is not lock-free.                              *)
(***************************************************************************)
EXTENDS Ring

Seems(l) == Goto(l, IF l.op.op = "put" THEN "PutCheckFull" ELSE "GetCheckEmpty")
\* Read deq: full if it is one round behind.
PutCheckFull(p) == LET l == L[p] IN At(p, "PutCheckFull") /\ UNCHANGED <<enq, deq, cell>> /\
    Apply(p, IF deq + Capacity = l.pos THEN Return(0) ELSE Again(l))
\* Read enq: empty if it is at the same position.
GetCheckEmpty(p) == LET l == L[p] IN At(p, "GetCheckEmpty") /\ UNCHANGED <<enq, deq, cell>> /\
    Apply(p, IF enq = l.pos THEN Return(0) ELSE Again(l))
Step(p) == PutStep(p, Seems) \/ GetStep(p, Seems) \/ PutCheckFull(p) \/ GetCheckEmpty(p)
Next == (\E p \in Procs : Invoke(p) \/ Step(p)) \/ Terminating
Spec == Init /\ [][Next]_vars
=============================================================================
