Cas(t) == /\ pc[t] = "cas"
          /\ word' = IF word = seen[t] THEN word + 1 ELSE word
          /\ pc' = [pc EXCEPT ![t] = IF word = seen[t] THEN "done" ELSE "load"]
          /\ UNCHANGED seen

Next == LET t == CHOOSE u \in Threads: TRUE IN Load(t) \/ Cas(t)

Right == word = Cardinality({t \in Threads: pc[t] = "done"})
