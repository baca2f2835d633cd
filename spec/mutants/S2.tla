-------------------------------- MODULE S2 ----------------------------------
(***************************************************************************)
(* Mutant S2 (Scala, Workiva): a descriptor has no status that is decided  *)
(* before the root moves.  Whoever completes it compares the main node,    *)
(* CASes the root, and only then, if that CAS has succeeded, sets          *)
(* "committed"; an aborting reader just CASes the root back.               *)
(*                                                                         *)
(* A reader completes a clear, and pauses before it sets committed.  The   *)
(* clearing process finds the root moved and committed not set, believes   *)
(* that it has failed, and clears again: it wipes out a put that came      *)
(* after a lookup which had seen the map empty.                            *)
(*                                                                         *)
(* "committed" is status = COMMIT, here written last, in RdcssDecide.      *)
(***************************************************************************)
EXTENDS Scenarios

\* There is no status to read: compare the main node at once.  (No access to shared memory.)
S2_RdcssReadStatus(p) == LET l == L[p] IN At(p, "RdcssReadStatus") /\
    Apply(p, CallGcasRead(mem, l, mem.node[l.rd].ov, "decide"))
\* A first visit goes on to the root's CAS; a second, after it, sets committed.
S2_RdcssDecide(p) == LET l == L[p] IN At(p, "RdcssDecide") /\
    Apply(p, IF l.want # "set" THEN Goto(mem, l, "RdcssSwing")
             ELSE RdcssReturned(Set(mem, l.rd, "COMMIT"), l))
S2_RdcssSwing(p) == LET l == L[p]  d == mem.node[l.rd] IN At(p, "RdcssSwing") /\
    Apply(p, IF mem.root # l.rd THEN RdcssReturned(mem, l)
             ELSE IF l.want = "COMMIT" THEN
                  Goto(Swing(mem, l, l.rd, d.nv), [l EXCEPT !.want = "set"], "RdcssDecide")
             ELSE RdcssReturned(Swing(mem, l, l.rd, d.ov), l))
S2_CompleteAbortStatus(p) == At(p, "CompleteAbortStatus") /\ Apply(p, Goto(mem, L[p], "CompleteAbortRoot"))
S2_CompleteAbortRoot(p) == LET l == L[p] IN At(p, "CompleteAbortRoot") /\
    Apply(p, Goto(Swing(mem, l, l.ad, mem.node[l.ad].ov), [l EXCEPT !.ad = 0], "CompleteReadRoot"))

OneKey == Trie({"a"})
ClearAndReader == [s |-> <<{Clear}>>, w |-> <<{Lookup("a")}, {Put("a", 2)}, {Lookup("a")}>>]
=============================================================================
