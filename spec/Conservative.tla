---------------------------- MODULE Conservative -----------------------------
(***************************************************************************)
(* The conservative update of a Count-Min sketch by many threads: a        *)
(* counter is raised no further than the estimate needs, and no count is   *)
(* lost.  Who adds announces it first, and leaves a counter alone only if  *)
(* it is high enough for all that is announced.                            *)
(*                                                                         *)
(* The promise: each counter of an item is at least the number of its adds *)
(* that have ended (NeverTooLow), and at most the number of all adds of    *)
(* all its items that have begun (NeverTooHigh), as in a plain sketch.     *)
(*                                                                         *)
(* In code: impl/latchfree/sketches/kernels/conservative.py, which has the *)
(* proof.  An add counts one here.                                         *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANTS Program,   \* process -> sequence of items
          Cells      \* item -> the sequence of its counters, one in each row
Procs    == DOMAIN Program
Items    == DOMAIN Cells
Counters == UNION {{Cells[x][k] : k \in DOMAIN Cells[x]} : x \in Items}
Rows     == Len(Cells[CHOOSE x \in Items : TRUE])

VARIABLES c,           \* the counters
          announced,
          L,           \* the registers of each process
          at,          \* at[p]: the index of p's next add
          ended,       \* adds of each item that have ended (history)
          begun        \* adds of each item that have begun (history)
vars == <<c, announced, L, at, ended, begun>>

Idle == [pc |-> "idle", k |-> 1, before |-> [j \in 1..Rows |-> 0], a |-> 0, least |-> 0]
At(p, pc) == L[p].pc = pc
Own(p)  == Program[p][at[p]]
Cell(p) == Cells[Own(p)][L[p].k]
\* The next row, or the next part of the add.
On(p, registers, pc, then) == L' = [L EXCEPT ![p] = IF @.k = Rows
                                    THEN [registers EXCEPT !.k = 1, !.pc = then]
                                    ELSE [registers EXCEPT !.k = @ + 1, !.pc = pc]]
Min(x, y) == IF x < y THEN x ELSE y

Announce(p) == /\ At(p, "idle") /\ at[p] <= Len(Program[p])
               /\ announced' = announced + 1
               /\ begun' = [begun EXCEPT ![Own(p)] = @ + 1]
               /\ L' = [L EXCEPT ![p].pc = "ReadBefore"]
               /\ UNCHANGED <<c, at, ended>>
ReadBefore(p) == /\ At(p, "ReadBefore")
                 /\ On(p, [L[p] EXCEPT !.before[L[p].k] = c[Cell(p)]], "ReadBefore", "ReadAnnounced")
                 /\ UNCHANGED <<c, announced, at, ended, begun>>
Others(p) == announced
ReadAnnounced(p) == /\ At(p, "ReadAnnounced")
                    /\ L' = [L EXCEPT ![p].a = Others(p), ![p].pc = "ReadLeast"]
                    /\ UNCHANGED <<c, announced, at, ended, begun>>
ReadLeast(p) == /\ At(p, "ReadLeast")
                /\ On(p, [L[p] EXCEPT !.least = IF L[p].k = 1 THEN c[Cell(p)] ELSE Min(@, c[Cell(p)])], "ReadLeast", "Raise")
                /\ UNCHANGED <<c, announced, at, ended, begun>>
Missing(p) == LET wanted == L[p].least + L[p].a
                  held == L[p].before[L[p].k] IN IF wanted > held THEN Min(wanted - held, 1) ELSE 0
\* Fetch-and-add.
Raise(p) == /\ At(p, "Raise")
            /\ c' = [c EXCEPT ![Cell(p)] = @ + Missing(p)]
            /\ On(p, L[p], "Raise", "Withdraw")
            /\ UNCHANGED <<announced, at, ended, begun>>
Withdraw(p) == /\ At(p, "Withdraw")
               /\ announced' = announced - 1
               /\ ended' = [ended EXCEPT ![Own(p)] = @ + 1]
               /\ L' = [L EXCEPT ![p] = Idle]
               /\ at' = [at EXCEPT ![p] = @ + 1]
               /\ UNCHANGED <<c, begun>>
Step(p) == Announce(p) \/ ReadBefore(p) \/ ReadAnnounced(p) \/ ReadLeast(p) \/ Raise(p) \/ Withdraw(p)

Terminating == (\A p \in Procs : At(p, "idle") /\ at[p] > Len(Program[p])) /\ UNCHANGED vars
Init == /\ c = [k \in Counters |-> 0]
        /\ announced = 0
        /\ L = [p \in Procs |-> Idle]
        /\ at = [p \in Procs |-> 1]
        /\ ended = [x \in Items |-> 0]
        /\ begun = [x \in Items |-> 0]
Next == (\E p \in Procs : Step(p)) \/ Terminating
Spec == Init /\ [][Next]_vars

Has(x, k) == \E i \in DOMAIN Cells[x] : Cells[x][i] = k
Sum[S \in SUBSET Items] == IF S = {} THEN 0 ELSE LET x == CHOOSE y \in S : TRUE IN begun[x] + Sum[S \ {x}]
NeverTooLow  == \A x \in Items : \A i \in DOMAIN Cells[x] : c[Cells[x][i]] >= ended[x]
NeverTooHigh == \A k \in Counters : c[k] <= Sum[{x \in Items : Has(x, k)}]

\* A state in a few words (latchfree spec --alias).
Alias == [next     |-> [p \in Procs |-> <<L[p].pc, L[p].k, L[p].least>>],
          counters |-> c,
          begun    |-> begun,
          ended    |-> ended]
=============================================================================
