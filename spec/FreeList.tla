------------------------------ MODULE FreeList ------------------------------
(***************************************************************************)
(* The shared list of free nodes: a Treiber stack of batches, each linked  *)
(* through its own memory.  Batches are taken without any grace, so a      *)
(* popper may read the link of a batch that is in use by now, and the      *)
(* batch it read may come back to the top (ABA).  Therefore the head       *)
(* carries a version, which every change of the head increments.           *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANTS Program,   \* process -> sequence of "push" and "pop"
          Batches    \* how many batches there are; at the start all are on the list
Procs == DOMAIN Program

VARIABLES head,   \* [first, version]: the first batch, 0 if none
          link,   \* link[b]: the batch below b, or anything while b is not on the list
          L       \* the registers of each process
vars == <<head, link, L>>

\* own: the batches of this process, the last one taken first.
Idle  == [pc |-> "idle", todo |-> <<>>, own |-> <<>>, first |-> 0, version |-> 0, below |-> 0]
Begin(l) == [Idle EXCEPT !.own = l.own, !.todo = IF l.todo = <<>> THEN <<>> ELSE Tail(l.todo),
                         !.pc = IF l.todo = <<>> THEN "idle"
                                ELSE IF Head(l.todo) = "pop" THEN "PopRead"
                                ELSE IF l.own = <<>> THEN "idle" ELSE "PushRead"]
Bump(v) == v + 1
IsHead(l) == head = [first |-> l.first, version |-> l.version]
Move(p, l) == L' = [L EXCEPT ![p] = l]
At(p, pc)  == L[p].pc = pc

\* Read the head; write it into the own batch as the link.
PushRead(p) == LET l == L[p] IN At(p, "PushRead") /\ UNCHANGED head
    /\ link' = [link EXCEPT ![Head(l.own)] = head.first]
    /\ Move(p, [l EXCEPT !.pc = "Push", !.first = head.first, !.version = head.version])
\* CAS head: to the own batch.
Push(p) == LET l == L[p] IN At(p, "Push") /\ UNCHANGED link /\
    IF IsHead(l) THEN /\ head' = [first |-> Head(l.own), version |-> Bump(l.version)]
                      /\ Move(p, Begin([l EXCEPT !.own = Tail(@)]))
    ELSE UNCHANGED head /\ Move(p, [l EXCEPT !.pc = "PushRead", !.first = 0, !.version = 0])
\* Read the head.
PopRead(p) == LET l == L[p] IN At(p, "PopRead") /\ UNCHANGED <<head, link>> /\
    Move(p, IF head.first = 0 THEN Begin(l)
            ELSE [l EXCEPT !.pc = "PopLink", !.first = head.first, !.version = head.version])
\* Read the link of the first batch.
PopLink(p) == LET l == L[p] IN At(p, "PopLink") /\ UNCHANGED <<head, link>> /\
    Move(p, [l EXCEPT !.pc = "PopCas", !.below = link[l.first]])
\* CAS head: to the batch below.
PopCas(p) == LET l == L[p] IN At(p, "PopCas") /\ UNCHANGED link /\
    IF IsHead(l) THEN /\ head' = [first |-> l.below, version |-> Bump(l.version)]
                      /\ Move(p, Begin([l EXCEPT !.own = <<l.first>> \o @]))
    ELSE UNCHANGED head /\ Move(p, [l EXCEPT !.pc = "PopRead", !.first = 0, !.version = 0, !.below = 0])
Step(p) == PushRead(p) \/ Push(p) \/ PopRead(p) \/ PopLink(p) \/ PopCas(p)

Quiet == \A p \in Procs : L[p].pc = "idle"
Init == /\ head = [first |-> 1, version |-> 0]
        /\ link = [b \in 1..Batches |-> (b + 1) % (Batches + 1)]
        /\ L = [p \in Procs |-> Begin([Idle EXCEPT !.todo = Program[p]])]
Next == (\E p \in Procs : Step(p)) \/ (Quiet /\ UNCHANGED vars)
Spec == Init /\ [][Next]_vars

\* The first n batches of the list.
RECURSIVE Chain(_, _)
Chain(b, n) == IF b = 0 \/ n = 0 THEN <<>> ELSE <<b>> \o Chain(link[b], n - 1)
Listed == Chain(head.first, Batches + 1)
Places(b) == Cardinality({n \in 1..Len(Listed) : Listed[n] = b})
             + Cardinality({<<p, n>> \in Procs \X (1..Batches) : n <= Len(L[p].own) /\ L[p].own[n] = b})
\* Each batch is in exactly one place.
OnePlace == \A b \in 1..Batches : Places(b) = 1

\* A state in a few words (latchfree spec --alias).
Alias == [next  |-> [p \in Procs |-> <<L[p].pc, L[p].own>>],
          first |-> head.first,
          version |-> head.version,
          links |-> link]
=============================================================================
