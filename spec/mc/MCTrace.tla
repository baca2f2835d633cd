------------------------------ MODULE MCTrace -------------------------------
(***************************************************************************)
(* Is a recorded run of the code a behaviour of the specification?         *)
(*                                                                         *)
(* A trace is the operations of each process with their answers, and a     *)
(* log: the atomic accesses in the order in which they were made, each     *)
(* <<process, action, what it saw, nodes>>.  A read of main saw what the   *)
(* node holds.  The nodes are numbers: which I-node, which main node,      *)
(* which children.  Given the log there is at most one next step, so a     *)
(* batch of traces is as many behaviours side by side, and a trace is      *)
(* rejected where its behaviour deadlocks: at `next` is the event that the *)
(* specification does not allow.                                           *)
(*                                                                         *)
(* Names change after every step, so here a node has an identity, too: the *)
(* number of nodes made before it.  `known` says which identity a number   *)
(* of the log stands for: never two for one, nor one for two.  So two      *)
(* nodes of equal content are told apart.                                  *)
(*                                                                         *)
(* A trace may work on a writable snapshot, too (MCForks).  A clear that   *)
(* finds a snapshot registered goes on when it has answered: it reads the  *)
(* old tree, as one reads a snapshot, to retire what is there.             *)
(*                                                                         *)
(* The code reads main and prev in two accesses where Ctrie reads a main   *)
(* with a null prev in one; its second read is then no step.  Everything   *)
(* else in a log is one.                                                   *)
(***************************************************************************)
EXTENDS MCForks

CONSTANT Traces     \* a sequence of records: keys (those there at the start, with value 1), ops, log
VARIABLES trace,    \* which trace this behaviour follows
          next,     \* the index of the next event of its log
          known,    \* known[k]: the identity of the node that the log calls k, 0 until it is met
          last      \* last[p]: what the log calls the main node that process p has read last
tvars == <<mem, L, at, M, trace, next, known, last>>

\* Kept in a register of TLC, which else would build all traces again whenever it looks at one.
ASSUME TLCSet(1, TLCEval(Traces))
Recorded == TLCGet(1)[trace]
Event    == Recorded.log[next]
\* Operation k of process p: [op, answer].
Operation(p, k) == Recorded.ops[p][k]

YesNo(b)      == IF b THEN "yes" ELSE "no"
PrevState(q)  == IF q = 0 THEN "null" ELSE IF q < 0 THEN "failed" ELSE "pending"
RootState(l)  == IF mem.node[Root(mem, l)].t = "I" THEN "I-node" ELSE "descriptor"
Undecided(d)  == mem.node[d].status = "UNDECIDED"
\* A main node, whatever its address: its kind, its S-nodes, and how many children it has.
Holding(n)    == [t |-> n.t, held |-> SNodes(n), children |-> Cardinality(Links(n))]
\* What the next access of a process sees: the word read, or whether a CAS succeeds.
Seen(l, a) ==
    CASE a \in {"RdcssRead", "CompleteReadRoot"}    -> RootState(l)
      [] a = "RdcssInstall"                         -> YesNo(Root(mem, l) = mem.node[l.rd].ov)
      [] a = "RdcssReadStatus"                      -> mem.node[l.rd].status
      [] a = "RdcssDecide"                          -> IF Undecided(l.rd) THEN l.want ELSE "no"
      [] a = "RdcssSwing"                           -> YesNo(Root(mem, l) = l.rd)
      [] a = "CompleteAbortStatus"                  -> YesNo(Undecided(l.ad))
      [] a = "CompleteAbortRoot"                    -> YesNo(Root(mem, l) = l.ad)
      [] a \in {"GcasReadMain", "CompleteRereadMain"}  -> Holding(mem.node[Main(mem, l.gi)])
      [] a = "GcasCas"                              -> YesNo(Main(mem, l.gi) = Prev(mem, l.n))
      [] a \in {"GcasReadPrev", "CompleteReadPrev"} -> PrevState(Prev(mem, l.gm))
      [] a = "GcasReadPrevAfter"                    -> PrevState(Prev(mem, l.n))
      [] a \in {"CompleteCommit", "CompleteFail"}   -> YesNo(Prev(mem, l.gm) = l.gp)
      [] a = "CompleteRollback"                     -> YesNo(Main(mem, l.gi) = l.gm)

\* The nodes that it shows, by their addresses, in the order in which the log has them.
Shown(l, a) ==
    LET yes == Seen(l, a) = "yes"
        kid(n, b) == IF n.t = "C" THEN n.slot[b] ELSE Empty
        kids(n) == SelectSeq(<<kid(n, 1), kid(n, 2)>>, IsLink) IN
    CASE a \in {"RdcssRead", "CompleteReadRoot"}    -> <<Root(mem, l)>>
      [] a = "RdcssInstall"                         -> IF yes THEN <<l.rd>> ELSE <<>>
      [] a \in {"RdcssReadStatus", "RdcssDecide"}   -> <<l.rd>>
      [] a = "RdcssSwing"                           -> IF yes THEN <<l.rd, Outcome(mem, l.rd)>> ELSE <<>>
      [] a = "CompleteAbortStatus"                  -> <<l.ad>>
      [] a = "CompleteAbortRoot"                    -> IF yes THEN <<l.ad, Outcome(mem, l.ad)>> ELSE <<>>
      [] a \in {"GcasReadMain", "CompleteRereadMain"} ->
             LET m == Main(mem, l.gi)  k == kids(mem.node[m])
             IN  <<l.gi, m>> \o [b \in 1..Len(k) |-> Target(k[b])]
      [] a = "GcasCas"                              -> IF yes THEN <<l.gi, Prev(mem, l.n), l.n>> ELSE <<l.gi>>
      [] a = "CompleteRollback"                     -> IF yes THEN <<l.gi, l.gm, -l.gp>> ELSE <<l.gi>>
      [] a = "GcasReadPrevAfter"                    -> <<l.n>>
      [] OTHER                                      -> <<l.gm>>

(********************************* Identity ********************************)
TraceINode(m, g)  == [t |-> "I", main |-> m, gen |-> g, id |-> 0]                      \* INode
TraceCNode(slots, prev) == [t |-> "C", slot |-> slots, prev |-> prev, id |-> 0]        \* CNode
TraceTNode(s, prev)     == [t |-> "T", snode |-> s, prev |-> prev, id |-> 0]           \* TNode
TraceLNode(E, prev)     == [t |-> "L", entries |-> E, prev |-> prev, id |-> 0]         \* LNode
TraceDescriptor(ov, exp, nv) ==                                                        \* Descriptor
    [t |-> "D", ov |-> ov, exp |-> exp, nv |-> nv, status |-> "UNDECIDED", id |-> 0]
\* Replaces Alloc.  The first trie has no count of nodes made: its nodes get their identities in TInit.
TraceAlloc(h, n) ==
    IF "made" \in DOMAIN h THEN [h EXCEPT !.node = Append(@, [n EXCEPT !.id = h.made + 1]), !.made = @ + 1]
    ELSE [h EXCEPT !.node = Append(@, n)]
TraceNameHeap(h, w, g, live) ==      \* NameHeap
    [root |-> w.name[h.root],
     fork |-> Name(w.name, h.fork),
     node |-> TLCEval([k \in 1..Len(w.order) |-> NameNode(w.name, g, h.node[w.order[k]])]),
     live |-> live,
     made |-> h.made]
Identified(h) == [root |-> h.root,
                  fork |-> 0,
                  node |-> [a \in 1..Len(h.node) |-> [h.node[a] EXCEPT !.id = a]],
                  live |-> 0,
                  made |-> Len(h.node)]
\* What is known when the log calls these nodes so; <<>> if that is no bijection.
RECURSIVE Bound(_, _, _)
Bound(f, names, addresses) ==
    IF names = <<>> THEN f
    ELSE LET k == Head(names)  id == mem.node[Head(addresses)].id IN
         IF f[k] = id \/ (f[k] = 0 /\ \A j \in DOMAIN f : f[j] # id)
         THEN Bound([f EXCEPT ![k] = id], Tail(names), Tail(addresses))
         ELSE <<>>
Bind(names, addresses) ==
    /\ Len(names) = Len(addresses)
    /\ known' = Bound(known, names, addresses)
    /\ known' # <<>>

\* A process answers what it answered in the run: no configuration explains another answer.  The tracker alone would not
\* tell: of two answers that can both be explained, both may leave the same configurations.  Replaces Tracked.
TrackedAsRecorded(p, o) ==
    CASE o.ev = "none"   -> M
      [] o.ev = "held"   -> Held(M, p)
      [] o.ev = "return" -> IF o.v = Operation(p, at[p] - 1).answer THEN Returned(M, p, o.v) ELSE {}

(***************** A clear reads on when it has answered *******************)
TraceInstalled(h, l) ==      \* Installed
    IF l.op.op = "clear" THEN Hand(h, [Idle EXCEPT !.held = h.node[l.rd].ov], "return", 0) ELSE ForkInstalled(h, l)
TraceWalked(h, l, m) ==      \* Walked
    IF l.op = NoOp THEN Out(h, [Idle EXCEPT !.held = l.held]) ELSE ForkWalked(h, l, m)
\* Process p has cleared, and reads the main node of an I-node of the old tree.
Sweeping(p) == /\ L[p].pc = "idle" /\ L[p].held # 0
               /\ Event[2] = "GcasReadMain"
               /\ Operation(p, at[p] - 1).op.op = "clear"
Sweep(p) ==
    \E i \in {a \in INodesBelow(mem, L[p].held) : known[Event[4][1]] = mem.node[a].id} :
        LET l == [Idle EXCEPT !.pc = "GcasReadMain", !.held = L[p].held, !.gi = i, !.ret = "walk"] IN
        /\ Do(p, ReadMain(mem, l))
        /\ Seen(l, "GcasReadMain") = Event[3]
        /\ Bind(Event[4], Shown(l, "GcasReadMain"))

\* The process of the event takes the event's action, sees what it saw, and if it returns, answers what it answered.
Follow ==
    LET p == Event[1]  a == Event[2]
        l == IF L[p].pc = "idle" THEN [op |-> Operation(p, at[p]).op] ELSE L[p] IN
    IF Sweeping(p) THEN Sweep(p)
    ELSE /\ IF L[p].pc = "idle"
            THEN /\ a = "RdcssRead"
                 /\ Invoke(p)
                 /\ L'[p].op = Operation(p, at[p]).op
            ELSE /\ L[p].pc = a
                 /\ Step(p)
                 /\ M' # {}
         /\ Seen(l, a) = Event[3]
         /\ Bind(Event[4], Shown(l, a))
\* The second read is of the main node that was just read.
SecondRead ==
    /\ Event[2] = "GcasReadPrev" /\ L[Event[1]].pc # "GcasReadPrev" /\ Event[3] = "null"
    /\ Event[4] = <<last[Event[1]]>>
    /\ UNCHANGED <<mem, L, at, M, known>>

TInit == /\ trace \in 1..Len(TLCGet(1))
         /\ next = 1
         /\ known = [k \in 1..Recorded.nodes |-> 0]
         /\ last = ForEach(0)
         /\ LET c == Canonical(Identified(Trie(Recorded.keys)), ForEach(Idle)) IN
            /\ mem = c.h
            /\ L = c.L
            /\ at = ForEach(1)
            /\ M = {[s |-> <<Contents(c.h, c.h.root), <<>>>>, r |-> ForEach(<<>>)]}
TNext == \/ next <= Len(Recorded.log) /\ (Follow \/ SecondRead) /\ next' = next + 1 /\ UNCHANGED trace
            /\ last' = IF Event[2] = "GcasReadMain" THEN [last EXCEPT ![Event[1]] = Event[4][2]] ELSE last
         \/ next > Len(Recorded.log) /\ Quiet /\ UNCHANGED tvars
TSpec == TInit /\ [][TNext]_tvars
=============================================================================
