----------------------------- MODULE TopicTrie ------------------------------
(***************************************************************************)
(* The concurrent subscription trie, corrected, at one shared-memory       *)
(* access per step.                                                        *)
(*                                                                         *)
(* As published, an update copies one C-node and installs the copy by CAS  *)
(* on INode.main, and a C-node below the root that becomes empty is        *)
(* replaced by a tomb.  The corrections:                                   *)
(*  - an I-node leaves the trie only after a tomb was installed in it,     *)
(*    which is final; so nothing can be inserted below an I-node that is   *)
(*    on its way out.  A parent that becomes empty gets a tomb in turn,    *)
(*    and is detached from its own parent;                                 *)
(*  - every CAS expects exactly the main node that the copy was made of;   *)
(*  - a branch with subscribers whose I-node is a tomb loses the I-node    *)
(*    and keeps the subscribers;                                           *)
(*  - a lookup, which reads several I-nodes, validates: when it has read   *)
(*    all, it reads them all once more.  If no main node has changed, then *)
(*    between the two passes all of them were in place at once, and this   *)
(*    is the lookup's linearization point.  Identity of main nodes is      *)
(*    enough, because a main node is never installed twice, and the        *)
(*    address of one that a process still holds is not used again;         *)
(*  - after some failures it answers from a snapshot instead.              *)
(*                                                                         *)
(* Each action is named after its access, and pc holds the name of the     *)
(* action that comes next.  An invocation is fused with the operation's    *)
(* first access and a response with its last.  A snapshot is one step: it  *)
(* is linearizable (module Ctrie).  While nobody takes one, GCAS is CAS.   *)
(***************************************************************************)
EXTENDS TopicHeap
INSTANCE Linearizability WITH Outcomes <- TopicOutcomes

CONSTANTS Program,    \* process -> sequence of menus (sets of operations), one for each operation in turn
          Forever,    \* TRUE: a program that has ended begins again, so operations are unbounded
          Initially,  \* the subscriptions at the start
          Tries       \* a lookup takes a snapshot after so many failed validations; 0: never
Procs == DOMAIN Program

VARIABLES mem,   \* the memory (module TopicHeap)
          L,     \* the registers of each process
          at,    \* at[p]: the index of the menu of p's next operation
          M      \* the linearizability tracker
vars == <<mem, L, at, M>>

(******************************** Registers ********************************)
Idle == [pc   |-> "idle",
         op   |-> NoOp,
         path |-> <<>>,   \* subscribe, unsubscribe: the I-nodes from the root to the present one
         m    |-> 0,      \* the main node that is copied, and that the CAS expects
         todo |-> <<>>,   \* lookup: what is still to be read: <<I-node, level>>,
         seen |-> <<>>,   \*   what was read: <<I-node, main node>>,
         acc  |-> {},     \*   the subscribers found,
         j    |-> 0,      \*   validation: the index in seen,
         fails |-> 0]     \*   and how often it has failed
INodeOf(l)  == l.path[Len(l.path)]
ParentOf(l) == l.path[Len(l.path) - 1]
Level(l)    == Len(l.path)
Word(l)     == l.op.topic[Level(l)]
IsLast(l)   == Level(l) = Len(l.op.topic)

\* A step yields the new memory, the new registers, and whether the operation returns, with which answer.
Out(h, l)      == [h |-> h, l |-> l, ret |-> FALSE, v |-> 0]
Goto(h, l, pc) == Out(h, [l EXCEPT !.pc = pc])
Return(h, v)   == [h |-> h, l |-> Idle, ret |-> TRUE, v |-> v]
Begin(op)      == IF op.op = "lookup" THEN [Idle EXCEPT !.pc = "CollectMain", !.op = op, !.todo = <<<<Root, 1>>>>]
                  ELSE [Idle EXCEPT !.pc = "ReadMain", !.op = op, !.path = <<Root>>]
Restart(h, l)  == Out(h, Begin(l.op))
Install(h, i, n) == [Put(h, n) EXCEPT ![i].main = Fresh(h)]

(******************************* The corrections ***************************)
\* A C-node without branches is a tomb, except at the root.
Contracted(i, br) == IF i # Root /\ IsEmpty(br) THEN TNode ELSE CNode(br)
IsTomb(i, n) == n.t = "T"
\* A tomb is final: nobody replaces it.
IsFinal(i, n) == IsTomb(i, n)
\* A branch without its tombed I-node.
Detached(b) == [b EXCEPT !.kid = 0]
\* What the CAS that detaches a tomb expects in the parent i: the main node that was copied.
StillThere(h, i, m) == Main(h, i) = m
\* If that CAS fails: the next attempt, at the same place.
CleanFailed(h, l) == Goto(h, [l EXCEPT !.m = 0], "CleanMain")
\* A lookup has read all: what to read once more, and what it means that nothing has changed.
ToValidate(seen)   == seen
Unchanged(h, i, m) == Main(h, i) = m

(************************ subscribe and unsubscribe ************************)
\* Read main of the parent of the tomb INodeOf(l).
Clean(h, l) == Goto(h, [l EXCEPT !.m = 0], "CleanMain")
\* The tomb is out: the own unsubscribe is done, any other operation begins again.
Cleaned(h, l) == IF l.j = 1 THEN Return(h, 0) ELSE Restart(h, l)
\* Now the parent is a tomb.
CleanUp(h, l) == Clean(h, [l EXCEPT !.path = SubSeq(@, 1, Len(@) - 1)])
\* The operation has arrived at the present I-node, whose main node is m.
AtMain(h, l, m) ==
    IF IsFinal(INodeOf(l), h[m]) THEN Clean(h, l)
    ELSE LET b == Branches(h[m])[Word(l)] IN
         IF ~IsLast(l) /\ b.kid # 0 THEN Out(h, [l EXCEPT !.path = Append(@, b.kid)])
         ELSE IF l.op.op = "subscribe"
              THEN IF IsLast(l) /\ l.op.who \in b.subs THEN Return(h, 0)
                   ELSE Goto(h, [l EXCEPT !.m = m], "SubscribeCas")
         ELSE IF ~IsLast(l) \/ l.op.who \notin b.subs THEN Return(h, 0)
              ELSE Goto(h, [l EXCEPT !.m = m], "UnsubscribeCas")

(********************************** lookup *********************************)
\* Everything has been read.
Collected(h, l) == Goto(h, [l EXCEPT !.seen = ToValidate(@), !.j = 1], "ValidateMain")
\* I-node i at level k of the topic has main node m.
Collecting(h, l, i, k, m) ==
    LET n      == h[m]
        ws     == <<l.op.topic[k], Star>>
        kid(w) == IF w \notin Words \/ IsTomb(i, n) THEN <<>>
                  ELSE IF Branches(n)[w].kid = 0 \/ k = Len(l.op.topic) THEN <<>>
                  ELSE <<<<Branches(n)[w].kid, k + 1>>>>
        sub(w) == IF w \notin Words \/ IsTomb(i, n) THEN {}
                  ELSE IF k = Len(l.op.topic) THEN Branches(n)[w].subs ELSE {}
        l1     == [l EXCEPT !.todo = kid(ws[1]) \o kid(ws[2]) \o Tail(@), !.seen = Append(@, <<i, m>>),
                            !.acc = @ \cup sub(ws[1]) \cup sub(ws[2])]
    IN  IF l1.todo = <<>> THEN Collected(h, l1) ELSE Out(h, l1)
Failed(h, l) ==
    IF Tries > 0 /\ l.fails + 1 = Tries THEN Out(h, [Idle EXCEPT !.pc = "Fallback", !.op = l.op])
    ELSE Out(h, [Begin(l.op) EXCEPT !.fails = IF Tries = 0 THEN 0 ELSE l.fails + 1])

(********************************* Actions *********************************)
Kept(l) == ({l.m} \cup {l.path[k] : k \in 1..Len(l.path)} \cup {l.todo[k][1] : k \in 1..Len(l.todo)}
            \cup {l.seen[k][1] : k \in 1..Len(l.seen)} \cup {l.seen[k][2] : k \in 1..Len(l.seen)}) \ {0}
After(p, o) == /\ L' = [L EXCEPT ![p] = o.l]
               /\ mem' = Collect(o.h, UNION {Kept(L'[q]) : q \in Procs})
Apply(p, o) == /\ After(p, o)
               /\ M' = IF o.ret THEN Returned(M, p, o.v) ELSE M
               /\ UNCHANGED at
At(p, pc) == L[p].pc = pc

\* Read main of the present I-node.
ReadMain(p) == LET l == L[p] IN At(p, "ReadMain") /\ Apply(p, AtMain(mem, l, Main(mem, INodeOf(l))))
\* CAS main: to a copy with the subscriber.
SubscribeCas(p) == LET l == L[p]  i == INodeOf(l)  w == Word(l)  br == Branches(mem[l.m]) IN At(p, "SubscribeCas") /\
    Apply(p, IF Main(mem, i) # l.m THEN Restart(mem, l)
             ELSE IF IsLast(l) THEN Return(Install(mem, i, CNode([br EXCEPT ![w].subs = @ \cup {l.op.who}])), 0)
             ELSE LET c == Chain(mem, l.op.topic, Level(l) + 1, l.op.who)
                  IN  Return(Install(c.h, i, CNode([br EXCEPT ![w].kid = c.i])), 0))
\* CAS main: to a copy without the subscriber, or to a tomb.  j = 1: the operation is done but for cleaning up.
UnsubscribeCas(p) == LET l == L[p]  i == INodeOf(l)
                         n == Contracted(i, [Branches(mem[l.m]) EXCEPT ![Word(l)].subs = @ \ {l.op.who}])
                     IN  At(p, "UnsubscribeCas") /\
    Apply(p, IF Main(mem, i) # l.m THEN Restart(mem, l)
             ELSE LET h == Install(mem, i, n)
                  IN  IF IsTomb(i, n) THEN Clean(h, [l EXCEPT !.j = 1]) ELSE Return(h, 0))
\* Read main of the parent of a tomb.
CleanMain(p) == LET l == L[p]  i == ParentOf(l)  m == Main(mem, i)  w == l.op.topic[Level(l) - 1]
                IN  At(p, "CleanMain") /\
    Apply(p, IF IsTomb(i, mem[m]) THEN CleanUp(mem, l)
             ELSE IF Branches(mem[m])[w].kid # INodeOf(l) THEN Cleaned(mem, l)
             ELSE Goto(mem, [l EXCEPT !.m = m], "CleanCas"))
\* CAS main of the parent: to a copy in which the tomb is detached, or to a tomb.
CleanCas(p) == LET l == L[p]  i == ParentOf(l)  w == l.op.topic[Level(l) - 1]
                   n == Contracted(i, [Branches(mem[l.m]) EXCEPT ![w] = Detached(@)])
                   h == Install(mem, i, n)
               IN  At(p, "CleanCas") /\
    Apply(p, IF ~StillThere(mem, i, l.m) THEN CleanFailed(mem, l)
             ELSE IF IsTomb(i, n) THEN CleanUp(h, l) ELSE Cleaned(h, l))
\* Lookup: read main of the next I-node.
CollectMain(p) == LET l == L[p]  i == Head(l.todo)[1] IN At(p, "CollectMain") /\
    Apply(p, Collecting(mem, l, i, Head(l.todo)[2], Main(mem, i)))
\* Read main of one I-node once more.
ValidateMain(p) == LET l == L[p]  x == l.seen[l.j] IN At(p, "ValidateMain") /\
    Apply(p, IF ~Unchanged(mem, x[1], x[2]) THEN Failed(mem, l)
             ELSE IF l.j = Len(l.seen) THEN Return(mem, l.acc)
             ELSE Out(mem, [l EXCEPT !.j = @ + 1]))
\* Take a snapshot and look it up there.
Fallback(p) == LET l == L[p] IN At(p, "Fallback") /\ Apply(p, Return(mem, SeqAnswer(l.op, Contents(mem))))

(* Invocation, with the first read of main of the root. *)
Invoke(p) ==
    /\ At(p, "idle") /\ at[p] <= Len(Program[p])
    /\ \E op \in Program[p][at[p]] :
         LET l == Begin(op)
             m == Main(mem, Root)
             o == IF op.op = "lookup" THEN Collecting(mem, l, Root, 1, m) ELSE AtMain(mem, l, m)
             N == Close(M, [L EXCEPT ![p].op = op])
         IN  /\ After(p, o)
             /\ M' = IF o.ret THEN Returned(N, p, o.v) ELSE N
    /\ at' = [at EXCEPT ![p] = IF Forever /\ @ = Len(Program[p]) THEN 1 ELSE @ + 1]

Step(p) == \/ ReadMain(p) \/ SubscribeCas(p) \/ UnsubscribeCas(p) \/ CleanMain(p) \/ CleanCas(p)
           \/ CollectMain(p) \/ ValidateMain(p) \/ Fallback(p)

Quiet == \A p \in Procs : L[p].pc = "idle"
Terminating == Quiet /\ (\A p \in Procs : at[p] > Len(Program[p])) /\ UNCHANGED vars

Init == /\ mem = BuildTrie(Initially)
        /\ L = [p \in Procs |-> Idle]
        /\ at = [p \in Procs |-> 1]
        /\ M = {[s |-> Initially, r |-> [p \in Procs |-> <<>>]]}
Next == (\E p \in Procs : Invoke(p) \/ Step(p)) \/ Terminating
Spec == Init /\ [][Next]_vars

\* The state with canonical names.
Pairs(s) == LET r[k \in 0..Len(s)] == IF k = 0 THEN <<>> ELSE r[k - 1] \o s[k] IN r[Len(s)]
RegSeq(l) == l.path \o <<l.m>> \o [k \in 1..Len(l.todo) |-> l.todo[k][1]] \o Pairs(l.seen)
RECURSIVE AllRegs(_)
AllRegs(ps) == IF ps = {} THEN <<>> ELSE LET p == CHOOSE p \in ps : TRUE IN RegSeq(L[p]) \o AllRegs(ps \ {p})
NameRegs(f, l) == [l EXCEPT !.path = TLCEval([k \in 1..Len(@) |-> f[@[k]]]), !.m = f[@],
                            !.todo = TLCEval([k \in 1..Len(@) |-> <<f[@[k][1]], @[k][2]>>]),
                            !.seen = TLCEval([k \in 1..Len(@) |-> <<f[@[k][1]], f[@[k][2]]>>])]
Canonical == LET seq == Walk(mem, MeetAll(<<Root>>, AllRegs(Procs)), 1)
                 f   == Names(mem, seq)
             IN  <<NameHeap(mem, seq, f), TLCEval([p \in Procs |-> NameRegs(f, L[p])]), at, M>>

(******************************* Properties ********************************)
Linearizable == M # {}
INodes     == {i \in 1..Len(mem) : mem[i].t = "I"}
Reachable  == Reach(mem, {Root}, {Root})
\* No process follows a null pointer.
NeverNull == \A p \in Procs : \A k \in 1..Len(L[p].path) : L[p].path[k] # 0
\* The root is never a tomb.
RootIsCNode == mem[Main(mem, Root)].t = "C"
\* What is not in the trie any more is a tomb: nothing can be inserted where nobody will find it.
OnlyTombsLeave == \A i \in INodes : mem[Main(mem, i)].t = "C" => i \in Reachable
\* When nobody is at work: the trie holds what explains the history; no tomb, no empty C-node below the root.
QuiescentAgree == Quiet => \E c \in M : c.s = Contents(mem)
NoTombLeft     == Quiet => \A i \in INodes \cap Reachable : mem[Main(mem, i)].t = "C"
NoEmptyCNode   == Quiet => \A i \in (INodes \cap Reachable) \ {Root} :
                               LET n == mem[Main(mem, i)] IN n.t = "C" => ~IsEmpty(Branches(n))

\* Some operation returns again and again, as long as steps are taken.
\* (An operation that begins and returns in one step leaves all registers as they were.)
Answered == L' = L \/ \E p \in Procs : L[p].pc # "idle" /\ L'[p].pc = "idle"
LockFree == []<><<TRUE>>_vars => []<><<Answered>>_vars
\* A lookup that goes on taking steps returns, whatever the others do.  It needs the snapshot.
LookupWaitFree == \A p \in Procs : []<><<L'[p] # L[p] /\ L[p].op.op = "lookup">>_vars => []<>(L[p].op.op # "lookup")

\* A state in a few words (latchfree spec --alias).
Alias == [next      |-> [p \in Procs |-> <<L[p].op.op, L[p].pc>>],
          trie      |-> Contents(mem),
          explained |-> Cardinality(M)]
=============================================================================
