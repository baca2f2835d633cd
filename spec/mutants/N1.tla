-------------------------------- MODULE N1 ----------------------------------
(***************************************************************************)
(* Mutant N1 (the textbook's): no I-nodes.  The pointer that a CAS changes *)
(* is then a slot of the parent's C-node itself, and whoever copies the    *)
(* C-node copies the pointer.  So here a copied C-node does not share the  *)
(* I-nodes of its children but gets fresh ones with their present mains.   *)
(*                                                                         *)
(* While one writer copies the root's C-node to insert c, another writes a *)
(* below the old one: the root's CAS succeeds and the update of a is lost. *)
(***************************************************************************)
EXTENDS Scenarios

Inlined(h, s) ==      \* one slot of the copy
    IF ~IsLink(s) THEN [h |-> h, s |-> s]
    ELSE [h |-> Alloc(h, INode(Settled(h, Target(s)), Gen(h, Target(s)))), s |-> Link(Fresh(h))]
N1_Shared(h, m, slots) ==
    LET z == Inlined(h, slots[1])  o == Inlined(z.h, slots[2]) IN [h |-> o.h, slots |-> <<z.s, o.s>>]

TwoKeys == Trie({"a", "b"})
TwoInserts == [u |-> <<{Put("a", 2)}, {Lookup("a")}>>, w |-> <<{Put("c", 1)}>>]
=============================================================================
