Cas(t) == /\ pc[t] = "cas"
          /\ IF word = seen[t]
             THEN /\ word' = word + 1
                  /\ pc' = [pc EXCEPT ![t] = "done"]
             ELSE /\ word' = word
                  /\ pc' = [pc EXCEPT ![t] = "load"]
          /\ UNCHANGED seen

Next == \E t \in Threads: Load(t) \/ Cas(t)

Right == word = Cardinality({t \in Threads: pc[t] = "done"})
