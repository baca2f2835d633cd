--------------------------- MODULE CountingBloom ----------------------------
(***************************************************************************)
(* A counting Bloom filter: an item has a counter in each slice; adding    *)
(* raises them, removing lowers them, one after the other, each by a       *)
(* compare-and-swap.  Counters count to Top and stay there.                *)
(*                                                                         *)
(* The promise: as long as nobody removes what was not added, no counter   *)
(* of an item is below the number of its adds that have ended, less its    *)
(* removes that have begun (Floor), unless it stays at the top; so what    *)
(* was added and not removed is found, and nothing that was added is       *)
(* refused to a remove (NothingLost).  And whatever is removed, no counter *)
(* goes below 0 (InRange).                                                 *)
(*                                                                         *)
(* In code: `add` and `remove` of                                          *)
(* impl/latchfree/sketches/kernels/counting.py.                            *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANTS Program,   \* process -> sequence of operations
          Cells,     \* item -> the sequence of its counters
          Top        \* what a counter counts to
Procs    == DOMAIN Program
Items    == DOMAIN Cells
Counters == UNION {{Cells[x][k] : k \in DOMAIN Cells[x]} : x \in Items}

Add(x)    == [op |-> "add", item |-> x]
Remove(x) == [op |-> "remove", item |-> x]
NoOp      == [op |-> "none", item |-> 0]

VARIABLES c,        \* the counters
          L,        \* the registers of each process
          at,       \* at[p]: the index of p's next operation
          balance,  \* adds ended less removes begun, of each item (history)
          lost      \* items whose removal was refused (history)
vars == <<c, L, at, balance, lost>>

Idle == [pc |-> "idle", op |-> NoOp, k |-> 1, held |-> 0]    \* k: which counter of the item; held: what it was
At(p, pc)  == L[p].pc = pc
Own(p)     == Cells[L[p].op.item]
Cell(p)    == Own(p)[L[p].k]
IsLast(p)  == L[p].k = Len(Own(p))
Raised(v)  == IF v = Top THEN Top ELSE v + 1
Lowered(v) == IF v = Top \/ v = 0 THEN v ELSE v - 1
New(p)     == IF L[p].op.op = "add" THEN Raised(L[p].held) ELSE Lowered(L[p].held)
Done(p)    == /\ L' = [L EXCEPT ![p] = Idle]
              /\ at' = [at EXCEPT ![p] = @ + 1]

\* An operation begins.
Invoke(p) == /\ At(p, "idle") /\ at[p] <= Len(Program[p])
             /\ LET o == Program[p][at[p]] IN
                /\ L' = [L EXCEPT ![p].pc = IF o.op = "add" THEN "Read" ELSE "Look", ![p].op = o]
                /\ balance' = IF o.op = "remove" THEN [balance EXCEPT ![o.item] = @ - 1] ELSE balance
             /\ UNCHANGED <<c, at, lost>>
\* A remove looks whether the item is there.
Look(p) == /\ At(p, "Look")
           /\ IF c[Cell(p)] = 0
              THEN Done(p) /\ lost' = lost \cup {L[p].op.item}
              ELSE /\ L' = [L EXCEPT ![p].pc = IF IsLast(p) THEN "Read" ELSE "Look", ![p].k = IF IsLast(p) THEN 1 ELSE @ + 1]
                   /\ UNCHANGED <<at, lost>>
           /\ UNCHANGED <<c, balance>>
Read(p) == /\ At(p, "Read")
           /\ L' = [L EXCEPT ![p].pc = "Write", ![p].held = c[Cell(p)]]
           /\ UNCHANGED <<c, at, balance, lost>>
\* After a counter: the next one, or the end.
Further(p) == IF IsLast(p)
              THEN /\ Done(p)
                   /\ balance' = IF L[p].op.op = "add" THEN [balance EXCEPT ![L[p].op.item] = @ + 1] ELSE balance
              ELSE L' = [L EXCEPT ![p].pc = "Read", ![p].k = @ + 1] /\ UNCHANGED <<at, balance>>
\* Compare-and-swap.
Write(p) == /\ At(p, "Write")
            /\ IF c[Cell(p)] = L[p].held
               THEN c' = [c EXCEPT ![Cell(p)] = New(p)] /\ Further(p)
               ELSE L' = [L EXCEPT ![p].pc = "Read"] /\ UNCHANGED <<c, at, balance>>
            /\ UNCHANGED lost
Step(p) == Look(p) \/ Read(p) \/ Write(p)

Terminating == (\A p \in Procs : At(p, "idle") /\ at[p] > Len(Program[p])) /\ UNCHANGED vars
Init == /\ c = [k \in Counters |-> 0]
        /\ L = [p \in Procs |-> Idle]
        /\ at = [p \in Procs |-> 1]
        /\ balance = [x \in Items |-> 0]
        /\ lost = {}
Next == (\E p \in Procs : Invoke(p) \/ Step(p)) \/ Terminating
Spec == Init /\ [][Next]_vars

Has(x, k) == \E i \in DOMAIN Cells[x] : Cells[x][i] = k
Sum[S \in SUBSET Items] == IF S = {} THEN 0 ELSE LET x == CHOOSE y \in S : TRUE IN balance[x] + Sum[S \ {x}]
Floor == \A k \in Counters : c[k] = Top \/ c[k] >= Sum[{x \in Items : Has(x, k)}]
InRange == \A k \in Counters : c[k] \in 0..Top
NothingLost == lost = {}

\* A state in a few words (latchfree spec --alias).
Alias == [next     |-> [p \in Procs |-> <<L[p].op.op, L[p].op.item, L[p].pc, L[p].k>>],
          counters |-> c,
          balance  |-> balance,
          refused  |-> lost]
=============================================================================
