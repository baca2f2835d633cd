--------------------------------- MODULE G2 ---------------------------------
(***************************************************************************)
(* Mutant G2 (axel22/Ctries before ae850f0): a snapshot moves the root by  *)
(* a plain CAS, which does not look at the main node.                      *)
(*                                                                         *)
(* A put that completes between the reading of the root's main node and    *)
(* the CAS is lost: it is in the snapshot only.                            *)
(***************************************************************************)
EXTENDS Scenarios

G2_RdcssInstall(p) == LET l == L[p]  d == mem.node[l.rd] IN At(p, "RdcssInstall") /\
    Apply(p, IF mem.root = d.ov THEN Installed([mem EXCEPT !.root = d.nv], l) ELSE Restart(mem, l))

OneKey == Trie({"a"})
PutAndSnapshot == [w |-> <<{Put("a", 2)}, {Lookup("a")}>>, s |-> <<{Snapshot}>>]
=============================================================================
