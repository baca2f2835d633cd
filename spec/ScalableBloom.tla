--------------------------- MODULE ScalableBloom ----------------------------
(***************************************************************************)
(* A scalable Bloom filter: layers, of which the last one in use takes     *)
(* what is new.  Who counts a layer full says that the next one is in use, *)
(* by a compare-and-swap of the number of the last layer.                  *)
(*                                                                         *)
(* What a layer holds is a set of items here, and setting all bits of one  *)
(* is one step: how the bits of a layer are set one after the other is     *)
(* what a plain Bloom filter does.                                         *)
(*                                                                         *)
(* The promise: an item whose add has returned is found (NoFalseNegative). *)
(* A layer gets at most as many items more than it is for as there are     *)
(* other processes (NotOverfull): so the rate of false positives holds.    *)
(* A layer comes into use only when the one before is full (Filled).       *)
(*                                                                         *)
(* In code: impl/latchfree/sketches/kernels/scalable.py.                   *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANTS Program,   \* process -> sequence of operations
          Layers,    \* how many there are, numbered from 0
          Room       \* items that a layer is for
Procs == DOMAIN Program

Add(x)  == [op |-> "add", item |-> x]
Find(x) == [op |-> "find", item |-> x]
NoOp    == [op |-> "none", item |-> 0]

VARIABLES last,    \* the last layer in use
          held,    \* the items of each layer
          count,   \* how many new items each layer has counted
          L,       \* the registers of each process
          at,      \* at[p]: the index of p's next operation
          sure,    \* items whose add has returned (history)
          lies     \* items that were not found though sure (history)
vars == <<last, held, count, L, at, sure, lies>>

Idle == [pc |-> "idle", op |-> NoOp, k |-> 0, sure |-> FALSE]   \* k: the layer; sure: the item was, at the call
At(p, pc) == L[p].pc = pc
Own(p)    == L[p].op.item
Done(p)   == /\ L' = [L EXCEPT ![p] = Idle]
             /\ at' = [at EXCEPT ![p] = @ + 1]
             /\ sure' = IF L[p].op.op = "add" THEN sure \cup {Own(p)} ELSE sure

Invoke(p) == /\ At(p, "idle") /\ at[p] <= Len(Program[p])
             /\ LET o == Program[p][at[p]] IN
                L' = [L EXCEPT ![p].pc = "ReadLast", ![p].op = o, ![p].sure = o.item \in sure]
             /\ UNCHANGED <<last, held, count, at, sure, lies>>
\* Before the looks, and again before an add sets bits.
ReadLast(p) == /\ L[p].pc \in {"ReadLast", "ReadLastAgain"}
               /\ L' = [L EXCEPT ![p].pc = IF At(p, "ReadLast") THEN "Look" ELSE "SetBits", ![p].k = last]
               /\ UNCHANGED <<last, held, count, at, sure, lies>>
\* The layers from the newest on.
NextLook(p) == IF L[p].k > 0 THEN "Look" ELSE "absent"
Look(p) == /\ At(p, "Look")
           /\ IF Own(p) \in held[L[p].k]
              THEN Done(p) /\ UNCHANGED lies
              ELSE IF NextLook(p) = "Look"
              THEN L' = [L EXCEPT ![p].k = @ - 1] /\ UNCHANGED <<at, sure, lies>>
              ELSE IF L[p].op.op = "add"
              THEN L' = [L EXCEPT ![p].pc = "ReadLastAgain"] /\ UNCHANGED <<at, sure, lies>>
              ELSE Done(p) /\ lies' = IF L[p].sure THEN lies \cup {Own(p)} ELSE lies
           /\ UNCHANGED <<last, held, count>>
SetBits(p) == /\ At(p, "SetBits")
              /\ held' = [held EXCEPT ![L[p].k] = @ \cup {Own(p)}]
              /\ L' = [L EXCEPT ![p].pc = "Count"]
              /\ UNCHANGED <<last, count, at, sure, lies>>
\* Fetch-and-add.
AfterCount(p, n) == IF n >= Room /\ L[p].k + 1 < Layers
                    THEN L' = [L EXCEPT ![p].pc = "Grow"] /\ UNCHANGED <<at, sure>>
                    ELSE Done(p)
Count(p) == /\ At(p, "Count")
            /\ count' = [count EXCEPT ![L[p].k] = @ + 1]
            /\ AfterCount(p, count[L[p].k] + 1)
            /\ UNCHANGED <<last, held, lies>>
\* Compare-and-swap.
Grown(p) == IF last = L[p].k THEN last + 1 ELSE last
Grow(p) == /\ At(p, "Grow")
           /\ last' = Grown(p)
           /\ Done(p)
           /\ UNCHANGED <<held, count, lies>>
Step(p) == ReadLast(p) \/ Look(p) \/ SetBits(p) \/ Count(p) \/ Grow(p)

Terminating == (\A p \in Procs : At(p, "idle") /\ at[p] > Len(Program[p])) /\ UNCHANGED vars
Init == /\ last = 0
        /\ held = [k \in 0..Layers - 1 |-> {}]
        /\ count = [k \in 0..Layers - 1 |-> 0]
        /\ L = [p \in Procs |-> Idle]
        /\ at = [p \in Procs |-> 1]
        /\ sure = {}
        /\ lies = {}
Next == (\E p \in Procs : Invoke(p) \/ Step(p)) \/ Terminating
Spec == Init /\ [][Next]_vars

NoFalseNegative == lies = {}
NotOverfull == \A k \in 0..Layers - 2 : Cardinality(held[k]) <= Room + Cardinality(Procs) - 1
Filled == \A k \in 0..Layers - 1 : k < last => count[k] >= Room

\* A state in a few words (latchfree spec --alias).
Alias == [next   |-> [p \in Procs |-> <<L[p].op.op, L[p].op.item, L[p].pc, L[p].k>>],
          layers |-> held,
          counts |-> count,
          last   |-> last,
          lies   |-> lies]
=============================================================================
