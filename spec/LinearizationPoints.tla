------------------------ MODULE LinearizationPoints -------------------------
(***************************************************************************)
(* The second, stronger check: every operation takes effect at a named     *)
(* step, and its answer is fixed there.                                    *)
(*                                                                         *)
(* The tracker of module Linearizability keeps every order that explains   *)
(* the history.  Here M holds one configuration, the present map, and the  *)
(* answers already fixed; it changes at these steps only:                  *)
(*  - put, and remove of a key that is there: the CompleteCommit of its    *)
(*    main node, whoever takes that step;                                  *)
(*  - snapshot and clear: the RdcssDecide that commits its descriptor;     *)
(*  - lookup, and an update that changes nothing (remove of a key that is  *)
(*    not there, a conditional operation that is refused): the read of the *)
(*    main node that shows it, if that node is committed by then, else the *)
(*    CompleteCommit of that node.                                         *)
(* So the map is at all times what the memory says (ContentsNow), and M is *)
(* empty as soon as an operation answers anything else than was fixed.     *)
(*                                                                         *)
(* These points hold where no update can commit after a snapshot or clear  *)
(* that did not see it: in tries of one I-node, or without snapshots.  In  *)
(* others an update that has read the root before the snapshot may commit  *)
(* later, and takes effect before it: its point is known in hindsight only *)
(* (and the tracker decides).                                              *)
(***************************************************************************)
EXTENDS Properties

\* In configuration c the answer of process p is fixed, and it takes effect.
Fixed(c, p)  == [c EXCEPT !.r[p] = <<SeqAnswer(L[p].op, c.s)>>]
Effect(c, p) == [Fixed(c, p) EXCEPT !.s = SeqNext(L[p].op, c.s)]
RECURSIVE FixAll(_, _)
FixAll(c, P) == IF P = {} THEN c ELSE LET p == CHOOSE p \in P : TRUE IN FixAll(Fixed(c, p), P \ {p})

\* The updates that installed main node m, and the operations that will answer from it.
Writers(m) == {p \in Procs : L[p].n = m /\ L[p].gret \in {"put", "remove"}}
Answers(l, n) ==
    /\ l.ret = "at"
    /\ LET old(E) == IF EntryOf(E, l.op.key) = {} THEN Absent ELSE ValOf(CHOOSE s \in EntryOf(E, l.op.key) : TRUE)
       IN  CASE n.t = "T" -> FALSE
             [] n.t = "L" -> Leaves(l.op, old(n.entries))
             [] n.t = "C" -> LET s == n.slot[SlotOf(l.op.key, Level(l))]
                             IN  ~IsLink(s) /\ Leaves(l.op, old(IF IsSNode(s) THEN {s} ELSE {}))
Readers(m) == {p \in Procs : L[p].gm = m /\ Answers(L[p], mem.node[m])}
\* The process whose descriptor is d.
Proposer(d) == {p \in Procs : L[p].rd = d /\ L[p].rret = "own"}

\* What takes effect in the step that p is about to take.
Committed(c, p) ==
    LET l == L[p]  W == Writers(l.gm) IN
    IF l.pc = "CompleteCommit" /\ Prev(mem, l.gm) = l.gp
    THEN FixAll(IF W = {} THEN c ELSE Effect(c, CHOOSE w \in W : TRUE), Readers(l.gm))
    ELSE IF l.pc = "RdcssDecide" /\ mem.node[l.rd].status = "UNDECIDED" /\ l.want = "COMMIT"
    THEN Effect(c, CHOOSE q \in Proposer(l.rd) : TRUE)
    ELSE c
\* An answer not fixed before is fixed in the step that returns.
AnswerNow(c, p) == IF c.r[p] = <<>> THEN Fixed(c, p) ELSE c

\* Instead of Close and Tracked.
PointClose(S, Regs) == S
PointTracked(p, o) ==
    LET S == {Committed(c, p) : c \in M} IN
    CASE o.ev = "none"   -> S
      [] o.ev = "held"   -> Held(S, p)
      [] o.ev = "return" -> Returned({AnswerNow(c, p) : c \in S}, p, o.v)

OneConfiguration == Cardinality(M) = 1
ContentsNow == LET r == IF mem.node[mem.root].t = "I" THEN mem.root ELSE Outcome(mem, mem.root)
               IN  \A c \in M : c.s = Contents(mem, r)
=============================================================================
