------------------------------ MODULE Answer ------------------------------
(* Lesson 7: steps and invariants. Replace the definitions of `Cas`, `Next` and `Right`. *)

EXTENDS Naturals, FiniteSets

CONSTANT Threads
VARIABLES word, pc, seen

(* `word` is what the threads share. `pc[t]` says where thread t is: about to "load", about to "cas", or "done". `seen[t]`
   is what it has loaded. *)

TypeOK == /\ word \in 0..Cardinality(Threads)
          /\ pc \in [Threads -> {"load", "cas", "done"}]
          /\ seen \in [Threads -> 0..Cardinality(Threads)]

Init == /\ word = 0
        /\ pc = [t \in Threads |-> "load"]
        /\ seen = [t \in Threads |-> 0]

Load(t) == /\ pc[t] = "load"
           /\ seen' = [seen EXCEPT ![t] = word]
           /\ pc' = [pc EXCEPT ![t] = "cas"]
           /\ UNCHANGED word

(* If the word still holds what t has seen, add one and be done; else load again. *)
Cas(t) == FALSE

(* Some thread takes a step. *)
Next == \E t \in Threads: Load(t)

(* In which states is no increment lost? *)
Right == TRUE
===========================================================================
