------------------------------- MODULE Rdcss --------------------------------
(***************************************************************************)
(* RDCSS, restricted double-compare single-swap (Harris, Fraser, Pratt, "A *)
(* Practical Multi-Word Compare-and-Swap Operation", DISC 2002): replace   *)
(* the root I-node ov by nv if its main node is exp.                       *)
(*                                                                         *)
(* A descriptor with ov, exp and nv is installed in the root.  Who meets   *)
(* it there completes it: compares the main node, decides the descriptor   *)
(* by a CAS on its status, and only then moves the root to what the status *)
(* says.  Nobody can take one descriptor for two (mutant S2), since the    *)
(* status is decided once.  It takes effect when the decider compares.     *)
(* Who must not wait for the comparison aborts the descriptor instead.     *)
(*                                                                         *)
(* How the main node is read is left to the user: "compare" asks for it.   *)
(* Registers: rd the descriptor to complete, want the decision proposed,   *)
(* ad the descriptor to abort.                                             *)
(***************************************************************************)
EXTENDS Steps

Set(h, d, s)   == IF h.node[d].status = "UNDECIDED" THEN [h EXCEPT !.node[d].status = s] ELSE h
Outcome(h, d)  == IF h.node[d].status = "COMMIT" THEN h.node[d].nv ELSE h.node[d].ov
Swing(h, l, d, i) == IF Root(h, l) = d THEN SetRoot(h, l, i) ELSE h

\* Read root: hands "root".  A descriptor there is to be completed first.
ReadRoot(h, l) == LET r == Root(h, l) IN
    IF h.node[r].t = "I" THEN Hand(h, l, "root", r) ELSE Goto(h, [l EXCEPT !.rd = r], "RdcssReadStatus")
\* CAS root: from the I-node expected to the own descriptor; or hands "lost".
Install(h, l) == IF Root(h, l) = h.node[l.rd].ov THEN Goto(Published(SetRoot(h, l, l.rd), l), l, "RdcssReadStatus")
                 ELSE Hand(h, l, "lost", 0)
\* Read status.  If undecided, hands "compare": whether the main node of this I-node is the expected one.
ReadStatus(h, l) == IF h.node[l.rd].status = "UNDECIDED" THEN Hand(h, l, "compare", h.node[l.rd].ov)
                    ELSE Goto(h, l, "RdcssSwing")
\* The main node is m.
Compared(h, l, m) == Goto(h, [l EXCEPT !.want = IF m = h.node[l.rd].exp THEN "COMMIT" ELSE "ABORT"], "RdcssDecide")
\* CAS status: from UNDECIDED to the decision proposed.
Decide(h, l) == Goto(Set(h, l.rd, l.want), [l EXCEPT !.want = ""], "RdcssSwing")
\* CAS root: from the descriptor to what its status says; hands "swung".
SwingRoot(h, l) == Hand(Swing(h, l, l.rd, Outcome(h, l.rd)), l, "swung", 0)

\* CAS status: UNDECIDED to ABORT.
AbortStatus(h, l) == Goto(Set(h, l.ad, "ABORT"), l, "CompleteAbortRoot")
\* CAS root: from the descriptor to what its status says (COMMIT, if someone was faster); hands "aborted" and that
\* I-node.  Whether or not this CAS succeeds, the root was that I-node at an instant since the descriptor was read.
AbortRoot(h, l) == Hand(Swing(h, l, l.ad, Outcome(h, l.ad)), l, "aborted", Outcome(h, l.ad))
=============================================================================
