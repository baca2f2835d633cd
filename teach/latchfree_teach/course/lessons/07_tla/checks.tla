---- MODULE Checks ----
(* Right steps, wrong ones, and what must hold. *)
EXTENDS Answer

Finished == {t \in Threads: pc[t] = "done"}
Counted == TypeOK /\ word = Cardinality(Finished)

GivenCas(t) == /\ pc[t] = "cas"
               /\ UNCHANGED seen
               /\ IF word = seen[t]
                  THEN /\ word' = word + 1
                       /\ pc' = [pc EXCEPT ![t] = "done"]
                  ELSE /\ UNCHANGED word
                       /\ pc' = [pc EXCEPT ![t] = "load"]
GivenNext == \E t \in Threads: Load(t) \/ GivenCas(t)

OnlyRightSteps == [][GivenNext]_<<word, pc, seen>>
AllRightSteps == [][Next]_<<word, pc, seen>>

(* Wrong: the thread stores, whatever the word holds. *)
LostNext == \E t \in Threads: Load(t) \/ ( /\ pc[t] = "cas"
                                           /\ word' = seen[t] + 1
                                           /\ pc' = [pc EXCEPT ![t] = "done"]
                                           /\ UNCHANGED seen)

(* Wrong: the thread is done, whether it has added or not. *)
GiveUpNext == \E t \in Threads: Load(t) \/ ( /\ pc[t] = "cas"
                                             /\ word' = IF word = seen[t] THEN word + 1 ELSE word
                                             /\ pc' = [pc EXCEPT ![t] = "done"]
                                             /\ UNCHANGED seen)

(* Wrong: a thread that was slow adds once more. *)
TwiceNext == \E t \in Threads: Load(t) \/ ( /\ pc[t] = "cas"
                                            /\ word < Cardinality(Threads)
                                            /\ word' = word + 1
                                            /\ pc' = [pc EXCEPT ![t] = IF word = seen[t] THEN "done" ELSE "load"]
                                            /\ UNCHANGED seen)

(* Wrong: the thread is done first, and adds later. *)
EarlyNext == \E t \in Threads: Load(t) \/ ( /\ pc[t] = "cas"
                                            /\ pc' = [pc EXCEPT ![t] = "done"]
                                            /\ UNCHANGED <<word, seen>>)
                                       \/ ( /\ pc[t] = "done"
                                            /\ word = seen[t]
                                            /\ word' = word + 1
                                            /\ UNCHANGED <<pc, seen>>)

(* Wrong: the thread adds three. *)
ThreeNext == \E t \in Threads: Load(t) \/ ( /\ pc[t] = "cas"
                                            /\ UNCHANGED seen
                                            /\ word' = IF word = seen[t] THEN word + 3 ELSE word
                                            /\ pc' = [pc EXCEPT ![t] = IF word = seen[t] THEN "done" ELSE "load"])

Anywhere == TypeOK /\ Right
====
