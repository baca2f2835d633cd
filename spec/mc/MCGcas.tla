------------------------------- MODULE MCGcas -------------------------------
(***************************************************************************)
(* GCAS alone: one I-node of generation 1, whose main node holds a         *)
(* counter, and a root whose generation changes once.  Sequentially, "add" *)
(* adds one and answers the old count while the trie is open, and answers  *)
(* Shut when it is not; "shut" gives the root another generation; "get"    *)
(* answers the count.  So an update takes effect at once or never, and     *)
(* none after the generation has changed.                                  *)
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
GcasNext(o, s) == CASE o.op = "add"  -> IF s.open THEN [s EXCEPT !.count = @ + 1] ELSE s
                    [] o.op = "shut" -> [s EXCEPT !.open = FALSE]
                    [] OTHER         -> s
GcasAnswer(o, s) == CASE o.op = "add"  -> IF s.open THEN s.count ELSE Shut
                      [] o.op = "shut" -> 0
                      [] OTHER         -> s.count
GcasOutcomes(Regs, p, s) == {[s |-> GcasNext(Regs[p].op, s), v |-> GcasAnswer(Regs[p].op, s)]}
INSTANCE Linearizability WITH Outcomes <- GcasOutcomes

(********************************** Steps **********************************)
Object == 2      \* the I-node; the root at the start
Counter(n, prev) == CNode(<<SNode("a", n), Empty>>, prev)
CountOf(h, m) == ValOf(h.node[m].slot[1])
Idle == [pc |-> "idle", op |-> NoOp, gi |-> 0, gm |-> 0, gp |-> 0, n |-> 0, ret |-> "", res |-> 0]
Return(h, v)  == Hand(h, Idle, "return", v)
Restart(h, l) == Out(h, [Idle EXCEPT !.op = l.op, !.pc = "RdcssRead"])
GotRoot(h, l, r) == IF l.op.op = "add" /\ Gen(h, r) # Gen(h, Object) THEN Return(h, Shut)
                    ELSE CallGcasRead(h, l, Object, "")
GcasReturned(h, l, ok) == IF ok THEN Return(h, l.res) ELSE Restart(h, l)
GcasCompleted(h, l, m) == Goto(h, [l EXCEPT !.gm = 0, !.gp = 0], "GcasReadPrevAfter")
GotMain(h, l, m) ==
    IF l.ret = "gcas" THEN GcasCompleted(h, l, m)
    ELSE IF l.op.op = "get" THEN Return(h, CountOf(h, m))
    ELSE Out(Alloc(h, Counter(CountOf(h, m) + 1, m)),
             [l EXCEPT !.pc = "GcasCas", !.n = Fresh(h), !.res = CountOf(h, m), !.gm = 0, !.gp = 0])
Continued(o) == CASE o.ev = "root" -> GotRoot(o.h, o.l, o.v)
                  [] o.ev = "main" -> GotMain(o.h, o.l, o.v)
                  [] o.ev = "gcas" -> GcasReturned(o.h, o.l, o.v)
                  [] OTHER         -> o
Began(h, l) ==
    IF l.op.op = "shut" THEN Return([Alloc(h, INode(1, 2)) EXCEPT !.root = Fresh(h)], 0)
    ELSE Continued(ReadRoot(h, l))

Do(p, o0) == LET o == Continued(o0) IN
    /\ mem' = o.h
    /\ L' = [L EXCEPT ![p] = o.l]
    /\ M' = IF o.ev = "return" THEN Returned(M, p, o.v) ELSE M
    /\ UNCHANGED at
At(p, pc) == L[p].pc = pc
RdcssRead(p)          == At(p, "RdcssRead")          /\ Do(p, ReadRoot(mem, L[p]))
GcasReadMain(p)       == At(p, "GcasReadMain")       /\ Do(p, ReadMain(mem, L[p]))
GcasReadPrev(p)       == At(p, "GcasReadPrev")       /\ Do(p, ReadPrev(mem, L[p]))
GcasCas(p)            == At(p, "GcasCas")            /\ Do(p, CasMain(mem, L[p]))
GcasReadPrevAfter(p)  == At(p, "GcasReadPrevAfter")  /\ Do(p, ReadPrevAfter(mem, L[p]))
CompleteReadPrev(p)   == At(p, "CompleteReadPrev")   /\ Do(p, ReadPrevFirst(mem, L[p]))
CompleteReadRoot(p)   == At(p, "CompleteReadRoot")   /\ Do(p, CompareRoot(mem, L[p]))
CompleteCommit(p)     == At(p, "CompleteCommit")     /\ Do(p, Commit(mem, L[p]))
CompleteFail(p)       == At(p, "CompleteFail")       /\ Do(p, Fail(mem, L[p]))
CompleteRollback(p)   == At(p, "CompleteRollback")   /\ Do(p, Rollback(mem, L[p]))
CompleteRereadMain(p) == At(p, "CompleteRereadMain") /\ Do(p, RereadMain(mem, L[p]))
Invoke(p) ==
    /\ At(p, "idle") /\ at[p] <= Len(Program[p])
    /\ LET l == [Idle EXCEPT !.op = Operation(Program[p][at[p]])]
           o == Began(mem, l)
           S == Close(M, [L EXCEPT ![p] = l])
       IN  /\ mem' = o.h
           /\ L' = [L EXCEPT ![p] = o.l]
           /\ M' = IF o.ev = "return" THEN Returned(S, p, o.v) ELSE S
    /\ at' = [at EXCEPT ![p] = @ + 1]
Step(p) == RdcssRead(p) \/ GcasReadMain(p) \/ GcasReadPrev(p) \/ GcasCas(p) \/ GcasReadPrevAfter(p)
           \/ CompleteReadPrev(p) \/ CompleteReadRoot(p) \/ CompleteCommit(p) \/ CompleteFail(p)
           \/ CompleteRollback(p) \/ CompleteRereadMain(p)
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
OldMainCommitted == OldCommitted(mem)
\* At rest the counter holds what the history says.
QuiescentAgree == Quiet => \E c \in M : c.s.count = CountOf(mem, Settled(mem, Object))

(********************************* Programs ********************************)
HashNone     == [a |-> <<0>>]
TwoAdders    == [u |-> <<"add">>, w |-> <<"add">>, x |-> <<"shut", "get">>]
FourAdders   == [u |-> <<"add", "add">>, w |-> <<"add">>, x |-> <<"shut">>, y |-> <<"get">>]
ThreeAdders  == [u |-> <<"add">>, w |-> <<"add">>, x |-> <<"add">>]
AddGet       == [u |-> <<"add", "get">>, w |-> <<"add", "shut">>]
\* Wrong: the generation is not compared (mutant G0); success is judged by the main node returned (mutant G1).
SameGen(h, i) == 1
ByMainReturned(h, l, m) == GcasReturned(h, l, m = l.n)
\* Wrong: a main node is taken as it is, committed or not.
ReadAsItIs(h, l) == Hand(h, l, "main", Main(h, l.gi))

\* A state in a few words (latchfree spec --alias).
Alias == [next      |-> [p \in Procs |-> <<L[p].op.op, L[p].pc>>],
          root      |-> <<mem.node[mem.root].t, mem.root>>,
          explained |-> Cardinality(M)]
=============================================================================
