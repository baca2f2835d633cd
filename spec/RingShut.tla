------------------------------ MODULE RingShut ------------------------------
(***************************************************************************)
(* Shutting the strict ring down.  The shutdown moves enq far ahead by a   *)
(* CAS, as if it claimed all positions from there on.  So at this instant  *)
(* every put has claimed its position, or never will.  A put that finds    *)
(* itself far ahead of deq, and a get that finds enq exactly so far ahead  *)
(* of itself, answer 2: shut.                                              *)
(*                                                                         *)
(* In the sequential queue a shutdown appends End, once: a put behind End  *)
(* and a get that finds End alone answer 2, and the queue stays so.        *)
(***************************************************************************)
EXTENDS RingStrict

CONSTANT Shutters     \* the processes that shut the ring down
End  == 99
Jump == 50            \* a multiple of Capacity
Shut == [op |-> "shut", val |-> 0]

IsOver(s) == s # <<>> /\ s[Len(s)] = End
ShutOutcomes(Regs, p, s) ==
    LET o == Regs[p].op.op IN
    IF o = "shut" THEN {[s |-> IF IsOver(s) THEN s ELSE Append(s, End), v |-> 1]}
    ELSE IF (o = "put" /\ IsOver(s)) \/ s = <<End>> THEN {[s |-> s, v |-> 2]}
    ELSE StrictOutcomes(Regs, p, s)

\* Where the shutdown moves enq.
Moved(pos) == pos + Jump
IsFar(distance) == distance > Jump \div 2

ShutSeems(l) == Goto(l, IF l.op.op = "put" THEN "PutCheckEnd" ELSE "GetCheckEnd")
\* Read deq: shut if it is far behind.
PutCheckEnd(p) == LET l == L[p] IN At(p, "PutCheckEnd") /\ UNCHANGED <<enq, deq, cell>> /\
    Apply(p, IF IsFar(l.pos - deq) THEN Return(2) ELSE Goto(l, "PutCheckFull"))
\* Read enq: shut and empty if it has been moved from this position.
GetCheckEnd(p) == LET l == L[p] IN At(p, "GetCheckEnd") /\ UNCHANGED <<enq, deq, cell>> /\
    Apply(p, IF enq = l.pos + Jump THEN Return(2) ELSE Goto(l, "GetCheckEmpty"))

(* shutdown *)
\* Read deq.
ShutReadTaken(p) == At(p, "ShutReadTaken") /\ UNCHANGED <<enq, deq, cell>> /\
    Apply(p, Goto([L[p] EXCEPT !.val = deq], "ShutReadFilled"))
\* Read enq: it is shut already if that is far ahead.
ShutReadFilled(p) == LET l == L[p] IN At(p, "ShutReadFilled") /\ UNCHANGED <<enq, deq, cell>> /\
    Apply(p, IF IsFar(enq - l.val) THEN Return(1) ELSE Goto([l EXCEPT !.pos = enq], "ShutJump"))
\* CAS enq: move it far ahead.
ShutJump(p) == LET l == L[p] IN At(p, "ShutJump") /\ UNCHANGED <<deq, cell>> /\
    IF enq = l.pos THEN enq' = Moved(l.pos) /\ Apply(p, Return(1)) ELSE UNCHANGED enq /\ Apply(p, Goto(l, "ShutReadTaken"))

ShutInvoke(p) == At(p, "idle") /\ at[p] <= Len(Program[p]) /\ UNCHANGED <<enq, deq, cell>> /\
    /\ L' = [L EXCEPT ![p] = [Idle EXCEPT !.pc = "ShutReadTaken", !.op = Shut]]
    /\ M' = Close(M, L')
    /\ at' = [at EXCEPT ![p] = @ + 1]
ShutStep(p) == \/ PutStep(p, ShutSeems) \/ GetStep(p, ShutSeems) \/ PutCheckFull(p) \/ GetCheckEmpty(p)
               \/ PutCheckEnd(p) \/ GetCheckEnd(p) \/ ShutReadTaken(p) \/ ShutReadFilled(p) \/ ShutJump(p)
ShutNext == (\E p \in Procs : (IF p \in Shutters THEN ShutInvoke(p) ELSE Invoke(p)) \/ ShutStep(p)) \/ Terminating
ShutSpec == Init /\ [][ShutNext]_vars
=============================================================================
