------------------------------- MODULE Values -------------------------------
(* One value of each kind, for the parser of TLC's output.                *)
EXTENDS Integers, Sequences, TLC
CONSTANTS m
VARIABLES step, value
Kinds == << -3, TRUE, "a \"quoted\" text", m, {}, {1, 2}, {{}, {m}}, <<>>, <<1, <<2, "x">>>>, [a |-> 1, b |-> [c |-> <<>>]],
            1..3, (m :> 1 @@ "k" :> 2), [x \in {0, 2} |-> x], [x \in {1, 2} |-> x], [s |-> {}, r |-> (m :> <<>>)],
            "x |-> << {", [p \in {m} |-> [pc |-> "idle", ops |-> <<[op |-> "put", key |-> 0]>>, big |-> 123456789, long |-> "a text long enough to wrap the line"]] >>
Init == step = 1 /\ value = Kinds[1]
Next == step < Len(Kinds) /\ step' = step + 1 /\ value' = Kinds[step + 1]
Spec == Init /\ [][Next]_<<step, value>>
NotLast == step < Len(Kinds)
=============================================================================
