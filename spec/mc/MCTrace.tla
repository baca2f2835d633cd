------------------------------ MODULE MCTrace -------------------------------
(***************************************************************************)
(* Is a recorded run of the code a behaviour of the specification?         *)
(*                                                                         *)
(* A trace is the operations of each process with their answers, and a     *)
(* log: the atomic accesses in the order in which they were made, each     *)
(* <<process, action, what it saw>>.  A read of main saw what the node     *)
(* holds.  Given the log there is at most one next step, so a batch of     *)
(* traces is as many behaviours side by side, and a trace is rejected      *)
(* where its behaviour deadlocks: at `next` is the event that the          *)
(* specification does not allow.                                           *)
(*                                                                         *)
(* The code reads main and prev in two accesses where Ctrie reads a main   *)
(* with a null prev in one; its second read is then no step.  Everything   *)
(* else in a log is one.                                                   *)
(***************************************************************************)
EXTENDS MCCtrie

CONSTANT Traces     \* a sequence of records: keys (those there at the start, with value 1), ops, log
VARIABLES trace,    \* which trace this behaviour follows
          next      \* the index of the next event of its log
tvars == <<mem, L, at, M, trace, next>>

\* Kept in a register of TLC, which else would build all traces again whenever it looks at one.
ASSUME TLCSet(1, TLCEval(Traces))
Recorded == TLCGet(1)[trace]
Event    == Recorded.log[next]
\* Operation k of process p: [op, answer].
Operation(p, k) == Recorded.ops[p][k]

YesNo(b)      == IF b THEN "yes" ELSE "no"
PrevState(q)  == IF q = 0 THEN "null" ELSE IF q < 0 THEN "failed" ELSE "pending"
RootState     == IF mem.node[mem.root].t = "I" THEN "I-node" ELSE "descriptor"
Undecided(d)  == mem.node[d].status = "UNDECIDED"
\* A main node, whatever its address: its kind, its S-nodes, and how many children it has.
Holding(n)    == [t |-> n.t, held |-> SNodes(n), children |-> Cardinality(Links(n))]
\* What the next access of a process sees: the word read, or whether a CAS succeeds.
Seen(l, a) ==
    CASE a \in {"RdcssRead", "CompleteReadRoot"}    -> RootState
      [] a = "RdcssInstall"                         -> YesNo(mem.root = mem.node[l.rd].ov)
      [] a = "RdcssReadStatus"                      -> mem.node[l.rd].status
      [] a = "RdcssDecide"                          -> IF Undecided(l.rd) THEN l.want ELSE "no"
      [] a = "RdcssSwing"                           -> YesNo(mem.root = l.rd)
      [] a = "CompleteAbortStatus"                  -> YesNo(Undecided(l.ad))
      [] a = "CompleteAbortRoot"                    -> YesNo(mem.root = l.ad)
      [] a \in {"GcasReadMain", "CompleteRereadMain"}  -> Holding(mem.node[Main(mem, l.gi)])
      [] a = "GcasCas"                              -> YesNo(Main(mem, l.gi) = Prev(mem, l.n))
      [] a \in {"GcasReadPrev", "CompleteReadPrev"} -> PrevState(Prev(mem, l.gm))
      [] a = "GcasReadPrevAfter"                    -> PrevState(Prev(mem, l.n))
      [] a \in {"CompleteCommit", "CompleteFail"}   -> YesNo(Prev(mem, l.gm) = l.gp)
      [] a = "CompleteRollback"                     -> YesNo(Main(mem, l.gi) = l.gm)

\* A process answers what it answered in the run: no configuration explains another answer.  The tracker alone would not
\* tell: of two answers that can both be explained, both may leave the same configurations.  Replaces Tracked.
TrackedAsRecorded(p, o) ==
    CASE o.ev = "none"   -> M
      [] o.ev = "held"   -> Held(M, p)
      [] o.ev = "return" -> IF o.v = Operation(p, at[p] - 1).answer THEN Returned(M, p, o.v) ELSE {}

\* The process of the event takes the event's action, sees what it saw, and if it returns, answers what it answered.
Follow ==
    LET p == Event[1]  a == Event[2] IN
    /\ IF L[p].pc = "idle"
       THEN /\ a = "RdcssRead"
            /\ Invoke(p)
            /\ L'[p].op = Operation(p, at[p]).op
       ELSE /\ L[p].pc = a
            /\ Step(p)
            /\ M' # {}
    /\ Seen(L[p], a) = Event[3]
SecondRead == Event[2] = "GcasReadPrev" /\ L[Event[1]].pc # "GcasReadPrev" /\ Event[3] = "null" /\ UNCHANGED vars

TInit == /\ trace \in 1..Len(TLCGet(1))
         /\ next = 1
         /\ LET c == Canonical(Trie(Recorded.keys), ForEach(Idle)) IN
            /\ mem = c.h
            /\ L = c.L
            /\ at = ForEach(1)
            /\ M = {[s |-> Contents(c.h, c.h.root), r |-> ForEach(<<>>)]}
TNext == \/ next <= Len(Recorded.log) /\ (Follow \/ SecondRead) /\ next' = next + 1 /\ UNCHANGED trace
         \/ next > Len(Recorded.log) /\ Quiet /\ UNCHANGED tvars
TSpec == TInit /\ [][TNext]_tvars
=============================================================================
