-------------------------------- MODULE A2 ----------------------------------
(***************************************************************************)
(* Mutant A2: a lookup that meets a tomb in a child of an older generation *)
(* helps to remove the tomb.                                               *)
(*                                                                         *)
(* The parent, too, is of an older generation, so that no GCAS there ever  *)
(* succeeds: the lookup begins again and again, even alone.  (b was        *)
(* removed, and before the tomb of a was cleaned up came a snapshot.)      *)
(***************************************************************************)
EXTENDS Scenarios

A2_Cleans(h, l) == TRUE

OldTomb == LET h == Renewed({"a", "b", "c"})
               i == Target(h.node[Main(h, h.root)].slot[1])
               j == Target(h.node[Main(h, i)].slot[1])
           IN  [h EXCEPT !.node[Main(h, j)] = TNode(SNode("a", 1), 0)]
Readers == [r |-> <<{Lookup("a"), Lookup("b")}>>]
=============================================================================
