Finish(t, place) == pc' = [u \in Threads |-> IF u = t THEN place ELSE pc[u]]

Done == Cardinality({t \in Threads: pc[t] = "done"})

Cas(t) == /\ pc[t] = "cas"
          /\ seen' = seen
          /\ \/ /\ word = seen[t]
                /\ word' = word + 1
                /\ Finish(t, "done")
             \/ /\ word # seen[t]
                /\ word' = word
                /\ Finish(t, "load")

Next == \E t \in Threads: Cas(t) \/ Load(t)

Right == Done = word
