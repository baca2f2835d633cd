-------------------------------- MODULE R19 ---------------------------------
(***************************************************************************)
(* Mutant R19: a removal that leaves a tomb retires the I-node at once.    *)
(*                                                                         *)
(* The parent still leads to it: a reader may find freed memory there, and *)
(* whoever takes up the tomb retires the I-node once more.                 *)
(***************************************************************************)
EXTENDS MCRetirement

R19_Replaced(h, l) ==
    CASE l.gret = "put"         -> {l.old}
      [] l.gret = "remove"      -> {l.old} \cup (IF h.node[l.n].t = "T" THEN {INodeOf(l)} ELSE {})
      [] l.gret = "renew"       -> {l.old} \cup (Links(h.node[l.old]) \ Links(h.node[l.n]))
      [] l.gret = "clean"       -> {l.old} \cup WithTombs(h, Dropped(h, l.old, l.n))
      [] l.gret = "cleanParent" -> {l.old} \cup WithTombs(h, {INodeOf(l)})

OneRemoval == [u |-> <<{Remove("a")}>>]
=============================================================================
