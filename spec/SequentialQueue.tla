-------------------------- MODULE SequentialQueue ---------------------------
(***************************************************************************)
(* The sequential first-in first-out queue that holds at most Capacity     *)
(* values, as tried from outside: an operation that cannot be done at once *)
(* answers 0.  And a weak one.                                             *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANT Capacity

\* An operation is a record; val is 0 where it means nothing; values are >= 1.
TryPut(v) == [op |-> "put",  val |-> v]      \* answers 1, or 0: full
TryGet    == [op |-> "get",  val |-> 0]      \* answers the oldest value, or 0: empty
NoOp      == [op |-> "none", val |-> 0]      \* the process is idle

Refused(s) == [s |-> s, v |-> 0]
StrictOutcomes(Regs, p, s) ==
    LET o == Regs[p].op IN
    IF o.op = "put" THEN IF Len(s) = Capacity THEN {Refused(s)} ELSE {[s |-> Append(s, o.val), v |-> 1]}
    ELSE IF s = <<>> THEN {Refused(s)} ELSE {[s |-> Tail(s), v |-> Head(s)]}
\* The weak queue may also say that it is empty while somebody is about to put, and full while somebody is about
\* to get.  In all else it is as strict: values come out once each, in order, none is lost.
WeakOutcomes(Regs, p, s) ==
    LET other == IF Regs[p].op.op = "put" THEN "get" ELSE "put"
    IN  StrictOutcomes(Regs, p, s)
        \cup (IF \E q \in DOMAIN Regs \ {p} : Regs[q].op.op = other THEN {Refused(s)} ELSE {})
=============================================================================
