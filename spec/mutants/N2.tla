-------------------------------- MODULE N2 ----------------------------------
(***************************************************************************)
(* Mutant N2 (the textbook's): contraction without tombs.  A C-node that   *)
(* is left with a single S-node stays a C-node, and the remover moves the  *)
(* S-node into the parent directly.                                        *)
(*                                                                         *)
(* After b is removed, only a is left below the root's child.  Before the  *)
(* remover unlinks that child, b is inserted there again: it is lost.      *)
(***************************************************************************)
EXTENDS Scenarios

N2_Contracted(slots, lev, prev) == CNode(slots, prev)
N2_IsTomb(n)   == n.t = "C" /\ Links(n) = {} /\ Cardinality(SNodes(n)) = 1
N2_Entombed(n) == CHOOSE s \in SNodes(n) : TRUE

TwoKeys == Trie({"a", "b"})
RemoveAndInsert == [u |-> <<{Remove("b")}>>, w |-> <<{Put("b", 2)}, {Lookup("b")}>>]
=============================================================================
