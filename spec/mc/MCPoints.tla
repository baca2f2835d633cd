------------------------------ MODULE MCPoints ------------------------------
(***************************************************************************)
(* Bounded models with named linearization points.                         *)
(***************************************************************************)
EXTENDS LinearizationPoints, Scenarios

Nothing  == Trie({})
HoldsAB  == Trie({"a", "b"})
HoldsABC == Trie({"a", "b", "c"})

Toggle(k) == {Put(k, 1), Remove(k)}
OneWriterOneReader      == [w |-> <<Toggle("a")>>, r |-> <<{Lookup("a"), Remove("b")}>>]
TwoWriters              == [u |-> <<Toggle("a")>>, w |-> <<Toggle("b")>>]
TwoWritersOneReader     == [u |-> <<{Put("a", 2)}>>, w |-> <<{Remove("b")}>>, r |-> <<{Lookup("a")}, {Lookup("b")}>>]
OneWriterOneSnapshotter == [w |-> <<Toggle("a")>>, s |-> <<{Snapshot}>>]
OneWriterOneClearer     == [w |-> <<Toggle("a")>>, c |-> <<{Clear}>>]
=============================================================================
