--------------------------------- MODULE W3 ---------------------------------
(***************************************************************************)
(* Mutant W3 (Workiva ctrie): a cleaned C-node has lost its generation.    *)
(* To the next insert no generation is an old one, so it renews the C-node *)
(* and copies all children, though they are live.  No snapshot is needed.  *)
(*                                                                         *)
(* The put of b meets a tomb, cleans the root's C-node, and comes back to  *)
(* insert b there.  Between its copying of the other child and its GCAS a  *)
(* put of c completes below that child, and is lost.  (The main nodes of   *)
(* the children are read in one step with that of the C-node.)             *)
(***************************************************************************)
EXTENDS Scenarios

\* The C-node has no generation: gen is 0.
W3_Compressed(slots, lev, prev) ==
    LET n == Contracted(slots, lev, prev)
    IN  IF n.t = "C" THEN [t |-> "C", slot |-> n.slot, prev |-> n.prev, gen |-> 0] ELSE n
Copied1(h, s) ==      \* one slot of the copy
    IF ~IsLink(s) THEN [h |-> h, s |-> s]
    ELSE [h |-> Alloc(h, INode(Settled(h, Target(s)), Gen(h, Target(s)))), s |-> Link(Fresh(h))]
W3_Shared(h, m, slots) ==
    IF "gen" \in DOMAIN h.node[m]
    THEN LET z == Copied1(h, slots[1])  o == Copied1(z.h, slots[2]) IN [h |-> o.h, slots |-> <<z.s, o.s>>]
    ELSE [h |-> h, slots |-> slots]

\* b has been removed, and the tomb that this left is still to be cleaned up.
HalfRemoved == LET h == Trie({"a", "b", "c", "d"})
                   i == Target(h.node[Main(h, h.root)].slot[1])
               IN  [h EXCEPT !.node[Main(h, i)] = TNode(SNode("a", 1), 0)]
TwoPuts == [u |-> <<{Put("b", 2)}>>, w |-> <<{Put("c", 2)}, {Lookup("c")}>>]
=============================================================================
