-------------------------------- MODULE Gcas --------------------------------
(***************************************************************************)
(* GCAS, generation-compare-and-swap (Prokopec, Bronson, Bagwell, Odersky, *)
(* PPoPP 2012): a CAS on the main node of an I-node that takes effect only *)
(* if the generation of the root is still that of the I-node.              *)
(*                                                                         *)
(* The new main node is installed with prev = the old one: it is pending.  *)
(* Who meets it reads the root and decides: CAS prev to null commits it,   *)
(* CAS prev to Failed(old) fails it, and a failed node is rolled back to   *)
(* the old one.  An update that commits takes effect at that root read.    *)
(* Every read of a main node goes through GCAS_READ, so nobody builds on a *)
(* node that may still fail.                                               *)
(*                                                                         *)
(* Registers: gi the I-node, gm the main node read, gp its prev, n the new *)
(* main node, ret and gret what its user does with the results.            *)
(* Results: "main", a committed main node; "gcas", whether it succeeded.   *)
(***************************************************************************)
EXTENDS Rdcss

\* GCAS_READ(i).
CallGcasRead(h, l, i, ret) == Out(h, [l EXCEPT !.pc = "GcasReadMain", !.gi = i, !.ret = ret])
\* Who reads a read-only trie, that is a snapshot, commits nothing: what is pending there fails.
ReadOnly(l) == l.ret = "walk"
\* The old main node of an uncommitted one is committed.
OldCommitted(h) == \A m \in 1..Len(h.node) :
    h.node[m].t \in {"C", "T", "L"} => (Prev(h, m) # 0 => Prev(h, Abs(Prev(h, m))) = 0)

\* Read main.  If its prev is null the node is committed and stays so: no need to let others step in between.
ReadMain(h, l) == LET m == Main(h, l.gi) IN
    IF Prev(h, m) = 0 THEN Hand(h, l, "main", m) ELSE Goto(h, [l EXCEPT !.gm = m], "GcasReadPrev")
\* Read prev (it was not null when main was read).
ReadPrev(h, l) == IF Prev(h, l.gm) = 0 THEN Hand(h, l, "main", l.gm) ELSE Goto(h, l, "CompleteReadPrev")
\* CAS main: from the old main node, which prev of the new one remembers, to the new one.
CasMain(h, l) ==
    IF Main(h, l.gi) = Prev(h, l.n)
    THEN Goto(Published([h EXCEPT !.node[l.gi].main = l.n], l), [l EXCEPT !.gm = l.n, !.ret = "gcas"], "CompleteReadPrev")
    ELSE Hand(h, l, "gcas", FALSE)
\* Read prev of the new node after Complete: null means that the GCAS succeeded.
ReadPrevAfter(h, l) == Hand(h, l, "gcas", Prev(h, l.n) = 0)

(* Complete(i, m) *)
\* prev is known, and whether the root has the generation of the I-node: undo, commit, or fail the update.
Settle(h, l, same) == Goto(h, l, IF l.gp < 0 THEN "CompleteRollback"
                                 ELSE IF same THEN "CompleteCommit" ELSE "CompleteFail")
\* Read prev.  A failed node is undone at once; so is, by a reader of a snapshot, what is pending.
ReadPrevFirst(h, l) == LET q == Prev(h, l.gm) IN
    IF q = 0 THEN Hand(h, l, "main", l.gm)
    ELSE IF q < 0 \/ ReadOnly(l) THEN Settle(h, [l EXCEPT !.gp = q], FALSE)
    ELSE Goto(h, [l EXCEPT !.gp = q], "CompleteReadRoot")
\* Read root.  A descriptor there is aborted first.  An update that commits linearizes here.
CompareRoot(h, l) == LET r == Root(h, l) IN
    IF h.node[r].t = "I" THEN Settle(h, l, Gen(h, r) = Gen(h, l.gi))
    ELSE Goto(h, [l EXCEPT !.ad = r], "CompleteAbortStatus")
\* The descriptor is out of the way, and r was the root.  It is not read again: a process that did so could
\* for ever abort the descriptors that another for ever installs.
Aborted(h, l, r) == Settle(h, [l EXCEPT !.ad = 0], Gen(h, r) = Gen(h, l.gi))
\* CAS prev: from the old main node to null.
Commit(h, l) == IF Prev(h, l.gm) = l.gp THEN Hand([h EXCEPT !.node[l.gm].prev = 0], l, "main", l.gm)
                ELSE Goto(h, [l EXCEPT !.gp = 0], "CompleteReadPrev")
\* CAS prev: from the old main node to Failed(old main node).
Fail(h, l) == Goto(IF Prev(h, l.gm) = l.gp THEN [h EXCEPT !.node[l.gm].prev = -l.gp] ELSE h,
                   [l EXCEPT !.gm = 0, !.gp = 0], "CompleteRereadMain")
\* CAS main: from the failed node back to the old main node.
Rollback(h, l) == IF Main(h, l.gi) = l.gm THEN Hand([h EXCEPT !.node[l.gi].main = -l.gp], l, "main", -l.gp)
                  ELSE Goto(h, [l EXCEPT !.gm = 0, !.gp = 0], "CompleteRereadMain")
\* Read main again.
RereadMain(h, l) == Goto(h, [l EXCEPT !.gm = Main(h, l.gi)], "CompleteReadPrev")
=============================================================================
