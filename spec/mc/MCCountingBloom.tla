-------------------------- MODULE MCCountingBloom ---------------------------
(***************************************************************************)
(* Bounded models of the counting Bloom filter, and programs for mutants.  *)
(***************************************************************************)
EXTENDS CountingBloom

x == "x"    y == "y"
Shared == (x :> <<1, 2>>) @@ (y :> <<2, 3>>)
Three == 3
Two == 2
Mixed  == [p |-> <<Add(x), Remove(x), Add(y)>>, q |-> <<Add(x), Add(y)>>, r |-> <<Add(y), Remove(y)>>]
Full   == [p |-> <<Add(x), Add(x), Remove(x)>>, q |-> <<Add(x), Remove(x)>>]
Misuse == [p |-> <<Add(x), Remove(x)>>, q |-> <<Remove(x)>>]
=============================================================================
