------------------------------- MODULE Ctrie --------------------------------
(***************************************************************************)
(* The concurrent hash trie with O(1) snapshots (Prokopec, Bronson,        *)
(* Bagwell, Odersky, "Concurrent Tries with Efficient Non-Blocking         *)
(* Snapshots", PPoPP 2012), corrected, at one shared-memory access per     *)
(* step.                                                                   *)
(*                                                                         *)
(* An update copies one main node and installs the copy by GCAS (module    *)
(* Gcas), a CAS on INode.main that takes effect only if the generation of  *)
(* the root is still the generation of that I-node.  A snapshot moves the  *)
(* root to a new generation by RDCSS (module Rdcss) and so cuts off every  *)
(* update of the old generation.  Shared mutable state: root, INode.main, prev of a main     *)
(* node, status of a descriptor; the walk down, the copying and all        *)
(* decisions in between are local and belong to the preceding access.      *)
(*                                                                         *)
(* Two corrections to the paper and its published implementations:         *)
(*  - a renewed C-node copies no child of the present generation           *)
(*    (otherwise a completed put below such a child is lost);              *)
(*  - a descriptor is decided by a CAS on its own status before the root   *)
(*    moves (otherwise an RDCSS can be applied twice).                     *)
(*                                                                         *)
(* Each action is named after its access, and pc holds the name of the     *)
(* action that comes next.  An invocation is fused with the operation's    *)
(* first access and a response with its last; this gives the tightest,     *)
(* hence hardest, histories and loses none.                                *)
(***************************************************************************)
EXTENDS Gcas, SequentialMap
INSTANCE Linearizability WITH Outcomes <- MapOutcomes

CONSTANTS Program,    \* process -> sequence of menus (sets of operations), one for each operation in turn
          Forever,    \* TRUE: a program that has ended begins again, so operations are unbounded
          InitialMem  \* the trie at the start, as made by BuildTrie

Procs == DOMAIN Program
ProcSeq == CHOOSE f \in [1..Cardinality(Procs) -> Procs] : \A a, b \in DOMAIN f : f[a] = f[b] => a = b
\* A function on Procs with every value v; made from Program, so that TLC stores it as a record (faster).
ForEach(v) == LET r[k \in 0..Len(ProcSeq)] == IF k = 0 THEN Program ELSE [r[k - 1] EXCEPT ![ProcSeq[k]] = v]
              IN  r[Len(ProcSeq)]

VARIABLES mem,   \* the memory (module Heap)
          L,     \* the registers of each process
          at,    \* at[p]: the index of the menu of p's next operation
          M      \* the linearizability tracker
vars == <<mem, L, at, M>>

(******************************** Registers ********************************)
Registers ==
        [pc   |-> "idle",
         op   |-> NoOp,   \* the operation
         path |-> <<>>,   \* the I-nodes from the root to the present one (0 where no longer needed)
         sg   |-> 0,      \* startgen: generation of the root this attempt began at
         res  |-> 0,      \* the answer, if the update succeeds
         gi   |-> 0,      \* GCAS and GCAS_READ: the I-node,
         gm   |-> 0,      \*   the main node read,
         gp   |-> 0,      \*   its prev,
         n    |-> 0,      \*   the new main node to be installed
         ret  |-> "",     \* what to do with the main node that GCAS_READ returns
         gret |-> "",     \* what to do when GCAS returns
         rret |-> "",     \* what to do when the root has been read
         rd   |-> 0,      \* RDCSS: the descriptor to complete
         want |-> "",     \*   and the decision proposed for it
         ad   |-> 0,      \* the descriptor to abort
         src  |-> 0,      \* copying a C-node child by child: the C-node,
         acc  |-> <<>>,   \*   the new slots,
         j    |-> 0,      \*   the slot whose child is being read
         t    |-> <<>>,   \* contraction: the S-node of the tomb found on the way up
         todo |-> <<>>,   \* reading a snapshot: the I-nodes still to visit
         seen |-> <<>>,   \*   and the contents found
         held |-> 0]      \*   the snapshot: a root I-node that nobody may change any more

Idle == Registers
INodeOf(l)  == l.path[Len(l.path)]
ParentOf(l) == l.path[Len(l.path) - 1]
Level(l)    == Len(l.path) - 1
\* Remove climbs back up to the root, the others at most one level.
Push(l, i)  == IF Removes(l.op) THEN Append(l.path, i)
               ELSE Append([k \in 1..Len(l.path) |-> IF k = Len(l.path) THEN l.path[k] ELSE 0], i)

(********************************* Outcomes ********************************)
Return(h, v)    == Hand(h, Idle, "return", v)
Restart(h, l)   == Out(h, [Idle EXCEPT !.pc = "RdcssRead", !.op = l.op,
                                !.rret = IF Swaps(l.op) THEN "swap" ELSE "descend"])

(******************************* Subroutines *******************************)
\* The result of GCAS_READ goes to GotMain, which continues as ret says.
\* GCAS(i, n.prev, n) of a new main node n; the result goes to GcasReturned, which continues as gret says.
Prepared(h, l) == l      \* MCRetirement notes what was made, and what is to be replaced
CallGcas(h, l, i, n, gret) ==
    Out(Alloc(h, n), Prepared(Alloc(h, n), [l EXCEPT !.pc = "GcasCas", !.gi = i, !.n = Fresh(h), !.gret = gret,
                               !.src = 0, !.acc = <<>>, !.j = 0,
                               !.path = IF gret \in {"put", "clean"} THEN <<>> ELSE @,
                               !.sg   = IF gret \in {"put", "clean"} THEN 0 ELSE @]))

(******************** Contraction and copying of C-nodes *******************)
\* Below the root a C-node with a single S-node and no child becomes a tomb, which no one can change:
\* the way to move the S-node up into the parent without losing an insert here.
Contracted(slots, lev, prev) ==
    LET S == {b \in 1..2 : ~IsEmpty(slots[b])} IN
    IF lev > 0 /\ Cardinality(S) = 1 /\ \A b \in S : IsSNode(slots[b])
    THEN TNode(slots[CHOOSE b \in S : TRUE], prev)
    ELSE CNode(slots, prev)
\* Is this main node to be replaced by its S-node in the parent, and by which?
IsTomb(n)   == n.t = "T"
Entombed(n) == n.snode
\* A cleaned C-node.
Compressed(slots, lev, prev) == Contracted(slots, lev, prev)
\* The slots of a copy of C-node m refer to the same I-nodes: what happens below them is not copied.
Shared(h, m, slots) == [h |-> h, slots |-> slots]
\* Renewal copies the child I-node that the update goes to, which is of an older generation, and no other.
Renews(l, b) == b = SlotOf(l.op.key, Level(l))

\* Make a copy of C-node l.src whose children have been read one after the other (GCAS_READ):
\* mode "renew": the child that the update goes to becomes an I-node of this generation;
\* mode "compress": children with a tomb become its S-node (the parent of the present I-node is copied);
\* where there is no tomb any more, nothing is to be installed.
Copied(h, l, mode) ==
    IF mode = "renew" THEN CallGcas(h, l, INodeOf(l), CNode(l.acc, l.src), "renew")
    ELSE IF l.acc = h.node[l.src].slot THEN Restart(h, l)
    ELSE CallGcas(h, l, ParentOf(l), Compressed(l.acc, Level(l) - 1, l.src), "clean")
Copy(h, l, mode) ==      \* go on after slot l.j
    LET s == h.node[l.src].slot
        B == {b \in (l.j + 1)..2 : IsLink(s[b]) /\ (mode = "compress" \/ Renews(l, b))}
    IN  IF B = {} THEN Copied(h, l, mode)
        ELSE LET b == CHOOSE b \in B : \A c \in B : b <= c
             IN  CallGcasRead(h, [l EXCEPT !.j = b], Target(s[b]), mode)
StartCopy(h, l, m, mode) == Copy(h, [l EXCEPT !.src = m, !.acc = h.node[m].slot, !.j = 0], mode)
CopyChild(h, l, m, mode) ==      \* the child in slot l.j has main node m
    IF mode = "renew" THEN Copy(Alloc(h, INode(m, l.sg)), [l EXCEPT !.acc[l.j] = Link(Fresh(h))], mode)
    ELSE IF IsTomb(h.node[m]) THEN Copy(h, [l EXCEPT !.acc[l.j] = Entombed(h.node[m])], mode)
    ELSE Copy(h, l, mode)

(************************* lookup, put and remove **************************)
\* What an update will answer, if it succeeds: the value that it replaces.
Replaces(l, old) == [l EXCEPT !.res = old]
\* m is the main node of the present I-node, a C-node, and its slot for the key holds no link.
AtSlot(h, l, m) ==
    LET k == l.op.key  lev == Level(l)  i == INodeOf(l)  b == SlotOf(k, lev)
        s == h.node[m].slot[b]
        found == IsSNode(s) /\ KeyOf(s) = k
        old   == IF found THEN ValOf(s) ELSE Absent
        put(hh, slots) == LET c == Shared(hh, m, slots)
                          IN  CallGcas(c.h, Replaces(l, old), i, CNode(c.slots, m), "put")
    IN  IF Leaves(l.op, old) THEN Return(h, Answer(l.op, old))
        ELSE IF Puts(l.op) THEN
             LET new == SNode(k, NewValue(l.op)) IN
             IF found \/ IsEmpty(s) THEN put(h, [h.node[m].slot EXCEPT ![b] = new])
             ELSE LET d == BuildSlot(h, {s, new}, lev + 1, Gen(h, i))
                  IN  put(d.h, [h.node[m].slot EXCEPT ![b] = d.s])
        ELSE LET c == Shared(h, m, [h.node[m].slot EXCEPT ![b] = Empty])
             IN  CallGcas(c.h, Replaces(l, old), i, Contracted(c.slots, lev, m), "remove")
\* m is an L-node, which holds all keys that agree with this one in every hash bit.
EntryOf(E, k) == {s \in E : KeyOf(s) = k}      \* none or one
WithEntry(E, k, v) == (E \ EntryOf(E, k)) \cup {SNode(k, v)}
AtLNode(h, l, m) ==
    LET k == l.op.key  i == INodeOf(l)  E == h.node[m].entries
        rest == E \ EntryOf(E, k)
        old  == IF rest = E THEN Absent ELSE ValOf(CHOOSE s \in EntryOf(E, k) : TRUE)
    IN  IF Leaves(l.op, old) THEN Return(h, Answer(l.op, old))
        ELSE IF Puts(l.op) THEN
             CallGcas(h, Replaces(l, old), i, LNode(WithEntry(E, k, NewValue(l.op)), m), "put")
        ELSE LET n == IF Cardinality(rest) = 1 THEN TNode(CHOOSE s \in rest : TRUE, m)
                      ELSE LNode(rest, m)
             IN  CallGcas(h, Replaces(l, old), i, n, "remove")
\* Who meets a tomb helps to remove it; but in a child of an older generation nothing can be removed.
Cleans(h, l) == Gen(h, INodeOf(l)) = l.sg
\* The operation has arrived at the present I-node, whose main node is m.  A lookup goes on in a child of an older
\* generation, whose contents cannot change any more; an update renews the child first.
AtMain(h, l, m) ==
    LET n == h.node[m] IN
    CASE n.t = "C" ->
           LET s == n.slot[SlotOf(l.op.key, Level(l))] IN
           IF ~IsLink(s) THEN AtSlot(h, l, m)
           ELSE IF Gen(h, Target(s)) = l.sg \/ Reads(l.op)
                THEN CallGcasRead(h, [l EXCEPT !.path = Push(l, Target(s))], Target(s), "at")
           ELSE StartCopy(h, l, m, "renew")
      [] n.t = "T" -> IF Cleans(h, l)
                      THEN CallGcasRead(h, l, ParentOf(l), "clean")     \* help to remove the tomb, then restart
                      ELSE Return(h, IF KeyOf(n.snode) = l.op.key THEN ValOf(n.snode) ELSE Absent)
      [] n.t = "L" -> AtLNode(h, l, m)

(************** After a remove: contraction on the way up ******************)
\* The key is removed and the present I-node may have become a tomb.
Climb(h, l) == IF Len(l.path) = 1 THEN Return(h, l.res) ELSE CallGcasRead(h, l, INodeOf(l), "up")
Ascend(h, l) == Climb(h, [l EXCEPT !.path = SubSeq(@, 1, Len(@) - 1), !.t = <<>>])
\* The present I-node is a tomb with S-node l.t, and m is the main node of its parent.
CleanParent(h, l, m) ==
    LET lev == Level(l) - 1  b == SlotOf(l.op.key, lev)  n == h.node[m] IN
    IF n.t = "C" /\ n.slot[b] = Link(INodeOf(l))
    THEN LET c == Shared(h, m, [n.slot EXCEPT ![b] = l.t])
         IN  CallGcas(c.h, l, ParentOf(l), Contracted(c.slots, lev, m), "cleanParent")
    ELSE Ascend(h, l)

(*********************** snapshot, clear, and reading **********************)
\* The root I-node r has main node m: propose a root of a new generation.
Propose(h, l, m) ==
    LET r  == INodeOf(l)
        hc == IF l.op.op = "clear" THEN Alloc(h, CNode(<<Empty, Empty>>, 0)) ELSE h
        hn == Alloc(hc, INode(IF l.op.op = "clear" THEN Fresh(h) ELSE m, FreshGen(h)))
        hd == Alloc(hn, Descriptor(r, m, Fresh(hc)))
    IN  Out(hd, Prepared(hd, [l EXCEPT !.pc = "RdcssInstall", !.rd = Fresh(hn), !.rret = "own",
                                       !.path = IF l.op.op = "clear" THEN <<>> ELSE @]))
\* The own descriptor is committed.  The old root is now frozen; read it from there.
StartReading(h, l) == LET reader == [Idle EXCEPT !.op = l.op, !.held = INodeOf(l), !.seen = AsMap({})]
                      IN  [CallGcasRead(h, reader, INodeOf(l), "walk") EXCEPT !.ev = "held"]
Installed(h, l) == IF l.op.op = "clear" THEN Return(h, 0) ELSE StartReading(h, l)
\* Reading the frozen trie: m is the main node of the I-node visited.  A tomb's S-node counts.
Listed(n) == SNodes(n)
Visit(h, l, m) ==
    LET n    == h.node[m]
        new  == Listed(n)
        seen == TLCEval([k \in Keys |-> IF \E s \in new : KeyOf(s) = k
                                        THEN ValOf(CHOOSE s \in new : KeyOf(s) = k) ELSE l.seen[k]])
        kid(b) == IF n.t = "C" THEN IF IsLink(n.slot[b]) THEN n.slot[b] ELSE <<>> ELSE <<>>
        todo == kid(1) \o kid(2) \o l.todo
    IN  IF todo = <<>>
        THEN Hand(h, [Idle EXCEPT !.held = l.held, !.seen = seen], "return", seen)
        ELSE CallGcasRead(h, [l EXCEPT !.seen = seen, !.todo = Tail(todo)], Head(todo), "walk")

Walked(h, l, m) == Visit(h, l, m)

(*********************** Where the subroutines return **********************)
\* READ_ROOT has returned I-node r.
GotRoot(h, l0, r) ==
    LET l == [l0 EXCEPT !.rret = ""] IN
    CASE l0.rret = "descend" -> CallGcasRead(h, [l EXCEPT !.path = <<r>>, !.sg = Gen(h, r)], r, "at")
      [] l0.rret = "swap"    -> CallGcasRead(h, [l EXCEPT !.path = <<r>>], r, "expected")
      [] l0.rret = "again"   -> IF Gen(h, r) = l.sg THEN CallGcasRead(h, l, ParentOf(l), "cleanParent")
                                ELSE Ascend(h, l)
\* RDCSS_COMPLETE has returned.  The status of a decided descriptor is final.
RdcssEnded(h, l) == h      \* MCRetirement retires the old root and the descriptor
RdcssReturned(h, l) ==
    IF l.rret # "own" THEN Out(h, [l EXCEPT !.pc = "RdcssRead", !.rd = 0, !.want = ""])
    ELSE IF h.node[l.rd].status = "COMMIT" THEN Installed(RdcssEnded(h, l), l)
    ELSE Restart(RdcssEnded(h, l), l)
\* The Complete inside GCAS has returned main node m, which does not matter.
GcasCompleted(h, l, m) == Goto(h, l, "GcasReadPrevAfter")
\* GCAS_READ, or the Complete inside GCAS, has returned main node m.
GotMain(h, l0, m) ==
    LET l == [l0 EXCEPT !.gi = 0, !.gm = 0, !.gp = 0, !.ret = ""] IN
    CASE l0.ret = "at"          -> AtMain(h, l, m)
      [] l0.ret = "renew"       -> CopyChild(h, l, m, "renew")
      [] l0.ret = "compress"    -> CopyChild(h, l, m, "compress")
      [] l0.ret = "clean"       -> IF h.node[m].t = "C" THEN StartCopy(h, l, m, "compress") ELSE Restart(h, l)
      [] l0.ret = "up"          -> IF IsTomb(h.node[m])
                                   THEN CallGcasRead(h, [l EXCEPT !.t = Entombed(h.node[m])],
                                                     ParentOf(l), "cleanParent")
                                   ELSE Return(h, l.res)
      [] l0.ret = "cleanParent" -> CleanParent(h, l, m)
      [] l0.ret = "expected"    -> Propose(h, l, m)
      [] l0.ret = "decide"      -> Compared(h, l, m)
      [] l0.ret = "walk"        -> Walked(h, l, m)
      [] l0.ret = "gcas"        -> GcasCompleted(h, l, m)
\* The GCAS of an update failed: begin anew.
UpdateFailed(h, l) == Restart(h, l)
\* GCAS has returned ok.  Only a removal that has left a tomb climbs: whoever makes another tomb here climbs then.
GcasEnded(h, l, ok) == h      \* MCRetirement retires what the new main node does not have, or what was made in vain
GcasReturned(h0, l0, ok) ==
    LET h == GcasEnded(h0, l0, ok)
        l == [l0 EXCEPT !.gi = 0, !.n = 0, !.gret = ""] IN
    CASE l0.gret = "put"         -> IF ok THEN Return(h, l.res) ELSE UpdateFailed(h, l0)
      [] l0.gret = "renew"       -> IF ok THEN CallGcasRead(h, l, INodeOf(l), "at") ELSE Restart(h, l)
      [] l0.gret = "remove"      -> IF ~ok THEN UpdateFailed(h, l0)
                                ELSE IF IsTomb(h.node[l0.n]) THEN Climb(h, l) ELSE Return(h, l.res)
      [] l0.gret = "clean"       -> Restart(h, l)
      [] l0.gret = "cleanParent" -> IF ok THEN Ascend(h, l)
                                    ELSE Out(h, [l EXCEPT !.pc = "RdcssRead", !.rret = "again"])
\* What a step of RDCSS or GCAS hands over is taken up in the same step.
Continued(o) ==
    CASE o.ev = "root"    -> GotRoot(o.h, o.l, o.v)
      [] o.ev = "lost"    -> Restart(o.h, o.l)
      [] o.ev = "compare" -> CallGcasRead(o.h, o.l, o.v, "decide")
      [] o.ev = "swung"   -> RdcssReturned(o.h, o.l)
      [] o.ev = "aborted" -> Aborted(o.h, o.l, o.v)
      [] o.ev = "main"    -> GotMain(o.h, o.l, o.v)
      [] o.ev = "gcas"    -> GcasReturned(o.h, o.l, o.v)
      [] OTHER            -> o

(***************************** Canonical names *****************************)
\* The addresses in the registers of one process, and of all.  MCRetirement has more registers.
Some(a) == IF a = 0 THEN <<>> ELSE <<a>>
MoreRefs(l)    == <<>>
NameMore(f, l) == l
RegRefs(l) ==
    IF l.pc = "idle" THEN Some(l.held)
    ELSE MoreRefs(l) \o l.path \o Some(l.n) \o Some(l.gi) \o Some(l.gm) \o Some(l.gp)
         \o (IF l.rd = 0 /\ l.ad = 0 THEN <<>> ELSE <<l.rd, l.ad>>)
         \o (IF l.src = 0 THEN <<>>
             ELSE <<l.src>> \o [b \in 1..2 |-> IF IsLink(l.acc[b]) THEN Target(l.acc[b]) ELSE 0])
         \o (IF l.held = 0 THEN <<>> ELSE <<l.held>> \o l.todo)
AllRefs(LL) == LET r[k \in 0..Len(ProcSeq)] == IF k = 0 THEN <<>> ELSE r[k - 1] \o RegRefs(LL[ProcSeq[k]])
               IN  r[Len(ProcSeq)]
NameRegs(f, g, l) ==
    IF l.pc = "idle" THEN IF l.held = 0 THEN l ELSE [l EXCEPT !.held = f[@]]
    ELSE LET l1 == [NameMore(f, l) EXCEPT !.path = [k \in 1..Len(@) |-> Name(f, @[k])],
                             !.sg = IF @ = 0 THEN 0 ELSE g[@],
                             !.n = Name(f, @), !.gi = Name(f, @), !.gm = Name(f, @), !.gp = Name(f, @)]
             l2 == IF l.rd = 0 /\ l.ad = 0 THEN l1 ELSE [l1 EXCEPT !.rd = Name(f, @), !.ad = Name(f, @)]
             l3 == IF l.src = 0 THEN l2
                   ELSE [l2 EXCEPT !.src = f[@], !.acc = <<NameSlot(f, @[1]), NameSlot(f, @[2])>>]
         IN  IF l.held = 0 THEN l3 ELSE [l3 EXCEPT !.held = f[@], !.todo = [k \in 1..Len(@) |-> f[@[k]]]]
NameAll(f, g, LL) == LET r[k \in 0..Len(ProcSeq)] ==
                           IF k = 0 THEN LL ELSE [r[k - 1] EXCEPT ![ProcSeq[k]] = NameRegs(f, g, @)]
                     IN  r[Len(ProcSeq)]
Canonical(h, LL) ==
    LET r == WalkFromRoot(h)
        w == Walk(h, MeetAll(r, AllRefs(LL)))
        g == Compact(GensOf(h, w.order) \cup {LL[p].sg : p \in Procs})
    IN  [h |-> NameHeap(h, w, g, Len(r.order)), L |-> NameAll(w.name, g, LL)]
\* A step of p that leaves the memory alone, and of the nodes not reachable from root neither drops nor
\* reorders any, changes no name: a shortcut that saves TLC half of its time.
NamesStay(h, p, l) ==
    /\ h = mem
    /\ l.sg = L[p].sg \/ L[p].sg = 0
    /\ LET Private(a) == a > mem.live \/ a < 0
       IN  SelectSeq(RegRefs(l), Private) = SelectSeq(RegRefs(L[p]), Private)
Renamed(h, p, l) == LET LL == [L EXCEPT ![p] = l]
                    IN  IF NamesStay(h, p, l) THEN [h |-> h, L |-> LL] ELSE Canonical(h, LL)

(********************************* Actions *********************************)
\* The tracker after a step of p with outcome o.
Tracked(p, o) == CASE o.ev = "none" -> M [] o.ev = "held" -> Held(M, p) [] o.ev = "return" -> Returned(M, p, o.v)
Apply(p, o) ==
    LET c == Renamed(o.h, p, o.l) IN
    /\ mem' = c.h
    /\ L' = c.L
    /\ M' = Tracked(p, o)
    /\ UNCHANGED at
At(p, pc) == L[p].pc = pc
Do(p, o)  == Apply(p, Continued(o))

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

(* Invocation, with the first read of root. *)
MayBegin(op) == TRUE
Invoke(p) ==
    /\ At(p, "idle") /\ at[p] <= Len(Program[p])
    /\ \E op \in {o \in Program[p][at[p]] : MayBegin(o)} :
         LET o == Continued(ReadRoot(mem, Restart(mem, [op |-> op]).l))
             c == Renamed(o.h, p, o.l)
         IN  /\ mem' = c.h
             /\ L' = c.L
             /\ M' = Close(M, c.L)
    /\ at' = [at EXCEPT ![p] = IF Forever /\ @ = Len(Program[p]) THEN 1 ELSE @ + 1]

Step(p) ==
    \/ RdcssRead(p) \/ RdcssInstall(p) \/ RdcssReadStatus(p) \/ RdcssDecide(p) \/ RdcssSwing(p)
    \/ GcasReadMain(p) \/ GcasReadPrev(p) \/ GcasCas(p) \/ GcasReadPrevAfter(p)
    \/ CompleteReadPrev(p) \/ CompleteReadRoot(p) \/ CompleteAbortStatus(p) \/ CompleteAbortRoot(p)
    \/ CompleteCommit(p) \/ CompleteFail(p) \/ CompleteRollback(p) \/ CompleteRereadMain(p)

Quiet == \A p \in Procs : L[p].pc = "idle"
Terminating == Quiet /\ (\A p \in Procs : at[p] > Len(Program[p])) /\ UNCHANGED vars

InitialObject == Contents(InitialMem, InitialMem.root)
Init == LET c == Canonical(InitialMem, ForEach(Idle)) IN
        /\ mem = c.h
        /\ L = c.L
        /\ at = ForEach(1)
        /\ M = {[s |-> InitialObject, r |-> ForEach(<<>>)]}
Next == (\E p \in Procs : Invoke(p) \/ Step(p)) \/ Terminating
Spec == Init /\ [][Next]_vars
=============================================================================
