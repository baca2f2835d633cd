----------------------------- MODULE MCMessages ------------------------------
(***************************************************************************)
(* Bounded models of the blocks of messages, and programs for mutants.     *)
(***************************************************************************)
EXTENDS Messages

Nobody == {}
Two    == {1, 2}
Three  == {1, 2, 3}
JustP  == {"p"}
JustG  == {"g"}
JustC  == {"c"}
PandG  == {"p", "g"}
Ends   == [p |-> <<Put("a"), Put("b")>>, q |-> <<Put("c")>>, g |-> <<Get, Get>>, o |-> <<End>>]
Forked == [p |-> <<Put("a"), Put("b")>>, g |-> <<Get>>, c |-> <<>>, o |-> <<End>>]
Lap    == [p |-> <<Put("a"), Put("b"), Put("c")>>, g |-> <<Get>>, o |-> <<End>>]
Reused == [p |-> <<Put("a"), Put("b")>>, g |-> <<Get, Get>>]
=============================================================================
