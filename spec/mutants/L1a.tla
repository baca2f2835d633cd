-------------------------------- MODULE L1a ---------------------------------
(***************************************************************************)
(* Mutant L1a (Workiva ctrie): a put into an L-node adds its entry in      *)
(* front, also if the key is there already.                                *)
(*                                                                         *)
(* No concurrency is needed: put a key that is there, remove it, and its   *)
(* first value is back.  (In front is what has the greatest value.)        *)
(***************************************************************************)
EXTENDS Scenarios

L1a_WithEntry(E, k, v) == E \cup {SNode(k, v)}
L1a_EntryOf(E, k) == {s \in E : KeyOf(s) = k /\ \A t \in E : KeyOf(t) = k => ValOf(t) <= ValOf(s)}

ThreeKeys == Trie({"a", "b", "c"})
PutRemoveLookup == [w |-> <<{Put("a", 2)}, {Remove("a")}, {Lookup("a")}>>]
=============================================================================
