------------------------------- MODULE Stack -------------------------------
(***************************************************************************)
(* Treiber's stack without reuse of nodes, to be read second: each thread  *)
(* pushes a node of its own, which has the thread's number, and then pops  *)
(* whatever node is on top.                                                *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets

CONSTANT Threads   \* numbers from 1 on; 0 is no node

VARIABLES head,     \* the node on top
          below,    \* below[n]: the node under node n
          pc,       \* where each thread is
          seen,     \* the head that each thread has read
          popped    \* the node that each thread has popped
vars == <<head, below, pc, seen, popped>>

\* Whether a compare-and-swap of t succeeds.
Same(t) == head = seen[t]
Go(t, place) == pc' = [pc EXCEPT ![t] = place]

\* Read the head, and link the own node to it.
Link(t) == /\ pc[t] = "Link"
           /\ seen' = [seen EXCEPT ![t] = head]
           /\ below' = [below EXCEPT ![t] = head]
           /\ Go(t, "Push")
           /\ UNCHANGED <<head, popped>>
\* CAS head: to the own node.
Push(t) == /\ pc[t] = "Push"
           /\ IF Same(t) THEN head' = t /\ Go(t, "Read") ELSE UNCHANGED head /\ Go(t, "Link")
           /\ UNCHANGED <<below, seen, popped>>
\* Read the head; there is always a node when nothing is lost, since each thread pushes before it pops.
Read(t) == /\ pc[t] = "Read"
           /\ head # 0
           /\ seen' = [seen EXCEPT ![t] = head]
           /\ Go(t, "Pop")
           /\ UNCHANGED <<head, below, popped>>
\* CAS head: to the node below.
Pop(t) == /\ pc[t] = "Pop"
          /\ IF Same(t) THEN /\ head' = below[seen[t]]
                             /\ popped' = [popped EXCEPT ![t] = seen[t]]
                             /\ Go(t, "Done")
             ELSE UNCHANGED <<head, popped>> /\ Go(t, "Read")
          /\ UNCHANGED <<below, seen>>
Step(t) == Link(t) \/ Push(t) \/ Read(t) \/ Pop(t)

Init == /\ head = 0
        /\ below = [t \in Threads |-> 0]
        /\ pc = [t \in Threads |-> "Link"]
        /\ seen = [t \in Threads |-> 0]
        /\ popped = [t \in Threads |-> 0]
Next == (\E t \in Threads : Step(t)) \/ ((\A t \in Threads : pc[t] = "Done") /\ UNCHANGED vars)
Spec == Init /\ [][Next]_vars

RECURSIVE From(_)
From(n) == IF n = 0 THEN {} ELSE {n} \cup From(below[n])
Pushed == {t \in Threads : pc[t] \in {"Read", "Pop", "Done"}}
Takers(n) == {t \in Threads : popped[t] = n}
\* A node that was pushed is on the stack, or one thread has popped it.
EachOnce == \A n \in Pushed : IF n \in From(head) THEN Takers(n) = {} ELSE Cardinality(Takers(n)) = 1

\* A state in a few words (latchfree spec --alias).
Alias == [next |-> pc, top |-> head, under |-> below, read |-> seen, popped |-> popped]
=============================================================================
