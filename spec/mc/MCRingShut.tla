----------------------------- MODULE MCRingShut -----------------------------
(***************************************************************************)
(* Bounded models of a shutdown.                                           *)
(***************************************************************************)
EXTENDS RingShut, RingScenarios

Stoppers == {"s", "t"}
\* One puts twice, one gets three times, one or two shut the ring down.
PutsGetsShut == [p |-> <<{TryPut(1)}, {TryPut(2)}>>, g |-> <<{TryGet}, {TryGet}, {TryGet}>>, s |-> <<{Shut}>>]
TwoShut == [p |-> <<{TryPut(1)}, {TryPut(2)}>>, s |-> <<{Shut}>>, t |-> <<{Shut}>>]
=============================================================================
