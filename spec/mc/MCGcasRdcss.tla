---------------------------- MODULE MCGcasRdcss -----------------------------
(***************************************************************************)
(* GCAS and RDCSS together: one I-node of generation 1, which is the root  *)
(* at first, and whose main node holds a counter.  Sequentially, "add"     *)
(* adds one and answers the old count, "snapshot" closes the trie and      *)
(* answers the count, and both answer Shut when it is closed; "get"        *)
(* answers the count.  "look" reads the closed trie as a reader that       *)
(* commits nothing, and answers the count, or Shut while it is open.       *)
(***************************************************************************)
EXTENDS Gcas

CONSTANT Program      \* process -> sequence of operations
Procs == DOMAIN Program
VARIABLES mem, L, at, M
vars == <<mem, L, at, M>>

(************************** Sequential specification ***********************)
Operation(name) == [op |-> name]
NoOp == Operation("none")
Shut == -1
SnapNext(o, s) == CASE o.op = "add" /\ s.open -> [s EXCEPT !.count = @ + 1]
                    [] o.op = "snapshot"      -> [s EXCEPT !.open = FALSE]
                    [] OTHER                  -> s
SnapAnswer(o, s) == IF o.op = "get" \/ (s.open /\ o.op # "look") \/ (~s.open /\ o.op = "look")
                    THEN s.count ELSE Shut
SnapOutcomes(Regs, p, s) == {[s |-> SnapNext(Regs[p].op, s), v |-> SnapAnswer(Regs[p].op, s)]}
INSTANCE Linearizability WITH Outcomes <- SnapOutcomes

(********************************** Steps **********************************)
Object == 2      \* the I-node; the root at the start
Counter(n, prev) == CNode(<<SNode("a", n), Empty>>, prev)
CountOf(h, m) == ValOf(h.node[m].slot[1])
\* sg: the generation of the root read; own: whether this process made the descriptor rd.
Idle == [pc |-> "idle", op |-> NoOp, sg |-> 0, gi |-> 0, gm |-> 0, gp |-> 0, n |-> 0, ret |-> "", res |-> 0,
         rd |-> 0, own |-> FALSE, want |-> "", ad |-> 0]
Return(h, v)  == Hand(h, Idle, "return", v)
Restart(h, l) == Out(h, [Idle EXCEPT !.op = l.op, !.pc = "RdcssRead"])
GotRoot(h, l, r) ==
    LET open == Gen(h, r) = Gen(h, Object)  q == [l EXCEPT !.sg = Gen(h, r)] IN
    IF l.op.op = "get" THEN CallGcasRead(h, q, Object, "client")
    ELSE IF open # (l.op.op # "look") THEN Return(h, Shut)
    ELSE CallGcasRead(h, q, Object, IF open THEN "client" ELSE "walk")
GotMain(h, l, m) == LET q == [l EXCEPT !.gm = 0, !.gp = 0] IN
    CASE l.ret = "gcas"         -> Goto(h, q, "GcasReadPrevAfter")
      [] l.ret = "decide"       -> Compared(h, [q EXCEPT !.gi = 0, !.ret = ""], m)
      [] l.op.op = "add"        -> Out(Alloc(h, Counter(CountOf(h, m) + 1, m)),
                                       [q EXCEPT !.pc = "GcasCas", !.n = Fresh(h), !.res = CountOf(h, m)])
      [] l.op.op = "snapshot"   ->
           LET k == Alloc(h, INode(m, Gen(h, Object) + 1))
           IN  Out(Alloc(k, Descriptor(Object, m, Fresh(h))),
                   [q EXCEPT !.pc = "RdcssInstall", !.rd = Fresh(k), !.own = TRUE, !.res = CountOf(h, m),
                             !.gi = 0, !.ret = ""])
      [] OTHER                  -> Return(h, CountOf(h, m))
Swung(h, l) == IF l.own /\ h.node[l.rd].status = "COMMIT" THEN Return(h, l.res) ELSE Restart(h, l)
Continued(o) == CASE o.ev = "root"    -> GotRoot(o.h, o.l, o.v)
                  [] o.ev = "main"    -> GotMain(o.h, o.l, o.v)
                  [] o.ev = "gcas"    -> IF o.v THEN Return(o.h, o.l.res) ELSE Restart(o.h, o.l)
                  [] o.ev = "lost"    -> Restart(o.h, o.l)
                  [] o.ev = "compare" -> CallGcasRead(o.h, o.l, o.v, "decide")
                  [] o.ev = "swung"   -> Swung(o.h, o.l)
                  [] o.ev = "aborted" -> Aborted(o.h, o.l, o.v)
                  [] OTHER            -> o

Do(p, o0) == LET o == Continued(o0) IN
    /\ mem' = o.h
    /\ L' = [L EXCEPT ![p] = o.l]
    /\ M' = IF o.ev = "return" THEN Returned(M, p, o.v) ELSE M
    /\ UNCHANGED at
At(p, pc) == L[p].pc = pc
RdcssRead(p)           == At(p, "RdcssRead")           /\ Do(p, ReadRoot(mem, L[p]))
RdcssInstall(p)        == At(p, "RdcssInstall")        /\ Do(p, Install(mem, L[p]))
RdcssReadStatus(p)     == At(p, "RdcssReadStatus")     /\ Do(p, ReadStatus(mem, L[p]))
RdcssDecide(p)         == At(p, "RdcssDecide")         /\ Do(p, Decide(mem, L[p]))
RdcssSwing(p)          == At(p, "RdcssSwing")          /\ Do(p, SwingRoot(mem, L[p]))
GcasReadMain(p)        == At(p, "GcasReadMain")        /\ Do(p, ReadMain(mem, L[p]))
GcasReadPrev(p)        == At(p, "GcasReadPrev")        /\ Do(p, ReadPrev(mem, L[p]))
GcasCas(p)             == At(p, "GcasCas")             /\ Do(p, CasMain(mem, L[p]))
GcasReadPrevAfter(p)   == At(p, "GcasReadPrevAfter")   /\ Do(p, ReadPrevAfter(mem, L[p]))
CompleteReadPrev(p)    == At(p, "CompleteReadPrev")    /\ Do(p, ReadPrevFirst(mem, L[p]))
CompleteReadRoot(p)    == At(p, "CompleteReadRoot")    /\ Do(p, CompareRoot(mem, L[p]))
CompleteAbortStatus(p) == At(p, "CompleteAbortStatus") /\ Do(p, AbortStatus(mem, L[p]))
CompleteAbortRoot(p)   == At(p, "CompleteAbortRoot")   /\ Do(p, AbortRoot(mem, L[p]))
CompleteCommit(p)      == At(p, "CompleteCommit")      /\ Do(p, Commit(mem, L[p]))
CompleteFail(p)        == At(p, "CompleteFail")        /\ Do(p, Fail(mem, L[p]))
CompleteRollback(p)    == At(p, "CompleteRollback")    /\ Do(p, Rollback(mem, L[p]))
CompleteRereadMain(p)  == At(p, "CompleteRereadMain")  /\ Do(p, RereadMain(mem, L[p]))
Invoke(p) ==
    /\ At(p, "idle") /\ at[p] <= Len(Program[p])
    /\ LET l == [Idle EXCEPT !.op = Operation(Program[p][at[p]])]
           o == Continued(ReadRoot(mem, l))
           S == Close(M, [L EXCEPT ![p] = l])
       IN  /\ mem' = o.h
           /\ L' = [L EXCEPT ![p] = o.l]
           /\ M' = IF o.ev = "return" THEN Returned(S, p, o.v) ELSE S
    /\ at' = [at EXCEPT ![p] = @ + 1]
Step(p) == RdcssRead(p) \/ RdcssInstall(p) \/ RdcssReadStatus(p) \/ RdcssDecide(p) \/ RdcssSwing(p)
           \/ GcasReadMain(p) \/ GcasReadPrev(p) \/ GcasCas(p) \/ GcasReadPrevAfter(p)
           \/ CompleteReadPrev(p) \/ CompleteReadRoot(p) \/ CompleteAbortStatus(p) \/ CompleteAbortRoot(p)
           \/ CompleteCommit(p) \/ CompleteFail(p) \/ CompleteRollback(p) \/ CompleteRereadMain(p)
Quiet == \A p \in Procs : L[p].pc = "idle"
Terminating == Quiet /\ (\A p \in Procs : at[p] > Len(Program[p])) /\ UNCHANGED vars

Init == /\ mem = [root |-> Object, live |-> 0, node |-> <<Counter(0, 0), INode(1, 1)>>]
        /\ L = [p \in Procs |-> Idle]
        /\ at = [p \in Procs |-> 1]
        /\ M = {[s |-> [count |-> 0, open |-> TRUE], r |-> [p \in Procs |-> <<>>]]}
Next == (\E p \in Procs : Invoke(p) \/ Step(p)) \/ Terminating
Spec == Init /\ [][Next]_vars

(******************************** Invariants *******************************)
Linearizable == M # {}

(********************************* Programs ********************************)
HashNone == [a |-> <<0>>]
AddSnapshot == [u |-> <<"add", "get">>, w |-> <<"snapshot", "look">>]
\* Wrong: the main node is not compared (mutant G2).
NotCompared(h, l, m) == Goto(h, [l EXCEPT !.want = "COMMIT"], "RdcssDecide")

\* A state in a few words (latchfree spec --alias).
Alias == [next      |-> [p \in Procs |-> <<L[p].op.op, L[p].pc>>],
          root      |-> <<mem.node[mem.root].t, mem.root>>,
          explained |-> Cardinality(M)]
=============================================================================
