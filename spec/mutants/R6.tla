-------------------------------- MODULE R6 ----------------------------------
(***************************************************************************)
(* Mutant R6, a bug this project once had: the killer finds the newest     *)
(* snapshot that sees the dead node, and then reads that slot's generation *)
(* again.  Dropped in between, the snapshot has none, and the killer takes *)
(* it that no snapshot at all sees the node, although an older one does.   *)
(*                                                                         *)
(* The generation has to be the one read in the search.  That also holds   *)
(* for what the killer remembers of the search (R6_Remember; here reading  *)
(* GEN again is part of the step).  The dead node at hand may be too young *)
(* for any snapshot, so that nothing is pushed and no search corrects what *)
(* is remembered; then an empty slot looks as remembered, and the next     *)
(* dead node as if no snapshot saw it.                                     *)
(***************************************************************************)
EXTENDS Reclamation

R6_RetireScan(p) == LET l == L[p]  t == arena.slot[l.j] IN At(p, "RetireScan") /\
    LET better == Newer(t.gen, l) /\ t.gen < Death(l) /\ ~IsClosed(Top(t.head))
        l1 == IF better THEN [l EXCEPT !.k = l.j, !.s = t.gen] ELSE l
    IN  Apply(p, IF l.j < Slots THEN Out(arena, [l1 EXCEPT !.j = @ + 1])
                 ELSE IF l1.k = 0 THEN NoneSees(arena, l1)
                 ELSE Goto(arena, [l1 EXCEPT !.j = 0, !.s = 0], "RetireCheck"))
R6_RetireCheck(p) == LET l == L[p]  g == arena.slot[l.k].gen IN At(p, "RetireCheck") /\
    Apply(p, IF l.s = 0
             THEN IF g < arena.node[NextOne(l)].birth THEN NoneSees(arena, l)
                  ELSE Goto(arena, [l EXCEPT !.s = g], "RetireHead")
             ELSE IF g # l.s THEN Out(arena, Search(l)) ELSE Goto(arena, l, "RetirePush"))

R6_Remember(a, l) == [l EXCEPT !.known = <<Death(l), l.k, IF l.k = 0 THEN 0 ELSE a.slot[l.k].gen>>]

SThenT == <<"s", "t">>
DropWhileUpdating == [s |-> <<>>, t |-> <<Drop>>, w |-> <<Inc("top")>>]
DropBetweenUpdates == [s |-> <<>>, t |-> <<Inc("top"), Drop>>, w |-> <<Inc("top"), Inc("low")>>]
=============================================================================
