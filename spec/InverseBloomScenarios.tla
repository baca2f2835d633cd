----------------------- MODULE InverseBloomScenarios ------------------------
(***************************************************************************)
(* Items, slots and programs for the inverse Bloom filter.                 *)
(***************************************************************************)
EXTENDS Integers, TLC

x == <<1, 1>>    y == <<2, 2>>    z == <<1, 2>>    other == <<3, 3>>
OneSlot  == (x :> 1) @@ (y :> 1) @@ (z :> 1)
TwoInOne == (y :> 1) @@ (other :> 1)
TwoSlots == (x :> 1) @@ (y :> 1) @@ (other :> 2)

Duplicates == [p |-> <<x>>, q |-> <<x>>]
Evicting   == [p |-> <<x, y>>, q |-> <<x, other>>, r |-> <<y, x>>]
Torn       == [p |-> <<y>>, q |-> <<x>>, r |-> <<z>>]
\* Without the third item, so that what remains of the others is seen to be none.
TornAgain  == [p |-> <<y>>, q |-> <<other>>]
=============================================================================
