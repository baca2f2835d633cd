-------------------------------- MODULE S1 ----------------------------------
(***************************************************************************)
(* Mutant S1 (Scala 2.12.18 and 2.13.16, Workiva ctrie): a renewed C-node  *)
(* copies all children, also those that are of the new generation already. *)
(*                                                                         *)
(* The root's C-node has a child of the old generation (below it a and b)  *)
(* and a child of the present one (below it c and d, created by the put    *)
(* that the trie was built with).  The remover of a renews the C-node;     *)
(* between its reading of the child of c and its CAS, a put to that child  *)
(* completes, and is lost.                                                 *)
(***************************************************************************)
EXTENDS Scenarios

S1_Renews(l, b) == TRUE

\* As Renewed, but the put of d has made a child of the root's generation.
Mixed == LET h == Renewed({"a", "b", "c", "d"})
             c == Target(h.node[Main(h, h.root)].slot[2])
         IN  [h EXCEPT !.node[c].gen = 2]
TwoWriters == [w |-> <<{Put("c", 2)}, {Lookup("c")}>>, r |-> <<{Remove("a")}>>]
=============================================================================
