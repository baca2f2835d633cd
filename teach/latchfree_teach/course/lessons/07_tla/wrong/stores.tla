Cas(t) == /\ pc[t] = "cas"
          /\ word' = seen[t] + 1
          /\ pc' = [pc EXCEPT ![t] = "done"]
          /\ UNCHANGED seen

Next == \E t \in Threads: Load(t) \/ Cas(t)

Right == word = Cardinality({t \in Threads: pc[t] = "done"})
