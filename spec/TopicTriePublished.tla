------------------------- MODULE TopicTriePublished -------------------------
(***************************************************************************)
(* The concurrent subscription trie as it was published (Treat, "Fast      *)
(* Topic Matching", 2016, and the Go code that goes with it), at one       *)
(* shared-memory access per step.  It has bugs, which TLC finds here.      *)
(*                                                                         *)
(* A subscription trie with the I-nodes of a Ctrie: an update copies one   *)
(* C-node and installs the copy by a CAS on INode.main.  A C-node that has *)
(* become empty, not at the root, is replaced by a tomb.  Whoever made or  *)
(* meets a tomb prunes it from the C-node above.  A lookup goes down the   *)
(* branch of the word and then that of the wildcard.                       *)
(*                                                                         *)
(* Known bugs:                                                             *)
(*  C1  contraction reads main once more before its CAS (ContractReread),  *)
(*      and detaches an empty I-node that has no tomb (DetachCas);         *)
(*  C2  a tomb under a branch that has subscribers is never pruned;        *)
(*  C3  a lookup reads the two branches at different times;                *)
(*  C4  a failed contraction tries again with the I-nodes mixed up.        *)
(***************************************************************************)
EXTENDS TopicHeap
INSTANCE Linearizability WITH Outcomes <- TopicOutcomes

CONSTANTS Program,   \* process -> sequence of menus (sets of operations), one for each operation in turn
          Forever,   \* TRUE: a program that has ended begins again, so operations are unbounded
          Initially  \* the subscriptions at the start
Procs == DOMAIN Program

VARIABLES mem,   \* the memory (module TopicHeap)
          L,     \* the registers of each process
          at,    \* at[p]: the index of the menu of p's next operation
          M      \* the linearizability tracker
vars == <<mem, L, at, M>>

(******************************** Registers ********************************)
Idle == [pc   |-> "idle",
         op   |-> NoOp,
         path |-> <<>>,   \* the I-nodes from the root to the present one
         m    |-> 0,      \* the main node that is being copied,
         e    |-> 0,      \*   and the one that the CAS expects
         cut  |-> {},     \* compressing: the words found to be prunable,
         look |-> {},     \*   those not looked at yet,
         ret  |-> "",     \*   and what to do then
         trio |-> <<>>,   \* cleanParent: I-node, parent, parent's parent (0: none)
         todo |-> <<>>,   \* lookup: the paths still to follow,
         acc  |-> {}]     \*   and the subscribers found
INodeOf(l)  == l.path[Len(l.path)]
ParentOf(l) == IF Len(l.path) < 2 THEN 0 ELSE l.path[Len(l.path) - 1]
GrandOf(l)  == IF Len(l.path) < 3 THEN 0 ELSE l.path[Len(l.path) - 2]
Level(l)    == Len(l.path)
Word(l)     == l.op.topic[Level(l)]
IsLast(l)   == Level(l) = Len(l.op.topic)

\* A step yields the new memory, the new registers, and whether the operation returns, with which answer.
Out(h, l)      == [h |-> h, l |-> l, ret |-> FALSE, v |-> 0]
Goto(h, l, pc) == Out(h, [l EXCEPT !.pc = pc])
Return(h, v)   == [h |-> h, l |-> Idle, ret |-> TRUE, v |-> v]
Begin(op)      == [Idle EXCEPT !.pc = "ReadMain", !.op = op, !.path = <<Root>>]
Restart(h, l)  == Out(h, Begin(l.op))
Crash(h, l)    == Out(h, [Idle EXCEPT !.pc = "crash", !.op = l.op])      \* a null pointer is dereferenced

(******************************** Copies ***********************************)
\* A C-node without branches is a tomb, except at the root.
Contracted(i, br) == IF i # Root /\ IsEmpty(br) THEN TNode ELSE CNode(br)
\* Without the prunable branches.  A branch without subscribers and I-node does not count anyway.
Compressed(br, cut) == TLCEval([w \in Words |-> IF w \in cut THEN NoBranch ELSE br[w]])
\* To find out which are prunable one must read what is below the branches without subscribers.
Doubtful(br) == {w \in Words : br[w].subs = {} /\ br[w].kid # 0}
Without(br, i) == TLCEval([w \in Words |-> IF br[w].kid = i THEN [br[w] EXCEPT !.kid = 0] ELSE br[w]])
\* The branches have been looked at.
Looked(h, l0, ret) == LET l == [l0 EXCEPT !.look = {}, !.ret = ""] IN
    CASE ret = "clean"  -> Goto(h, l, "CleanCas")
      [] ret = "parent" -> IF IsEmpty(Compressed(Branches(h[l.m]), l.cut)) /\ l.trio[3] # 0
                           THEN Goto(h, [l EXCEPT !.m = 0, !.cut = {}], "DetachRead")
                           ELSE Goto(h, l, "ContractReread")
      [] ret = "detach" -> Goto(h, l, "DetachCas")
Compress(h, l, br, ret) == LET D == Doubtful(br) IN
    IF D = {} THEN Looked(h, [l EXCEPT !.cut = {}], ret)
    ELSE Goto(h, [l EXCEPT !.cut = {}, !.look = D, !.ret = ret], "CompressRead")

\* The copy for a subscribe or an unsubscribe: [h, n].
Updated(h, l) ==
    LET br == Branches(h[l.m])  w == Word(l)  b == br[w] IN
    CASE l.op.op = "subscribe" /\ IsLast(l)  -> [h |-> h, n |-> CNode([br EXCEPT ![w].subs = @ \cup {l.op.who}])]
      [] l.op.op = "subscribe" /\ ~IsLast(l) ->
           LET c == Chain(h, l.op.topic, Level(l) + 1, l.op.who)
           IN  [h |-> c.h, n |-> CNode([br EXCEPT ![w].kid = c.i])]
      [] l.op.op = "unsubscribe" ->
           [h |-> h, n |-> Contracted(INodeOf(l), [br EXCEPT ![w].subs = @ \ {l.op.who}])]
Install(h, i, n) == [Put(h, n) EXCEPT ![i].main = Fresh(h)]

(**************************** Walking down *********************************)
\* Lookup: follow the next path, or answer.
Follow(h, l) == IF l.todo = <<>> THEN Return(h, l.acc)
                ELSE Out(h, [l EXCEPT !.path = Head(l.todo), !.todo = Tail(@)])
Collecting(h, l, br) ==
    LET kid(w) == IF w \notin Words THEN <<>> ELSE IF br[w].kid = 0 THEN <<>> ELSE <<Append(l.path, br[w].kid)>>
        sub(w) == IF w \notin Words THEN {} ELSE br[w].subs
    IN  Follow(h, IF IsLast(l) THEN [l EXCEPT !.acc = @ \cup sub(Word(l)) \cup sub(Star)]
                  ELSE [l EXCEPT !.todo = kid(Word(l)) \o kid(Star) \o @])
\* The operation has arrived at the present I-node, whose main node is m.
AtMain(h, l, m) ==
    IF h[m].t = "T" THEN Goto(h, [l EXCEPT !.trio = <<ParentOf(l)>>], "CleanRead")
    ELSE LET br == Branches(h[m])  b == br[Word(l)] IN
         IF l.op.op = "lookup" THEN Collecting(h, l, br)
         ELSE IF ~IsLast(l) /\ b.kid # 0 THEN Out(h, [l EXCEPT !.path = Append(@, b.kid)])
         ELSE IF l.op.op = "subscribe"
              THEN IF IsLast(l) /\ l.op.who \in b.subs THEN Return(h, 0)
                   ELSE Goto(h, [l EXCEPT !.m = m, !.e = m], "UpdateCas")
         ELSE IF ~IsLast(l) \/ l.op.who \notin b.subs THEN Return(h, 0)
              ELSE Goto(h, [l EXCEPT !.m = m, !.e = m], "UpdateCas")

(******************************** Actions **********************************)
Kept(l) == ({l.m, l.e} \cup {l.path[k] : k \in 1..Len(l.path)} \cup {l.trio[k] : k \in 1..Len(l.trio)}
            \cup UNION {{l.todo[k][j] : j \in 1..Len(l.todo[k])} : k \in 1..Len(l.todo)}) \ {0}
After(p, o) == /\ L' = [L EXCEPT ![p] = o.l]
               /\ mem' = Collect(o.h, UNION {Kept(L'[q]) : q \in Procs})
Apply(p, o) == /\ After(p, o)
               /\ M' = IF o.ret THEN Returned(M, p, o.v) ELSE M
               /\ UNCHANGED at
At(p, pc) == L[p].pc = pc

\* Read main of the present I-node.
ReadMain(p) == LET l == L[p] IN At(p, "ReadMain") /\ Apply(p, AtMain(mem, l, Main(mem, INodeOf(l))))
\* CAS main: to the copy.
UpdateCas(p) == LET l == L[p]  i == INodeOf(l) IN At(p, "UpdateCas") /\
    Apply(p, IF Main(mem, i) # l.e THEN Restart(mem, l)
             ELSE LET c == Updated(mem, l)  h == Install(c.h, i, c.n)
                  IN  IF l.op.op = "unsubscribe" /\ i # Root THEN Goto(h, [l EXCEPT !.m = 0, !.e = 0], "ReadAgain")
                      ELSE Return(h, 0))
\* Read main once more after an unsubscribe.
ReadAgain(p) == LET l == L[p] IN At(p, "ReadAgain") /\
    Apply(p, IF mem[Main(mem, INodeOf(l))].t = "T"
             THEN Goto(mem, [l EXCEPT !.trio = <<INodeOf(l), ParentOf(l), GrandOf(l)>>], "CleanParentRead")
             ELSE Return(mem, 0))

(* clean: another's tomb was met *)
\* Read main of the parent.
CleanRead(p) == LET l == L[p]  m == Main(mem, l.trio[1]) IN At(p, "CleanRead") /\
    Apply(p, IF mem[m].t = "T" THEN Restart(mem, l)
             ELSE Compress(mem, [l EXCEPT !.m = m, !.e = m], Branches(mem[m]), "clean"))
\* Read main of one I-node below a branch without subscribers: a tomb?
CompressRead(p) == LET l == L[p]
                       w == CHOOSE w \in l.look : TRUE
                       l1 == [l EXCEPT !.look = @ \ {w},
                                       !.cut = IF mem[Main(mem, Branches(mem[l.m])[w].kid)].t = "T"
                                               THEN @ \cup {w} ELSE @]
                   IN  At(p, "CompressRead") /\
    Apply(p, IF l1.look = {} THEN Looked(mem, l1, l.ret) ELSE Out(mem, l1))
\* CAS main of the parent: to the compressed copy.  Then start again in any case.
CleanCas(p) == LET l == L[p]  i == l.trio[1] IN At(p, "CleanCas") /\
    Apply(p, Restart(IF Main(mem, i) # l.e THEN mem
                     ELSE Install(mem, i, CNode(Compressed(Branches(mem[l.m]), l.cut))), l))

(* cleanParent, contract: the own tomb *)
\* Read main of the I-node.
CleanParentRead(p) == LET l == L[p] IN At(p, "CleanParentRead") /\
    Apply(p, IF l.trio[1] = 0 THEN Crash(mem, l)
             ELSE Goto(mem, [l EXCEPT !.m = Main(mem, l.trio[1])], "CleanParentReadParent"))
\* Read main of its parent.
CleanParentReadParent(p) == LET l == L[p]  m == Main(mem, l.trio[2])
                                w == l.op.topic[Len(l.op.topic) - 1] IN At(p, "CleanParentReadParent") /\
    Apply(p, IF mem[m].t = "T" THEN Return(mem, 0)
             ELSE IF Branches(mem[m])[w].kid # l.trio[1] \/ mem[l.m].t # "T" THEN Return(mem, 0)
             ELSE Compress(mem, [l EXCEPT !.m = m], Branches(mem[m]), "parent"))
\* The CAS has failed: the next attempt, with the first and the last I-node exchanged.
Again(h, l) == Out(h, [l EXCEPT !.pc = "CleanParentRead", !.m = 0, !.e = 0, !.cut = {},
                                !.trio = <<@[3], @[2], @[1]>>])
\* Read main of the parent once more; this is what the CAS will expect.
ContractReread(p) == LET l == L[p] IN At(p, "ContractReread") /\
    Apply(p, Goto(mem, [l EXCEPT !.e = Main(mem, l.trio[2])], "ContractCas"))
\* CAS main of the parent: to the compressed copy.
ContractCas(p) == LET l == L[p]  i == l.trio[2] IN At(p, "ContractCas") /\
    Apply(p, IF Main(mem, i) # l.e THEN Again(mem, l)
             ELSE Return(Install(mem, i, Contracted(i, Compressed(Branches(mem[l.m]), l.cut))), 0))
\* The parent has become empty.  Read main of its parent, to detach it there.
DetachRead(p) == LET l == L[p]  m == Main(mem, l.trio[3]) IN At(p, "DetachRead") /\
    Apply(p, IF mem[m].t = "T" THEN Crash(mem, l)
             ELSE IF \A w \in Words : Branches(mem[m])[w].kid # l.trio[2] THEN Return(mem, 0)
             ELSE Compress(mem, [l EXCEPT !.m = m, !.e = m], Without(Branches(mem[m]), l.trio[2]), "detach"))
\* CAS main of the parent's parent: to a copy without the parent.
DetachCas(p) == LET l == L[p]  i == l.trio[3] IN At(p, "DetachCas") /\
    Apply(p, IF Main(mem, i) = l.e
             THEN Return(Install(mem, i, CNode(Compressed(Without(Branches(mem[l.m]), l.trio[2]), l.cut))), 0)
             ELSE Again(mem, l))

(* Invocation, with the first read of main of the root. *)
Invoke(p) ==
    /\ At(p, "idle") /\ at[p] <= Len(Program[p])
    /\ \E op \in Program[p][at[p]] :
         LET o == AtMain(mem, Begin(op), Main(mem, Root))
             N == Close(M, [L EXCEPT ![p].op = op])
         IN  /\ After(p, o)
             /\ M' = IF o.ret THEN Returned(N, p, o.v) ELSE N
    /\ at' = [at EXCEPT ![p] = IF Forever /\ @ = Len(Program[p]) THEN 1 ELSE @ + 1]

Step(p) == \/ ReadMain(p) \/ UpdateCas(p) \/ ReadAgain(p)
           \/ CleanRead(p) \/ CompressRead(p) \/ CleanCas(p)
           \/ CleanParentRead(p) \/ CleanParentReadParent(p)
           \/ ContractReread(p) \/ ContractCas(p) \/ DetachRead(p) \/ DetachCas(p)

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
RegSeq(l) == l.path \o <<l.m, l.e>> \o l.trio \o Pairs(l.todo)
RECURSIVE AllRegs(_)
AllRegs(ps) == IF ps = {} THEN <<>> ELSE LET p == CHOOSE p \in ps : TRUE IN RegSeq(L[p]) \o AllRegs(ps \ {p})
NameSeq(f, s) == TLCEval([k \in 1..Len(s) |-> f[s[k]]])
NameRegs(f, l) == [l EXCEPT !.path = NameSeq(f, @), !.m = f[@], !.e = f[@], !.trio = NameSeq(f, @),
                            !.todo = TLCEval([k \in 1..Len(@) |-> NameSeq(f, @[k])])]
Canonical == LET seq == Walk(mem, MeetAll(<<Root>>, AllRegs(Procs)), 1)
                 f   == Names(mem, seq)
             IN  <<NameHeap(mem, seq, f), TLCEval([p \in Procs |-> NameRegs(f, L[p])]), at, M>>

(******************************* Properties ********************************)
Linearizable == M # {}
NoCrash == \A p \in Procs : L[p].pc # "crash"
\* Some operation returns again and again, as long as steps are taken.
\* (An operation that begins and returns in one step leaves all registers as they were.)
Answered == L' = L \/ \E p \in Procs : L[p].pc # "idle" /\ L'[p].pc = "idle"
LockFree == []<><<TRUE>>_vars => []<><<Answered>>_vars

\* A state in a few words (latchfree spec --alias).
Alias == [next      |-> [p \in Procs |-> <<L[p].op.op, L[p].pc>>],
          trie      |-> Contents(mem),
          explained |-> Cardinality(M)]
=============================================================================
