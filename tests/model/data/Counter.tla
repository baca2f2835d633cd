------------------------------ MODULE Counter ------------------------------
(* Processes add one to a shared counter: read it, then write what was    *)
(* read plus one. Two that read the same value lose an update. Overriding *)
(* Write by an atomic addition mends it.                                  *)
EXTENDS Integers, FiniteSets, Sequences, TLC

CONSTANTS Procs, Limit          \* the processes; the largest value of the counter

ASSUME SomeProcess == Procs # {} /\ Limit > 0

VARIABLES counter, L            \* the shared counter; the registers of each process
vars == <<counter, L>>

Idle == [pc |-> "idle", op |-> "none", seen |-> 0]

Init == counter = 0 /\ L = [p \in Procs |-> Idle]

Written(p) == L[p].seen + 1
AtomicWritten(p) == counter + 1

Read(p) == /\ L[p].pc = "idle" /\ L[p].op = "none"
           /\ L' = [L EXCEPT ![p] = [pc |-> "write", op |-> "add", seen |-> counter]]
           /\ UNCHANGED counter

Write(p) == /\ L[p].pc = "write" /\ Written(p) <= Limit
            /\ counter' = Written(p)
            /\ L' = [L EXCEPT ![p] = [pc |-> "idle", op |-> "done", seen |-> 0]]

Done == (\A p \in Procs : L[p].op = "done") /\ UNCHANGED vars

Next == (\E p \in Procs : Read(p) \/ Write(p)) \/ Done
Spec == Init /\ [][Next]_vars

TypeOK == counter \in 0..Limit
NoLostUpdate == (\A p \in Procs : L[p].op = "done") => counter = Cardinality(Procs)
Grows == [][counter' > counter \/ UNCHANGED counter]_vars
Jumps == [][counter' = 0]_vars
Finishes == <>(counter = Cardinality(Procs))
NotZero == counter # 0
Broken == Head(<<>>) = counter
=============================================================================
