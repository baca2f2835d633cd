----------------------------- MODULE CtrieSpin ------------------------------
(* The Ctrie with one change: who finds a descriptor at the root waits      *)
(* until it is gone, and does not complete it.                              *)
EXTENDS Scenarios

Waiting(h, l) ==
    IF h.node[h.root].t = "I" THEN GotRoot(h, l, h.root) ELSE Out(h, [l EXCEPT !.pc = "RdcssRead"])

Nothing == Trie({})
WriterAndSnapshotter == [w |-> <<{Put("a", 1), Remove("a")}>>, s |-> <<{Snapshot}>>]
=============================================================================
