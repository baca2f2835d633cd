Succeeds(t) == /\ pc[t] = "cas"
               /\ word = seen[t]
               /\ word' = seen[t] + 1
               /\ pc' = [pc EXCEPT ![t] = "done"]
               /\ seen' = seen

Fails(t) == /\ pc[t] = "cas"
            /\ word # seen[t]
            /\ pc' = [pc EXCEPT ![t] = "load"]
            /\ UNCHANGED <<word, seen>>

Cas(t) == Succeeds(t) \/ Fails(t)

Next == (\E t \in Threads: Load(t)) \/ (\E t \in Threads: Cas(t))

Right == Cardinality({t \in Threads: pc[t] # "done"}) = Cardinality(Threads) - word
