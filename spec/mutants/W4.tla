--------------------------------- MODULE W4 ---------------------------------
(***************************************************************************)
(* Mutant W4 (Workiva ctrie): cleaning reads the main nodes of the         *)
(* children as they are, and so moves up also the S-node of a tomb that is *)
(* not committed.                                                          *)
(*                                                                         *)
(* u has installed such a tomb, to remove d.  w meets another tomb and     *)
(* cleans both away, then takes a snapshot: the GCAS of u fails.  u begins *)
(* anew, does not find d, which went with the tomb, and answers "absent",  *)
(* though nobody else has removed it.                                      *)
(***************************************************************************)
EXTENDS Scenarios

W4_GcasReadMain(p) == LET l == L[p]  m == Main(mem, l.gi) IN At(p, "GcasReadMain") /\
    Apply(p, IF Prev(mem, m) = 0 \/ l.ret = "compress" THEN GotMain(mem, l, m)
             ELSE Goto(mem, [l EXCEPT !.gm = m], "GcasReadPrev"))

\* b has been removed, and the tomb that this left is still to be cleaned up.
HalfRemoved == LET h == Trie({"a", "b", "c", "d"})
                   i == Target(h.node[Main(h, h.root)].slot[1])
               IN  [h EXCEPT !.node[Main(h, i)] = TNode(SNode("a", 1), 0)]
RemoveAndSnapshot == [u |-> <<{Remove("d")}>>, w |-> <<{Lookup("a")}, {Snapshot}>>]
=============================================================================
