-------------------------------- MODULE P1 ----------------------------------
(***************************************************************************)
(* Mutant P1: a lookup answers from a main node that is not committed.     *)
(*                                                                         *)
(* Without snapshots every installed update commits in the end, so the     *)
(* histories stay linearizable and the tracker finds nothing.  But the     *)
(* answer is given before the step at which the update takes effect: that  *)
(* is what the check of named linearization points sees.                   *)
(***************************************************************************)
EXTENDS LinearizationPoints, Scenarios

P1_GcasReadMain(p) == LET l == L[p]  m == Main(mem, l.gi) IN At(p, "GcasReadMain") /\
    Apply(p, IF Prev(mem, m) = 0 \/ l.op.op = "lookup" THEN GotMain(mem, l, m)
             ELSE Goto(mem, [l EXCEPT !.gm = m], "GcasReadPrev"))

TwoKeys == Trie({"a", "b"})
WriterAndReader == [w |-> <<{Put("a", 2), Remove("a")}>>, r |-> <<{Lookup("a")}, {Lookup("a")}>>]
=============================================================================
