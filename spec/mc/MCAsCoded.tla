----------------------------- MODULE MCAsCoded ------------------------------
(***************************************************************************)
(* The bounded models of MCCtrie with the three shortcuts that the         *)
(* compiled code takes and Ctrie does not.  Each leaves out steps that     *)
(* change nothing that matters, so the properties must hold here too; and  *)
(* the code can be run along every step of these models.  A .cfg of        *)
(* MCCtrie becomes one of this module by                                   *)
(*     ReadOnly <- UndoesAtOnce                                            *)
(*     Copied <- CopiedIfChanged                                           *)
(*     GcasReturned <- ReturnedUnlessTomb                                  *)
(***************************************************************************)
EXTENDS MCCtrie

\* A failed update is undone at once, by writers too.  Ctrie looks at the root first, and aborts a descriptor there.
UndoesAtOnce(l) == l.ret = "walk" \/ Prev(mem, l.gm) < 0

\* A cleaner that has met no tomb starts over.  Ctrie installs an equal copy first.
CopiedIfChanged(h, l, mode) ==
    IF mode = "renew" THEN CallGcas(h, l, INodeOf(l), CNode(l.acc, l.src), "renew")
    ELSE IF l.acc = h.node[l.src].slot THEN Restart(h, l)
    ELSE CallGcas(h, l, ParentOf(l), Contracted(l.acc, Level(l) - 1, l.src), "clean")

\* A removal that has left no tomb returns.  Ctrie reads main once more, and climbs if it is another's tomb by now.
ReturnedUnlessTomb(h, l0, ok) ==
    LET l == [l0 EXCEPT !.gi = 0, !.n = 0, !.gret = ""] IN
    CASE l0.gret = "put"         -> IF ok THEN Return(h, l.res) ELSE Restart(h, l)
      [] l0.gret = "renew"       -> IF ok THEN CallGcasRead(h, l, INodeOf(l), "at") ELSE Restart(h, l)
      [] l0.gret = "remove"      -> IF ~ok THEN Restart(h, l)
                                    ELSE IF IsTomb(h.node[l0.n]) THEN Climb(h, l) ELSE Return(h, l.res)
      [] l0.gret = "clean"       -> Restart(h, l)
      [] l0.gret = "cleanParent" -> IF ok THEN Ascend(h, l)
                                    ELSE Out(h, [l EXCEPT !.pc = "RdcssRead", !.rret = "again"])
=============================================================================
