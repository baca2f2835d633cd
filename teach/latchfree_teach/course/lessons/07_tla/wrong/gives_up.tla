Cas(t) == /\ pc[t] = "cas"
          /\ word' = IF word = seen[t] THEN word + 1 ELSE word
          /\ pc' = [pc EXCEPT ![t] = "done"]
          /\ UNCHANGED seen

Next == \E t \in Threads: Load(t) \/ Cas(t)

Right == word = Cardinality({t \in Threads: pc[t] = "done"})
