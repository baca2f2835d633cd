----------------------------- MODULE MCParking ------------------------------
(***************************************************************************)
(* Bounded models of sleeping and waking.                                  *)
(***************************************************************************)
EXTENDS Parking

Put(n) == [op |-> "put", times |-> n]
Get(n) == [op |-> "get", times |-> n]
\* Two wait at each end of a ring of one cell.
TwoAndTwo == [a |-> Put(2), b |-> Put(1), g |-> Get(2), h |-> Get(1)]
OneAndTwo == [a |-> Put(2), g |-> Get(1), h |-> Get(1)]
OneAndOne == [a |-> Put(2), g |-> Get(2)]
None   == {}
Putter == {"a"}
=============================================================================
