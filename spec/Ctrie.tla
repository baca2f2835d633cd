------------------------------- MODULE Ctrie --------------------------------
(***************************************************************************)
(* The concurrent hash trie with O(1) snapshots (Prokopec, Bronson,        *)
(* Bagwell, Odersky, "Concurrent Tries with Efficient Non-Blocking         *)
(* Snapshots", PPoPP 2012), corrected, at one shared-memory access per     *)
(* step.                                                                   *)
(*                                                                         *)
(* An update copies one main node and installs the copy by GCAS, a CAS on  *)
(* INode.main that takes effect only if the generation of the root is      *)
(* still the generation of that I-node.  A snapshot moves the root to a    *)
(* new generation by RDCSS and so cuts off every update of the old         *)
(* generation.  Shared mutable state: root, INode.main, prev of a main     *)
(* node, status of a descriptor; the walk down, the copying and all        *)
(* decisions in between are local and belong to the preceding access.      *)
(*                                                                         *)
(* Two corrections to the paper and its published implementations:         *)
(*  - a renewed C-node copies only the children of an older generation     *)
(*    (otherwise a completed put below such a child is lost);              *)
(*  - a descriptor is decided by a CAS on its own status before the root   *)
(*    moves (otherwise an RDCSS can be applied twice).                     *)
(*                                                                         *)
(* Each action is named after its access, and pc holds the name of the     *)
(* action that comes next.  An invocation is fused with the operation's    *)
(* first access and a response with its last; this gives the tightest,     *)
(* hence hardest, histories and loses none.                                *)
(***************************************************************************)
EXTENDS Heap, SequentialMap
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
Idle == [pc   |-> "idle",
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

INodeOf(l)  == l.path[Len(l.path)]
ParentOf(l) == l.path[Len(l.path) - 1]
Level(l)    == Len(l.path) - 1
Main(h, i)  == h.node[i].main
Gen(h, i)   == h.node[i].gen
Prev(h, m)  == h.node[m].prev
\* Remove climbs back up to the root, the others at most one level.
Push(l, i)  == IF l.op.op = "remove" THEN Append(l.path, i)
               ELSE Append([k \in 1..Len(l.path) |-> IF k = Len(l.path) THEN l.path[k] ELSE 0], i)

(********************************* Outcomes ********************************)
\* A step yields the new memory, the new registers, and an event of the history.
Out(h, l)       == [h |-> h, l |-> l, ev |-> "none", v |-> 0]
Return(h, v)    == [h |-> h, l |-> Idle, ev |-> "return", v |-> v]
Goto(h, l, pc)  == Out(h, [l EXCEPT !.pc = pc])
Restart(h, l)   == Out(h, [Idle EXCEPT !.pc = "RdcssRead", !.op = l.op,
                                !.rret = IF l.op.op \in {"snapshot", "clear"} THEN "swap" ELSE "descend"])

(******************************* Subroutines *******************************)
\* GCAS_READ(i); the result goes to GotMain, which continues as ret says.
CallGcasRead(h, l, i, ret) == Out(h, [l EXCEPT !.pc = "GcasReadMain", !.gi = i, !.ret = ret])
\* GCAS(i, n.prev, n) of a new main node n; the result goes to GcasReturned, which continues as gret says.
CallGcas(h, l, i, n, gret) ==
    Out(Alloc(h, n), [l EXCEPT !.pc = "GcasCas", !.gi = i, !.n = Fresh(h), !.gret = gret,
                               !.src = 0, !.acc = <<>>, !.j = 0,
                               !.path = IF gret \in {"put", "clean"} THEN <<>> ELSE @,
                               !.sg   = IF gret \in {"put", "clean"} THEN 0 ELSE @])
\* Only the reader of a snapshot uses a read-only trie.
ReadOnly(l) == l.ret = "walk"

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
\* The slots of a copied C-node refer to the same I-nodes: what happens below them is not copied.
Shared(h, slots) == [h |-> h, slots |-> slots]
\* Renewal copies a child I-node only if it is of an older generation.
NeedsRenewal(h, i, g) == Gen(h, i) # g

\* Make a copy of C-node l.src whose children have been read one after the other (GCAS_READ):
\* mode "renew": children of an older generation become I-nodes of this one;
\* mode "compress": children with a tomb become its S-node (the parent of the present I-node is copied).
Copied(h, l, mode) ==
    IF mode = "renew" THEN CallGcas(h, l, INodeOf(l), CNode(l.acc, l.src), "renew")
    ELSE CallGcas(h, l, ParentOf(l), Contracted(l.acc, Level(l) - 1, l.src), "clean")
Copy(h, l, mode) ==      \* go on after slot l.j
    LET s == h.node[l.src].slot
        B == {b \in (l.j + 1)..2 : IsLink(s[b]) /\ (mode = "compress" \/ NeedsRenewal(h, Target(s[b]), l.sg))}
    IN  IF B = {} THEN Copied(h, l, mode)
        ELSE LET b == CHOOSE b \in B : \A c \in B : b <= c
             IN  CallGcasRead(h, [l EXCEPT !.j = b], Target(s[b]), mode)
StartCopy(h, l, m, mode) == Copy(h, [l EXCEPT !.src = m, !.acc = h.node[m].slot, !.j = 0], mode)
CopyChild(h, l, m, mode) ==      \* the child in slot l.j has main node m
    IF mode = "renew" THEN Copy(Alloc(h, INode(m, l.sg)), [l EXCEPT !.acc[l.j] = Link(Fresh(h))], mode)
    ELSE IF IsTomb(h.node[m]) THEN Copy(h, [l EXCEPT !.acc[l.j] = Entombed(h.node[m])], mode)
    ELSE Copy(h, l, mode)

(************************* lookup, put and remove **************************)
\* m is the main node of the present I-node, a C-node, and its slot for the key holds no link.
AtSlot(h, l, m) ==
    LET k == l.op.key  lev == Level(l)  i == INodeOf(l)  b == SlotOf(k, lev)
        s == h.node[m].slot[b]
        found == IsSNode(s) /\ KeyOf(s) = k
        old   == IF found THEN ValOf(s) ELSE Absent
        put(hh, slots) == LET c == Shared(hh, slots)
                          IN  CallGcas(c.h, [l EXCEPT !.res = old], i, CNode(c.slots, m), "put")
    IN  CASE l.op.op = "lookup" -> Return(h, old)
          [] l.op.op = "put" ->
               IF found \/ IsEmpty(s) THEN put(h, [h.node[m].slot EXCEPT ![b] = SNode(k, l.op.val)])
               ELSE LET d == BuildSlot(h, {s, SNode(k, l.op.val)}, lev + 1, Gen(h, i))
                    IN  put(d.h, [h.node[m].slot EXCEPT ![b] = d.s])
          [] l.op.op = "remove" ->
               IF ~found THEN Return(h, Absent)
               ELSE LET c == Shared(h, [h.node[m].slot EXCEPT ![b] = Empty])
                    IN  CallGcas(c.h, [l EXCEPT !.res = old], i, Contracted(c.slots, lev, m), "remove")
\* m is an L-node, which holds all keys that agree with this one in every hash bit.
AtLNode(h, l, m) ==
    LET k == l.op.key  i == INodeOf(l)  E == h.node[m].entries
        rest == {s \in E : KeyOf(s) # k}
        old  == IF rest = E THEN Absent ELSE ValOf(CHOOSE s \in E : KeyOf(s) = k)
    IN  CASE l.op.op = "lookup" -> Return(h, old)
          [] l.op.op = "put" ->
               CallGcas(h, [l EXCEPT !.res = old], i, LNode(rest \cup {SNode(k, l.op.val)}, m), "put")
          [] l.op.op = "remove" ->
               IF rest = E THEN Return(h, Absent)
               ELSE LET n == IF Cardinality(rest) = 1 THEN TNode(CHOOSE s \in rest : TRUE, m)
                             ELSE LNode(rest, m)
                    IN  CallGcas(h, [l EXCEPT !.res = old], i, n, "remove")
\* The operation has arrived at the present I-node, whose main node is m.
AtMain(h, l, m) ==
    LET n == h.node[m] IN
    CASE n.t = "C" ->
           LET s == n.slot[SlotOf(l.op.key, Level(l))] IN
           IF ~IsLink(s) THEN AtSlot(h, l, m)
           ELSE IF Gen(h, Target(s)) = l.sg
                THEN CallGcasRead(h, [l EXCEPT !.path = Push(l, Target(s))], Target(s), "at")
           ELSE StartCopy(h, l, m, "renew")
      [] n.t = "T" -> CallGcasRead(h, l, ParentOf(l), "clean")     \* help to remove the tomb, then restart
      [] n.t = "L" -> AtLNode(h, l, m)

(************** After a remove: contraction on the way up ******************)
\* The key is removed and the present I-node may have become a tomb.
Climb(h, l) == IF Len(l.path) = 1 THEN Return(h, l.res) ELSE CallGcasRead(h, l, INodeOf(l), "up")
Ascend(h, l) == Climb(h, [l EXCEPT !.path = SubSeq(@, 1, Len(@) - 1), !.t = <<>>])
\* The present I-node is a tomb with S-node l.t, and m is the main node of its parent.
CleanParent(h, l, m) ==
    LET lev == Level(l) - 1  b == SlotOf(l.op.key, lev)  n == h.node[m] IN
    IF n.t = "C" /\ n.slot[b] = Link(INodeOf(l))
    THEN LET c == Shared(h, [n.slot EXCEPT ![b] = l.t])
         IN  CallGcas(c.h, l, ParentOf(l), Contracted(c.slots, lev, m), "cleanParent")
    ELSE Ascend(h, l)

(*********************** snapshot, clear, and reading **********************)
\* The root I-node r has main node m: propose a root of a new generation.
Propose(h, l, m) ==
    LET r  == INodeOf(l)
        hc == IF l.op.op = "clear" THEN Alloc(h, CNode(<<Empty, Empty>>, 0)) ELSE h
        hn == Alloc(hc, INode(IF l.op.op = "clear" THEN Fresh(h) ELSE m, FreshGen(h)))
    IN  Out(Alloc(hn, Descriptor(r, m, Fresh(hc))),
            [l EXCEPT !.pc = "RdcssInstall", !.rd = Fresh(hn), !.rret = "own",
                      !.path = IF l.op.op = "clear" THEN <<>> ELSE @])
\* The own descriptor is committed.  The old root is now frozen; read it from there.
Installed(h, l) ==
    IF l.op.op = "clear" THEN Return(h, 0)
    ELSE LET reader == [Idle EXCEPT !.op = l.op, !.held = INodeOf(l), !.seen = AsMap({})]
         IN  [CallGcasRead(h, reader, INodeOf(l), "walk") EXCEPT !.ev = "held"]
\* Reading the frozen trie: m is the main node of the I-node visited.
Visit(h, l, m) ==
    LET n    == h.node[m]
        new  == SNodes(n)
        seen == TLCEval([k \in Keys |-> IF \E s \in new : KeyOf(s) = k
                                        THEN ValOf(CHOOSE s \in new : KeyOf(s) = k) ELSE l.seen[k]])
        kid(b) == IF n.t = "C" THEN IF IsLink(n.slot[b]) THEN n.slot[b] ELSE <<>> ELSE <<>>
        todo == kid(1) \o kid(2) \o l.todo
    IN  IF todo = <<>>
        THEN [h |-> h, l |-> [Idle EXCEPT !.held = l.held, !.seen = seen], ev |-> "return", v |-> seen]
        ELSE CallGcasRead(h, [l EXCEPT !.seen = seen, !.todo = Tail(todo)], Head(todo), "walk")

(*********************** Where the subroutines return **********************)
\* READ_ROOT has returned I-node r.
GotRoot(h, l0, r) ==
    LET l == [l0 EXCEPT !.rret = ""] IN
    CASE l0.rret = "descend" -> CallGcasRead(h, [l EXCEPT !.path = <<r>>, !.sg = Gen(h, r)], r, "at")
      [] l0.rret = "swap"    -> CallGcasRead(h, [l EXCEPT !.path = <<r>>], r, "expected")
      [] l0.rret = "again"   -> IF Gen(h, r) = l.sg THEN CallGcasRead(h, l, ParentOf(l), "cleanParent")
                                ELSE Ascend(h, l)
\* RDCSS_COMPLETE has returned.  The status of a decided descriptor is final.
RdcssReturned(h, l) ==
    IF l.rret # "own" THEN Out(h, [l EXCEPT !.pc = "RdcssRead", !.rd = 0, !.want = ""])
    ELSE IF h.node[l.rd].status = "COMMIT" THEN Installed(h, l)
    ELSE Restart(h, l)
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
      [] l0.ret = "decide"      -> Out(h, [l EXCEPT !.pc = "RdcssDecide",
                                           !.want = IF m = h.node[l.rd].exp THEN "COMMIT" ELSE "ABORT"])
      [] l0.ret = "walk"        -> Visit(h, l, m)
      [] l0.ret = "gcas"        -> Goto(h, l, "GcasReadPrevAfter")
\* GCAS has returned ok.
GcasReturned(h, l0, ok) ==
    LET l == [l0 EXCEPT !.gi = 0, !.n = 0, !.gret = ""] IN
    CASE l0.gret = "put"         -> IF ok THEN Return(h, l.res) ELSE Restart(h, l)
      [] l0.gret = "renew"       -> IF ok THEN CallGcasRead(h, l, INodeOf(l), "at") ELSE Restart(h, l)
      [] l0.gret = "remove"      -> IF ok THEN Climb(h, l) ELSE Restart(h, l)
      [] l0.gret = "clean"       -> Restart(h, l)
      [] l0.gret = "cleanParent" -> IF ok THEN Ascend(h, l)
                                    ELSE Out(h, [l EXCEPT !.pc = "RdcssRead", !.rret = "again"])

(***************************** Canonical names *****************************)
\* The addresses in the registers of one process, and of all.
Some(a) == IF a = 0 THEN <<>> ELSE <<a>>
RegRefs(l) ==
    IF l.pc = "idle" THEN Some(l.held)
    ELSE l.path \o Some(l.n) \o Some(l.gi) \o Some(l.gm) \o Some(l.gp)
         \o (IF l.rd = 0 /\ l.ad = 0 THEN <<>> ELSE <<l.rd, l.ad>>)
         \o (IF l.src = 0 THEN <<>>
             ELSE <<l.src>> \o [b \in 1..2 |-> IF IsLink(l.acc[b]) THEN Target(l.acc[b]) ELSE 0])
         \o (IF l.held = 0 THEN <<>> ELSE <<l.held>> \o l.todo)
AllRefs(LL) == LET r[k \in 0..Len(ProcSeq)] == IF k = 0 THEN <<>> ELSE r[k - 1] \o RegRefs(LL[ProcSeq[k]])
               IN  r[Len(ProcSeq)]
NameRegs(f, g, l) ==
    IF l.pc = "idle" THEN IF l.held = 0 THEN l ELSE [l EXCEPT !.held = f[@]]
    ELSE LET l1 == [l EXCEPT !.path = [k \in 1..Len(@) |-> Name(f, @[k])],
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
Apply(p, o) ==
    LET c == Renamed(o.h, p, o.l) IN
    /\ mem' = c.h
    /\ L' = c.L
    /\ M' = CASE o.ev = "none" -> M [] o.ev = "held" -> Held(M, p) [] o.ev = "return" -> Returned(M, p, o.v)
    /\ UNCHANGED at
At(p, pc) == L[p].pc = pc

(* READ_ROOT, RDCSS, RDCSS_COMPLETE *)
ReadingRoot(h, l) ==
    IF h.node[h.root].t = "I" THEN GotRoot(h, l, h.root)
    ELSE Out(h, [l EXCEPT !.rd = h.root, !.pc = "RdcssReadStatus"])
Set(h, d, s)   == IF h.node[d].status = "UNDECIDED" THEN [h EXCEPT !.node[d].status = s] ELSE h
Outcome(h, d)  == IF h.node[d].status = "COMMIT" THEN h.node[d].nv ELSE h.node[d].ov
Swing(h, d, i) == IF h.root = d THEN [h EXCEPT !.root = i] ELSE h

\* Read root.  A descriptor there is completed first, then the root is read again.
RdcssRead(p) == At(p, "RdcssRead") /\ Apply(p, ReadingRoot(mem, L[p]))
\* CAS root: from the I-node expected to the own descriptor.
RdcssInstall(p) == LET l == L[p] IN At(p, "RdcssInstall") /\
    Apply(p, IF mem.root = mem.node[l.rd].ov THEN Goto([mem EXCEPT !.root = l.rd], l, "RdcssReadStatus")
             ELSE Restart(mem, l))
\* Read the status.  If undecided, read the main node of the old root (GCAS_READ) to decide.
RdcssReadStatus(p) == LET l == L[p] IN At(p, "RdcssReadStatus") /\
    Apply(p, IF mem.node[l.rd].status = "UNDECIDED" THEN CallGcasRead(mem, l, mem.node[l.rd].ov, "decide")
             ELSE Goto(mem, l, "RdcssSwing"))
\* CAS status: UNDECIDED to COMMIT if the main node was the expected one, to ABORT if not.
RdcssDecide(p) == LET l == L[p] IN At(p, "RdcssDecide") /\
    Apply(p, Goto(Set(mem, l.rd, l.want), [l EXCEPT !.want = ""], "RdcssSwing"))
\* CAS root: from the descriptor to what its status says.
RdcssSwing(p) == LET l == L[p] IN At(p, "RdcssSwing") /\
    Apply(p, RdcssReturned(Swing(mem, l.rd, Outcome(mem, l.rd)), l))

(* GCAS, GCAS_READ *)
\* Read main.  If its prev is null the node is committed and stays so: no need to let others step in between.
GcasReadMain(p) == LET l == L[p]  m == Main(mem, l.gi) IN At(p, "GcasReadMain") /\
    Apply(p, IF Prev(mem, m) = 0 THEN GotMain(mem, l, m) ELSE Goto(mem, [l EXCEPT !.gm = m], "GcasReadPrev"))
\* Read prev (it was not null when main was read).
GcasReadPrev(p) == LET l == L[p] IN At(p, "GcasReadPrev") /\
    Apply(p, IF Prev(mem, l.gm) = 0 THEN GotMain(mem, l, l.gm) ELSE Goto(mem, l, "CompleteReadPrev"))
\* CAS main: from the old main node, which prev of the new one remembers, to the new one.
GcasCas(p) == LET l == L[p] IN At(p, "GcasCas") /\
    Apply(p, IF Main(mem, l.gi) = Prev(mem, l.n)
             THEN Goto([mem EXCEPT !.node[l.gi].main = l.n],
                       [l EXCEPT !.gm = l.n, !.ret = "gcas"], "CompleteReadPrev")
             ELSE GcasReturned(mem, l, FALSE))
\* Read prev of the new node after Complete: null means that the GCAS succeeded.
GcasReadPrevAfter(p) == LET l == L[p] IN At(p, "GcasReadPrevAfter") /\
    Apply(p, GcasReturned(mem, l, Prev(mem, l.n) = 0))

(* GCAS Complete(i, m) *)
\* prev is known, and whether the root has the generation of the I-node: undo, commit, or fail the update.
Settle(h, l, same) == Goto(h, l, IF l.gp < 0 THEN "CompleteRollback"
                                 ELSE IF same THEN "CompleteCommit" ELSE "CompleteFail")
\* Read prev.
CompleteReadPrev(p) == LET l == L[p]  q == Prev(mem, l.gm) IN At(p, "CompleteReadPrev") /\
    Apply(p, IF q = 0 THEN GotMain(mem, l, l.gm)
             ELSE IF ReadOnly(l) THEN Settle(mem, [l EXCEPT !.gp = q], FALSE)
             ELSE Goto(mem, [l EXCEPT !.gp = q], "CompleteReadRoot"))
\* Read root.  A descriptor there is aborted first.  An update that commits linearizes here.
CompleteReadRoot(p) == LET l == L[p]  r == mem.root IN At(p, "CompleteReadRoot") /\
    Apply(p, IF mem.node[r].t = "I" THEN Settle(mem, l, Gen(mem, r) = Gen(mem, l.gi))
             ELSE Goto(mem, [l EXCEPT !.ad = r], "CompleteAbortStatus"))
\* CAS status of the descriptor: UNDECIDED to ABORT.
CompleteAbortStatus(p) == LET l == L[p] IN At(p, "CompleteAbortStatus") /\
    Apply(p, Goto(Set(mem, l.ad, "ABORT"), l, "CompleteAbortRoot"))
\* CAS root: from the descriptor to what its status says (COMMIT, if someone was faster).  Whether or not
\* this CAS succeeds, the root was that I-node at an instant since CompleteReadRoot.  It is not read again:
\* a process that did so could for ever abort the descriptors that another for ever installs.
Aborted(h, l) == Settle(h, [l EXCEPT !.ad = 0], Gen(h, Outcome(h, l.ad)) = Gen(h, l.gi))
CompleteAbortRoot(p) == LET l == L[p] IN At(p, "CompleteAbortRoot") /\
    Apply(p, Aborted(Swing(mem, l.ad, Outcome(mem, l.ad)), l))
\* CAS prev: from the old main node to null.
CompleteCommit(p) == LET l == L[p] IN At(p, "CompleteCommit") /\
    Apply(p, IF Prev(mem, l.gm) = l.gp THEN GotMain([mem EXCEPT !.node[l.gm].prev = 0], l, l.gm)
             ELSE Goto(mem, [l EXCEPT !.gp = 0], "CompleteReadPrev"))
\* CAS prev: from the old main node to Failed(old main node).
CompleteFail(p) == LET l == L[p] IN At(p, "CompleteFail") /\
    Apply(p, Goto(IF Prev(mem, l.gm) = l.gp THEN [mem EXCEPT !.node[l.gm].prev = -l.gp] ELSE mem,
                  [l EXCEPT !.gm = 0, !.gp = 0], "CompleteRereadMain"))
\* CAS main: from the failed node back to the old main node.
CompleteRollback(p) == LET l == L[p] IN At(p, "CompleteRollback") /\
    Apply(p, IF Main(mem, l.gi) = l.gm THEN GotMain([mem EXCEPT !.node[l.gi].main = -l.gp], l, -l.gp)
             ELSE Goto(mem, [l EXCEPT !.gm = 0, !.gp = 0], "CompleteRereadMain"))
\* Read main again.
CompleteRereadMain(p) == LET l == L[p] IN At(p, "CompleteRereadMain") /\
    Apply(p, Goto(mem, [l EXCEPT !.gm = Main(mem, l.gi)], "CompleteReadPrev"))

(* Invocation, with the first read of root. *)
Invoke(p) ==
    /\ At(p, "idle") /\ at[p] <= Len(Program[p])
    /\ \E op \in Program[p][at[p]] :
         LET o == ReadingRoot(mem, Restart(mem, [op |-> op]).l)
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

Init == LET c == Canonical(InitialMem, ForEach(Idle)) IN
        /\ mem = c.h
        /\ L = c.L
        /\ at = ForEach(1)
        /\ M = {[s |-> Contents(InitialMem, InitialMem.root), r |-> ForEach(<<>>)]}
Next == (\E p \in Procs : Invoke(p) \/ Step(p)) \/ Terminating
Spec == Init /\ [][Next]_vars
=============================================================================
