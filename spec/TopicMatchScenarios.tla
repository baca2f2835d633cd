------------------------ MODULE TopicMatchScenarios -------------------------
(***************************************************************************)
(* Programs for the match with snapshots: w and u write, s takes           *)
(* snapshots, r matches.                                                   *)
(***************************************************************************)
EXTENDS TopicMatch

LiteralThenStar == [w |-> <<Set("a", 1), Set("b", 1)>>, s |-> <<Snapshot>>, r |-> <<Match>>]
OneWriter       == [w |-> <<Snapshot, Set("a", 1), Set("b", 1)>>, r |-> <<Match>>]
LateWriter      == [w |-> <<Set("a", 1)>>, s |-> <<Snapshot>>, r |-> <<Match, Match>>]
Renewal         == [w |-> <<Set("a", 1)>>, u |-> <<Snapshot, Set("b", 1), Match>>]

\* A match that does not look at the root again.  This is as good: if the root has moved, what was read is what
\* the snapshot holds, so it held when the snapshot was taken.
RootOnce(h, l) == Return(h, Answer(l))
=============================================================================
