Cas(t) == LET same == word = seen[t]
          IN  /\ pc[t] = "cas"
              /\ word' = IF same THEN word + 1 ELSE word
              /\ pc' = [pc EXCEPT ![t] = IF same THEN "done" ELSE "load"]
              /\ UNCHANGED seen

Next == \E t \in Threads: \/ Load(t)
                          \/ Cas(t)

Right == LET finished == {t \in Threads: pc[t] = "done"}
         IN  /\ word <= Cardinality(finished)
             /\ word >= Cardinality(finished)
