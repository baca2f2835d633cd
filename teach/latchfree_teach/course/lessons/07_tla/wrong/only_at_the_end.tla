Cas(t) == /\ pc[t] = "cas"
          /\ word' = IF word = seen[t] THEN word + 1 ELSE word
          /\ pc' = [pc EXCEPT ![t] = IF word = seen[t] THEN "done" ELSE "load"]
          /\ UNCHANGED seen

Next == \E t \in Threads: Load(t) \/ Cas(t)

Right == (\A t \in Threads: pc[t] = "done") => word = Cardinality(Threads)
