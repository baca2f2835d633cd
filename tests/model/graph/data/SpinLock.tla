------------------------------ MODULE SpinLock ------------------------------
(* A lock taken by test-and-set: who finds it taken tries again. The holder *)
(* may be stopped, and then the others spin for ever: not lock-free.        *)
EXTENDS Naturals

CONSTANT Procs
VARIABLES lock, L               \* whether the lock is taken; the registers of each process
vars == <<lock, L>>

Move(p, from, to) == L[p].pc = from /\ L' = [L EXCEPT ![p].pc = to]

Init == lock = FALSE /\ L = [p \in Procs |-> [pc |-> "idle"]]
Invoke(p)  == Move(p, "idle", "Acquire") /\ UNCHANGED lock
Acquire(p) == Move(p, "Acquire", "Release") /\ ~lock /\ lock' = TRUE
Spin(p)    == L[p].pc = "Acquire" /\ lock /\ UNCHANGED vars
Release(p) == Move(p, "Release", "idle") /\ lock' = FALSE
Break(p)   == Move(p, "broken", "idle") /\ UNCHANGED lock

Next == \E p \in Procs : Invoke(p) \/ Acquire(p) \/ Spin(p) \/ Release(p) \/ Break(p)
Spec == Init /\ [][Next]_vars

Exclusive == \A p, q \in Procs : p # q => ~(L[p].pc = "Release" /\ L[q].pc = "Release")
Free == ~lock \/ \E p \in Procs : L[p].pc = "idle"
Answered == \E p \in Procs : L[p].pc # "idle" /\ L'[p].pc = "idle"
LockFree == []<><<TRUE>>_vars => []<><<Answered>>_vars
=============================================================================
