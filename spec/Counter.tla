------------------------------ MODULE Counter ------------------------------
(***************************************************************************)
(* The smallest specification, to be read first: each thread adds one to a *)
(* word, by a load and a compare-and-swap, and tries again if it fails.    *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets

CONSTANT Threads

VARIABLES word,   \* what the threads share
          pc,     \* where each thread is: about to "Load", about to "Cas", or "Done"
          seen    \* what each thread has loaded
vars == <<word, pc, seen>>

\* Whether a compare-and-swap of t succeeds.
Same(t) == word = seen[t]

Load(t) == /\ pc[t] = "Load"
           /\ seen' = [seen EXCEPT ![t] = word]
           /\ pc' = [pc EXCEPT ![t] = "Cas"]
           /\ UNCHANGED word
Cas(t) == /\ pc[t] = "Cas"
          /\ UNCHANGED seen
          /\ IF Same(t) THEN /\ word' = seen[t] + 1
                             /\ pc' = [pc EXCEPT ![t] = "Done"]
             ELSE /\ UNCHANGED word
                  /\ pc' = [pc EXCEPT ![t] = "Load"]

Finished == {t \in Threads : pc[t] = "Done"}
Init == /\ word = 0
        /\ pc = [t \in Threads |-> "Load"]
        /\ seen = [t \in Threads |-> 0]
Next == (\E t \in Threads : Load(t) \/ Cas(t)) \/ (Finished = Threads /\ UNCHANGED vars)
Spec == Init /\ [][Next]_vars

\* No increment is lost.  It is inductive: each step keeps it, from any state.
Counted == word = Cardinality(Finished)

\* A state in a few words (latchfree spec --alias).
Alias == [next |-> pc, word |-> word, loaded |-> seen]
=============================================================================
