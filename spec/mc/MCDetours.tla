----------------------------- MODULE MCDetours ------------------------------
(***************************************************************************)
(* Bounded models of MCCtrie with three detours that neither Ctrie nor the *)
(* code takes: steps that change nothing that matters.  The properties     *)
(* hold with them, too, so leaving them out is no reason why they hold.    *)
(* A .cfg of MCCtrie becomes one of this module by                         *)
(*     ReadPrevFirst <- LooksAtTheRoot                                     *)
(*     Copied <- CopiedAlways                                              *)
(*     GcasReturned <- ReturnedAndClimbs                                   *)
(***************************************************************************)
EXTENDS MCCtrie

\* Who finds a failed update looks at the root, and aborts a descriptor there, before it undoes the update.
LooksAtTheRoot(h, l) == LET q == Prev(h, l.gm) IN
    IF q = 0 THEN Hand(h, l, "main", l.gm)
    ELSE IF ReadOnly(l) THEN Settle(h, [l EXCEPT !.gp = q], FALSE)
    ELSE Goto(h, [l EXCEPT !.gp = q], "CompleteReadRoot")

\* A cleaner that has met no tomb installs an equal copy.
CopiedAlways(h, l, mode) ==
    IF mode = "renew" THEN CallGcas(h, l, INodeOf(l), CNode(l.acc, l.src), "renew")
    ELSE CallGcas(h, l, ParentOf(l), Compressed(l.acc, Level(l) - 1, l.src), "clean")

\* A removal reads main once more, and climbs if it is another's tomb by now.
ReturnedAndClimbs(h, l0, ok) ==
    LET l == [l0 EXCEPT !.gi = 0, !.n = 0, !.gret = ""] IN
    CASE l0.gret = "put"         -> IF ok THEN Return(h, l.res) ELSE UpdateFailed(h, l0)
      [] l0.gret = "renew"       -> IF ok THEN CallGcasRead(h, l, INodeOf(l), "at") ELSE Restart(h, l)
      [] l0.gret = "remove"      -> IF ok THEN Climb(h, l) ELSE UpdateFailed(h, l0)
      [] l0.gret = "clean"       -> Restart(h, l)
      [] l0.gret = "cleanParent" -> IF ok THEN Ascend(h, l)
                                    ELSE Out(h, [l EXCEPT !.pc = "RdcssRead", !.rret = "again"])
=============================================================================
