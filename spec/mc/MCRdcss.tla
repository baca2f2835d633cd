------------------------------ MODULE MCRdcss -------------------------------
(***************************************************************************)
(* RDCSS alone: the root, and the main node of the I-node that it is at    *)
(* first.  Sequentially, "swap" moves the root to the new I-node if it is  *)
(* the first and its main node is the first, and answers whether it did;   *)
(* "write" gives the first I-node another main node; "read" and "abort"    *)
(* answer what the root is, one completing a descriptor, the other         *)
(* aborting it.  A swap whose descriptor was aborted tries again.          *)
(***************************************************************************)
EXTENDS Rdcss

CONSTANT Program      \* process -> sequence of operations
Procs == DOMAIN Program
VARIABLES mem, L, at, M
vars == <<mem, L, at, M>>

(************************** Sequential specification ***********************)
Operation(name) == [op |-> name]
NoOp == Operation("none")
First  == 3      \* the I-node that is the root at the start, with main node 1; its second is 2
Second == 4      \* the new one
Swaps(s) == s.root = First /\ s.main = 1
RdcssNext(o, s) == CASE o.op = "swap"  -> IF Swaps(s) THEN [s EXCEPT !.root = Second] ELSE s
                     [] o.op = "write" -> [s EXCEPT !.main = 2]
                     [] OTHER          -> s
RdcssAnswer(o, s) == CASE o.op = "swap"  -> IF Swaps(s) THEN 1 ELSE 0
                       [] o.op = "write" -> 0
                       [] OTHER          -> s.root
RdcssOutcomes(Regs, p, s) == {[s |-> RdcssNext(Regs[p].op, s), v |-> RdcssAnswer(Regs[p].op, s)]}
INSTANCE Linearizability WITH Outcomes <- RdcssOutcomes

(********************************** Steps **********************************)
Idle == [pc |-> "idle", op |-> NoOp, rd |-> 0, own |-> FALSE, want |-> "", ad |-> 0]
Return(h, v)  == Hand(h, Idle, "return", v)
Restart(h, l) == Out(h, [Idle EXCEPT !.op = l.op, !.pc = "RdcssRead"])
Swung(h, l) ==
    IF ~l.own THEN Restart(h, l)
    ELSE IF h.node[l.rd].status = "COMMIT" THEN Return(h, 1) ELSE Restart(h, l)
\* The main node of the first I-node is m: the own descriptor is yet to be made, or one is to be decided.
GotMain(h, l, m) ==
    IF l.rd # 0 THEN Compared(h, l, m)
    ELSE IF m # 1 THEN Return(h, 0)
    ELSE Out(Alloc(h, Descriptor(First, 1, Second)), [l EXCEPT !.rd = Fresh(h), !.own = TRUE, !.pc = "RdcssInstall"])
Continued(o) ==
    CASE o.ev = "root"    -> IF o.l.op.op # "swap" THEN Return(o.h, o.v)
                             ELSE IF o.v = First THEN Goto(o.h, o.l, "ReadMain") ELSE Return(o.h, 0)
      [] o.ev = "lost"    -> Restart(o.h, o.l)
      [] o.ev = "compare" -> Goto(o.h, o.l, "ReadMain")
      [] o.ev = "swung"   -> Swung(o.h, o.l)
      [] o.ev = "aborted" -> Return(o.h, o.v)
      [] OTHER            -> o
Began(h, l) ==
    CASE l.op.op = "write" -> Return([h EXCEPT !.node[First].main = 2], 0)
      [] l.op.op = "abort" /\ h.node[h.root].t = "D" -> Goto(h, [l EXCEPT !.ad = h.root], "CompleteAbortStatus")
      [] OTHER -> Continued(ReadRoot(h, l))

Do(p, o0) == LET o == Continued(o0) IN
    /\ mem' = o.h
    /\ L' = [L EXCEPT ![p] = o.l]
    /\ M' = IF o.ev = "return" THEN Returned(M, p, o.v) ELSE M
    /\ UNCHANGED at
At(p, pc) == L[p].pc = pc
RdcssRead(p)           == At(p, "RdcssRead")           /\ Do(p, ReadRoot(mem, L[p]))
RdcssInstall(p)        == At(p, "RdcssInstall")        /\ Do(p, Install(mem, L[p]))
RdcssReadStatus(p)     == At(p, "RdcssReadStatus")     /\ Do(p, ReadStatus(mem, L[p]))
RdcssReadMain(p)       == At(p, "ReadMain")            /\ Do(p, GotMain(mem, L[p], Main(mem, First)))
RdcssDecide(p)         == At(p, "RdcssDecide")         /\ Do(p, Decide(mem, L[p]))
RdcssSwing(p)          == At(p, "RdcssSwing")          /\ Do(p, SwingRoot(mem, L[p]))
CompleteAbortStatus(p) == At(p, "CompleteAbortStatus") /\ Do(p, AbortStatus(mem, L[p]))
CompleteAbortRoot(p)   == At(p, "CompleteAbortRoot")   /\ Do(p, AbortRoot(mem, L[p]))
Invoke(p) ==
    /\ At(p, "idle") /\ at[p] <= Len(Program[p])
    /\ LET l == [Idle EXCEPT !.op = Operation(Program[p][at[p]])]
           o == Began(mem, l)
           S == Close(M, [L EXCEPT ![p] = l])
       IN  /\ mem' = o.h
           /\ L' = [L EXCEPT ![p] = o.l]
           /\ M' = IF o.ev = "return" THEN Returned(S, p, o.v) ELSE S
    /\ at' = [at EXCEPT ![p] = @ + 1]
Step(p) == RdcssRead(p) \/ RdcssInstall(p) \/ RdcssReadStatus(p) \/ RdcssReadMain(p) \/ RdcssDecide(p)
           \/ RdcssSwing(p) \/ CompleteAbortStatus(p) \/ CompleteAbortRoot(p)
Quiet == \A p \in Procs : L[p].pc = "idle"
Terminating == Quiet /\ (\A p \in Procs : at[p] > Len(Program[p])) /\ UNCHANGED vars

Init == /\ mem = [root |-> First, live |-> 0,
                  node |-> <<CNode(<<>>, 0), CNode(<<>>, 0), INode(1, 1), INode(1, 2)>>]
        /\ L = [p \in Procs |-> Idle]
        /\ at = [p \in Procs |-> 1]
        /\ M = {[s |-> [root |-> First, main |-> 1], r |-> [p \in Procs |-> <<>>]]}
Next == (\E p \in Procs : Invoke(p) \/ Step(p)) \/ Terminating
Spec == Init /\ [][Next]_vars

(******************************** Invariants *******************************)
Linearizable == M # {}
\* The root is the second I-node only if a descriptor says so.
DecidedFirst == mem.root = Second => \E d \in 1..Len(mem.node) : mem.node[d].t = "D" /\ mem.node[d].status = "COMMIT"
\* At rest the root is what the history says, and no descriptor.
QuiescentAgree == Quiet => \E c \in M : c.s.root = mem.root

(********************************* Programs ********************************)
HashNone    == [a |-> <<0>>]
SwapWrite   == [s |-> <<"swap">>, t |-> <<"swap">>, w |-> <<"write", "read">>]
SwapsAborts == [s |-> <<"swap", "read">>, t |-> <<"swap">>, w |-> <<"write", "read">>, x |-> <<"abort", "abort">>]
SwapAbort   == [s |-> <<"swap">>, w |-> <<"write", "read">>, x |-> <<"abort">>]
TwoSwaps    == [s |-> <<"swap", "read">>, t |-> <<"swap">>, r |-> <<"read">>]
\* Wrong: the main node is not compared (mutant G2), and the root moves before the status is decided (mutant S2).
NotCompared(h, l, m) == Goto(h, [l EXCEPT !.want = "COMMIT"], "RdcssDecide")
SwungFirst(h, l, m) == Goto(IF m = h.node[l.rd].exp THEN Swing(h, l, l.rd, h.node[l.rd].nv) ELSE h,
                            [l EXCEPT !.want = IF m = h.node[l.rd].exp THEN "COMMIT" ELSE "ABORT"], "RdcssDecide")

\* A state in a few words (latchfree spec --alias).
Alias == [next      |-> [p \in Procs |-> <<L[p].op.op, L[p].pc>>],
          root      |-> <<mem.node[mem.root].t, mem.root>>,
          explained |-> Cardinality(M)]
=============================================================================
