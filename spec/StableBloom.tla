---------------------------- MODULE StableBloom -----------------------------
(***************************************************************************)
(* A stable Bloom filter: an add lowers a few cells by one, all cells of a *)
(* word in one compare-and-swap, and then sets the cells of its item to    *)
(* Top, each by an atomic or.                                              *)
(*                                                                         *)
(* The promise: a cell is at least Top less the number of times it was     *)
(* lowered since it was last set (Kept).  So an item whose add has         *)
(* returned is found until one of its cells was lowered Top times.         *)
(*                                                                         *)
(* In code: `add` of impl/latchfree/sketches/kernels/stable.py.  Which     *)
(* cells fade is chosen by a hash there, and by the program here.          *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANTS Program,   \* process -> sequence of [fade |-> cells that fade, set |-> sequence of the item's cells]
          Cells,     \* of the one word
          Top
Procs == DOMAIN Program

VARIABLES word,     \* the value of each cell
          L,        \* the registers of each process
          at,       \* at[p]: the index of p's next add
          lowered   \* how often each cell was lowered since it was set (history)
vars == <<word, L, at, lowered>>

Idle == [pc |-> "idle", k |-> 1, seen |-> [j \in Cells |-> 0]]
At(p, pc) == L[p].pc = pc
Own(p) == Program[p][at[p]]
Lowered(v) == IF v = 0 THEN 0 ELSE v - 1
Faded(w, S) == [j \in Cells |-> IF j \in S THEN Lowered(w[j]) ELSE w[j]]

\* An add begins; it looks whether the item is there, which changes nothing.
Look(p) == /\ At(p, "idle") /\ at[p] <= Len(Program[p])
           /\ L' = [L EXCEPT ![p].pc = "Read"]
           /\ UNCHANGED <<word, at, lowered>>
Read(p) == /\ At(p, "Read")
           /\ L' = [L EXCEPT ![p].pc = "Fade", ![p].seen = word]
           /\ UNCHANGED <<word, at, lowered>>
\* Compare-and-swap of the word.
Fade(p) == /\ At(p, "Fade")
           /\ IF word = L[p].seen
              THEN /\ word' = Faded(word, Own(p).fade)
                   /\ lowered' = [j \in Cells |-> IF j \in Own(p).fade THEN lowered[j] + 1 ELSE lowered[j]]
                   /\ L' = [L EXCEPT ![p].pc = "Set"]
              ELSE L' = [L EXCEPT ![p].pc = "Read"] /\ UNCHANGED <<word, lowered>>
           /\ UNCHANGED at
Set(p) == /\ At(p, "Set")
          /\ LET j == Own(p).set[L[p].k] IN word' = [word EXCEPT ![j] = Top] /\ lowered' = [lowered EXCEPT ![j] = 0]
          /\ IF L[p].k = Len(Own(p).set)
             THEN L' = [L EXCEPT ![p] = Idle] /\ at' = [at EXCEPT ![p] = @ + 1]
             ELSE L' = [L EXCEPT ![p].k = @ + 1] /\ UNCHANGED at
Step(p) == Look(p) \/ Read(p) \/ Fade(p) \/ Set(p)

Terminating == (\A p \in Procs : At(p, "idle") /\ at[p] > Len(Program[p])) /\ UNCHANGED vars
Init == /\ word = [j \in Cells |-> 0]
        /\ L = [p \in Procs |-> Idle]
        /\ at = [p \in Procs |-> 1]
        /\ lowered = [j \in Cells |-> Top]
Next == (\E p \in Procs : Step(p)) \/ Terminating
Spec == Init /\ [][Next]_vars

Kept    == \A j \in Cells : word[j] >= Top - lowered[j]
InRange == \A j \in Cells : word[j] \in 0..Top

\* A state in a few words (latchfree spec --alias).
Alias == [next    |-> [p \in Procs |-> <<L[p].pc, L[p].k>>],
          cells   |-> word,
          lowered |-> lowered]
=============================================================================
