--------------------------- MODULE RingScenarios ----------------------------
(***************************************************************************)
(* Programs and initial contents, the same for both rings.                 *)
(***************************************************************************)
EXTENDS SequentialQueue

Empty == <<>>
One   == <<8>>
Full  == <<8, 9>>

\* Two producers and two consumers; and one producer is still at work when a value has been put.
TwoAndTwo == [p |-> <<{TryPut(1)}>>, q |-> <<{TryPut(2)}>>, g |-> <<{TryGet}>>, h |-> <<{TryGet}>>]
PutsAndGet == [p |-> <<{TryPut(1)}>>, q |-> <<{TryPut(2)}, {TryGet}>>]
GetsAndPut == [g |-> <<{TryGet}>>, h |-> <<{TryGet}, {TryPut(1)}>>]
TwoPuts    == [p |-> <<{TryPut(1)}>>, q |-> <<{TryPut(2)}>>]
PutAndRound == [p |-> <<{TryPut(1)}>>, q |-> <<{TryPut(2)}, {TryGet}, {TryPut(3)}, {TryGet}>>]
\* Round and round: more puts than there is room for.
RoundAndRound == [p |-> <<{TryPut(1)}, {TryPut(2)}, {TryPut(3)}, {TryPut(4)}>>,
                  g |-> <<{TryGet}, {TryGet}, {TryGet}, {TryGet}>>]
\* Each process does what it likes, twice.
Mixed == [p |-> <<{TryPut(1), TryGet}, {TryPut(2), TryGet}>>, q |-> <<{TryPut(3), TryGet}, {TryPut(4), TryGet}>>]
MixedThree == [p |-> <<{TryPut(1), TryGet}, {TryPut(2), TryGet}>>,
               q |-> <<{TryPut(3), TryGet}>>, g |-> <<{TryPut(4), TryGet}>>]
\* Three processes do what they like, eight times in all: two go round the ring while the third is where it was.
MixedRounds == [p |-> <<{TryPut(1), TryGet}, {TryPut(2), TryGet}, {TryPut(3), TryGet}>>,
                q |-> <<{TryPut(4), TryGet}, {TryPut(5), TryGet}, {TryPut(6), TryGet}>>,
                g |-> <<{TryPut(7), TryGet}, {TryPut(8), TryGet}>>]
=============================================================================
