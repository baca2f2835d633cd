-------------------------- MODULE MCScalableBloom ---------------------------
(***************************************************************************)
(* Bounded models of the scalable Bloom filter, and programs for mutants.  *)
(***************************************************************************)
EXTENDS ScalableBloom

One == 1    Two == 2    Three == 3
Growing == [p |-> <<Add("a"), Add("b"), Find("a")>>, q |-> <<Add("c"), Add("a"), Find("c")>>]
Race    == [p |-> <<Add("a")>>, q |-> <<Add("b")>>, r |-> <<Add("c"), Find("a")>>]
Counted == [p |-> <<Add("a"), Add("b"), Add("c")>>, q |-> <<Add("d"), Add("e")>>]
=============================================================================
