---------------------------- MODULE InverseBloom ----------------------------
(***************************************************************************)
(* The inverse Bloom filter (J. Hodges, "The Opposite of a Bloom Filter",  *)
(* 2012): it may say of an item it has seen that it has not, but never the *)
(* opposite.  A table of slots without any handling of conflicts: an item  *)
(* is put into the slot of its hash by an atomic exchange, and was seen    *)
(* before if it is what was there.                                         *)
(*                                                                         *)
(* Being one atomic access, test-and-add is linearizable; the sequential   *)
(* object is the table itself.  So of several that add one item at a time, *)
(* and no other to that slot, exactly one is told "not seen": this is what *)
(* makes the filter fit to drop duplicates.                                *)
(*                                                                         *)
(* In code: `add` of impl/latchfree/sketches/kernels/inverse.py.  It is the*)
(* smallest example of an object that is correct with one atomic access    *)
(* for each operation; see spec/README.md.                                 *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANTS Program,   \* process -> sequence of items
          Slot       \* item -> the slot of its hash
Procs == DOMAIN Program
Items == DOMAIN Slot
Slots == {Slot[x] : x \in Items}
None  == <<0, 0>>    \* what an empty slot holds; an item is a pair of words, neither of which is 0

\* The operation [op |-> "add", item |-> x] answers TRUE: seen, or FALSE: not seen, as far as the table goes.
Add(x) == [op |-> "add", item |-> x]
NoOp   == [op |-> "none", item |-> None]
TableOutcomes(Regs, p, s) ==
    LET x == Regs[p].op.item IN {[s |-> [s EXCEPT ![Slot[x]] = x], v |-> s[Slot[x]] = x]}
INSTANCE Linearizability WITH Outcomes <- TableOutcomes

VARIABLES table,   \* the item in each slot
          L,       \* the registers of each process
          at,      \* at[p]: the index of p's next item
          begun,   \* how many operations have begun to add each item (history)
         lies,    \* the items said to be seen that no other operation had begun to add (history)
          M        \* the linearizability tracker
vars == <<table, L, at, begun, lies, M>>

Idle == [pc |-> "idle", op |-> NoOp, old |-> None]      \* old: what was in the slot
Item(p)    == Program[p][at[p]]
At(p, pc)  == L[p].pc = pc
Answer(p, x, old) == /\ L' = [L EXCEPT ![p] = Idle]
                     /\ at' = [at EXCEPT ![p] = @ + 1]
                     /\ M' = Returned(M, p, old = x)
                     /\ lies' = IF old = x /\ begun[x] = 1 THEN lies \cup {x} ELSE lies
                     /\ UNCHANGED begun

\* An operation begins.
Invoke(p) == /\ At(p, "idle") /\ at[p] <= Len(Program[p])
             /\ L' = [L EXCEPT ![p].pc = "Exchange", ![p].op = Add(Item(p))]
             /\ M' = Close(M, L')
             /\ begun' = [begun EXCEPT ![Item(p)] = @ + 1]
             /\ UNCHANGED <<table, at, lies>>
\* Exchange the slot: the item for what was there.
Exchange(p) == LET x == L[p].op.item IN At(p, "Exchange")
             /\ table' = [table EXCEPT ![Slot[x]] = x]
             /\ Answer(p, x, table[Slot[x]])
Step(p) == Exchange(p)

Quiet == \A p \in Procs : L[p].pc = "idle"
Terminating == Quiet /\ (\A p \in Procs : at[p] > Len(Program[p])) /\ UNCHANGED vars
Init == /\ table = [k \in Slots |-> None]
        /\ L = [p \in Procs |-> Idle]
        /\ at = [p \in Procs |-> 1]
        /\ begun = [x \in Items |-> 0]
        /\ lies = {}
        /\ M = {[s |-> table, r |-> [p \in Procs |-> <<>>]]}
Next == (\E p \in Procs : Invoke(p) \/ Step(p)) \/ Terminating
Spec == Init /\ [][Next]_vars

Linearizable == M # {}
\* What is said to be seen was added, by another operation.
NoFalsePositive == lies = {}
\* A slot holds what belongs there.
InPlace == \A k \in Slots : table[k] # None => table[k] \in Items /\ Slot[table[k]] = k

\* A state in a few words (latchfree spec --alias).
Alias == [next      |-> [p \in Procs |-> <<L[p].pc, L[p].old>>],
          slots     |-> table,
          lies      |-> lies,
          explained |-> Cardinality(M)]
=============================================================================
