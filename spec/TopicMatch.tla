----------------------------- MODULE TopicMatch -----------------------------
(***************************************************************************)
(* A match that reads several places of a trie with snapshots and          *)
(* validates, at one shared-memory access per step.                        *)
(*                                                                         *)
(* Module TopicTrie checks validation on a trie without snapshots, where   *)
(* an update is one CAS.  Here an update is a GCAS, which may be pending   *)
(* or undone, and a snapshot moves the root to a new generation, so that a *)
(* whole part of the trie may be out of date without a single main node    *)
(* having changed.  The trie is the smallest that has all that: a root     *)
(* I-node, whose main node has two child I-nodes, a (found by the literal  *)
(* path) and b (by the wildcard), whose main nodes hold one bit each: is   *)
(* there a subscriber?                                                     *)
(*                                                                         *)
(* A match reads the root, its main node, and the children.  A child of    *)
(* the root's generation may change, and is noted.  A child of an older    *)
(* one is frozen: no update can commit there any more, and one that is     *)
(* pending is failed by the reader, as in a read-only trie.  Then it reads *)
(* all that was noted once more, and the root.                             *)
(*                                                                         *)
(* RDCSS is one step here (module Ctrie has all of them), main and prev    *)
(* are read in one.                                                        *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANT Program      \* process -> sequence of operations
Procs == DOMAIN Program

(************************* The sequential object ***************************)
Kids == {"a", "b"}
Set(k, v) == [op |-> "set",      kid |-> k,  val |-> v]      \* subscribe (1) or unsubscribe (0); answers 0
Match     == [op |-> "match",    kid |-> "", val |-> 0]      \* answers both bits
Snapshot  == [op |-> "snapshot", kid |-> "", val |-> 0]      \* answers 0
NoOp      == [op |-> "none",     kid |-> "", val |-> 0]
Two(va, vb) == [a |-> va, b |-> vb]
BitOutcomes(Regs, p, s) ==
    LET o == Regs[p].op IN
    {[s |-> IF o.op = "set" THEN [s EXCEPT ![o.kid] = o.val] ELSE s, v |-> IF o.op = "match" THEN <<s>> ELSE <<>>]}
INSTANCE Linearizability WITH Outcomes <- BitOutcomes

VARIABLES mem,   \* [root, node]: node is a sequence, an address is an index into it
          L,     \* the registers of each process
          at,    \* at[p]: the index of p's next operation
          M      \* the linearizability tracker
vars == <<mem, L, at, M>>

INode(m, g)   == [t |-> "I", main |-> m, gen |-> g]
Branch(k, q)  == [t |-> "B", kid |-> k, prev |-> q]       \* prev: 0 committed, x > 0 pending with old main x,
Bit(v, q)     == [t |-> "V", val |-> v, prev |-> q]       \*   -x failed, to be undone to x
Fresh(h)      == Len(h.node) + 1
Alloc(h, n)   == [h EXCEPT !.node = Append(@, n)]
Main(h, i)    == h.node[i].main
Gen(h, i)     == h.node[i].gen
Prev(h, m)    == h.node[m].prev
KidOf(h, m, k) == h.node[m].kid[k]
Abs(x)        == IF x < 0 THEN -x ELSE x

Idle == [pc |-> "idle", op |-> NoOp,
         r    |-> 0,      \* the root
         m    |-> 0,      \* the main node of the root
         i    |-> 0,      \* GCAS, GCAS_READ: the I-node,
         gm   |-> 0,      \*   the main node,
         gp   |-> 0,      \*   its prev,
         n    |-> 0,      \*   the new main node,
         ret  |-> "",     \*   and what to do then
         acc  |-> <<>>,   \* main nodes read for a renewal; or bits found
         seen |-> <<>>,   \* noted: <<I-node, main node>>
         j    |-> 0]      \* the index in seen
Out(h, l)      == [h |-> h, l |-> l, ret |-> FALSE, v |-> <<>>]
Goto(h, l, pc) == Out(h, [l EXCEPT !.pc = pc])
Return(h, v)   == [h |-> h, l |-> Idle, ret |-> TRUE, v |-> v]
Restart(h, l)  == Out(h, [Idle EXCEPT !.pc = "ReadRoot", !.op = l.op])
Read(h, l, i, ret) == Out(h, [l EXCEPT !.pc = "ReadMain", !.i = i, !.ret = ret, !.gm = 0, !.gp = 0])
\* GCAS(i, prev of n, n).
Gcas(h, l, i, n, ret) == Out(Alloc(h, n), [l EXCEPT !.pc = "GcasCas", !.i = i, !.n = Fresh(h), !.ret = ret])

(********************************** Match **********************************)
\* A child of another generation than the root is read as in a read-only trie.
Frozen(h, l, i)   == Gen(h, i) # Gen(h, l.r)
ReadOnly(h, l)    == l.ret \in {"collect a", "collect b"} /\ Frozen(h, l, l.i)
Noted(h, l, i, m) == IF Frozen(h, l, i) THEN l.seen ELSE Append(l.seen, <<i, m>>)
\* All is read: validate; when that is done, look at the root.
Validate(h, l) == Read(h, [l EXCEPT !.j = 1], l.seen[1][1], "validate")
Validated(h, l) == Goto(h, l, "ValidateRoot")
\* Something has changed in the meantime: begin again.
Changed(h, l) == Restart(h, l)
\* How a match reads a main node that may be pending: as everybody does.
Raw(l) == FALSE

\* GCAS_READ, or the Complete inside GCAS, has returned main node m of I-node l.i.
Got(h, l0, m) ==
    LET l == [l0 EXCEPT !.i = 0, !.gm = 0, !.gp = 0, !.ret = ""]
        k == l.op.kid
    IN  CASE l0.ret = "root"     ->
               IF Gen(h, KidOf(h, m, k)) = Gen(h, l.r) THEN Read(h, [l EXCEPT !.m = m], KidOf(h, m, k), "kid")
               ELSE Read(h, [l EXCEPT !.m = m], KidOf(h, m, "a"), "renew a")
          [] l0.ret = "renew a"  -> Read(h, [l EXCEPT !.acc = <<m>>], KidOf(h, l.m, "b"), "renew b")
          [] l0.ret = "renew b"  ->      \* children of an older generation become I-nodes of this one
               LET renewed(hh, i, main) == IF Gen(hh, i) = Gen(hh, l.r) THEN [h |-> hh, i |-> i]
                                           ELSE [h |-> Alloc(hh, INode(main, Gen(hh, l.r))), i |-> Fresh(hh)]
                   ka == renewed(h, KidOf(h, l.m, "a"), l.acc[1])
                   kb == renewed(ka.h, KidOf(h, l.m, "b"), m)
               IN  Gcas(kb.h, [l EXCEPT !.acc = <<>>, !.m = 0], l.r, Branch(Two(ka.i, kb.i), l.m), "renewed")
          [] l0.ret = "renewed"  -> IF Prev(h, l.n) = 0 THEN Read(h, [l EXCEPT !.n = 0], l.r, "root") ELSE Restart(h, l)
          [] l0.ret = "kid"      ->
               IF h.node[m].val = l.op.val THEN Return(h, <<>>)
               ELSE Gcas(h, [l EXCEPT !.m = 0], l0.i, Bit(l.op.val, m), "set")
          [] l0.ret = "set"      -> IF Prev(h, l.n) = 0 THEN Return(h, <<>>) ELSE Restart(h, l)
          [] l0.ret = "swap"     -> Goto(h, [l EXCEPT !.m = m], "Swap")
          [] l0.ret = "collect"  ->
               Read(h, [l EXCEPT !.m = m, !.seen = <<<<l.r, m>>>>], KidOf(h, m, "a"), "collect a")
          [] l0.ret = "collect a" ->
               Read(h, [l EXCEPT !.seen = Noted(h, l, l0.i, m), !.acc = <<h.node[m].val>>], KidOf(h, l.m, "b"), "collect b")
          [] l0.ret = "collect b" ->
               Validate(h, [l EXCEPT !.seen = Noted(h, l, l0.i, m), !.acc = Append(@, h.node[m].val), !.m = 0])
          [] l0.ret = "validate" ->
               IF m # l.seen[l.j][2] THEN Changed(h, l)
               ELSE IF l.j = Len(l.seen) THEN Validated(h, l)
               ELSE Read(h, [l EXCEPT !.j = @ + 1], l.seen[l.j + 1][1], "validate")
Answer(l) == <<Two(l.acc[1], l.acc[2])>>

(********************************* Actions *********************************)
Apply(p, o) == /\ mem' = o.h
               /\ L' = [L EXCEPT ![p] = o.l]
               /\ M' = IF o.ret THEN Returned(M, p, o.v) ELSE M
               /\ UNCHANGED at
At(p, pc) == L[p].pc = pc
GotRoot(h, l) == Read(h, [l EXCEPT !.r = h.root], h.root,
                      CASE l.op.op = "set" -> "root" [] l.op.op = "match" -> "collect" [] l.op.op = "snapshot" -> "swap")

\* Read root again.
ReadRoot(p) == At(p, "ReadRoot") /\ Apply(p, GotRoot(mem, L[p]))
\* GCAS_READ: read main and its prev.
ReadMain(p) == LET l == L[p]  m == Main(mem, l.i)  q == Prev(mem, m)  l1 == [l EXCEPT !.gm = m, !.gp = q]
               IN  At(p, "ReadMain") /\
    Apply(p, IF q = 0 \/ Raw(l) THEN Got(mem, l, m)
             ELSE Goto(mem, l1, IF q < 0 THEN "Rollback" ELSE IF ReadOnly(mem, l) THEN "Fail" ELSE "CompleteReadRoot"))
\* GCAS: CAS main, from the old main node to the new one.
GcasCas(p) == LET l == L[p]  q == Prev(mem, l.n) IN At(p, "GcasCas") /\
    Apply(p, IF Main(mem, l.i) # q THEN Restart(mem, l)
             ELSE Goto([mem EXCEPT !.node[l.i].main = l.n], [l EXCEPT !.gm = l.n, !.gp = q], "CompleteReadRoot"))
\* Complete: read root.  An update commits only in the generation of the root.
SameGeneration(h, i) == Gen(h, h.root) = Gen(h, i)
CompleteReadRoot(p) == LET l == L[p] IN At(p, "CompleteReadRoot") /\
    Apply(p, Goto(mem, l, IF SameGeneration(mem, l.i) THEN "Commit" ELSE "Fail"))
\* CAS prev, from the old main node: to null, to Failed(old main node).
Decided(h, l) == IF Prev(h, l.gm) = 0 THEN Got(h, l, l.gm) ELSE Goto(h, [l EXCEPT !.gp = Prev(h, l.gm)], "Rollback")
CasPrev(l, x) == IF Prev(mem, l.gm) = l.gp THEN [mem EXCEPT !.node[l.gm].prev = x] ELSE mem
Commit(p) == LET l == L[p] IN At(p, "Commit") /\ Apply(p, Decided(CasPrev(l, 0), l))
Fail(p)   == LET l == L[p] IN At(p, "Fail") /\ Apply(p, Decided(CasPrev(l, -l.gp), l))
\* CAS main: from the failed node to the old one; then read again.
Rollback(p) == LET l == L[p] IN At(p, "Rollback") /\
    LET h == IF Main(mem, l.i) = l.gm THEN [mem EXCEPT !.node[l.i].main = -l.gp] ELSE mem
    IN  Apply(p, IF l.gm = l.n THEN Restart(h, l) ELSE Read(h, l, l.i, l.ret))
\* RDCSS: if root and its main node are as read, to an I-node of a new generation with the same main node.
Swap(p) == LET l == L[p] IN At(p, "Swap") /\
    Apply(p, IF mem.root # l.r \/ Main(mem, l.r) # l.m THEN Restart(mem, l)
             ELSE Return([Alloc(mem, INode(l.m, Gen(mem, l.r) + 1)) EXCEPT !.root = Fresh(mem)], <<>>))
\* Match: read root again.
ValidateRoot(p) == LET l == L[p] IN At(p, "ValidateRoot") /\
    Apply(p, IF mem.root # l.r THEN Restart(mem, l) ELSE Return(mem, Answer(l)))

(* Invocation, with the first read of root. *)
Invoke(p) ==
    /\ At(p, "idle") /\ at[p] <= Len(Program[p])
    /\ LET o == GotRoot(mem, [Idle EXCEPT !.op = Program[p][at[p]]])
       IN  mem' = o.h /\ L' = [L EXCEPT ![p] = o.l]
    /\ M' = Close(M, L')
    /\ at' = [at EXCEPT ![p] = @ + 1]
Step(p) == \/ ReadRoot(p) \/ ReadMain(p) \/ GcasCas(p) \/ CompleteReadRoot(p) \/ Commit(p) \/ Fail(p) \/ Rollback(p)
           \/ Swap(p) \/ ValidateRoot(p)
Quiet == \A p \in Procs : L[p].pc = "idle"
Terminating == Quiet /\ (\A p \in Procs : at[p] > Len(Program[p])) /\ UNCHANGED vars
Init == /\ mem = [root |-> 6, node |-> <<Bit(0, 0), INode(1, 1), Bit(0, 0), INode(3, 1),
                                         Branch(Two(2, 4), 0), INode(5, 1)>>]
        /\ L = [p \in Procs |-> Idle]
        /\ at = [p \in Procs |-> 1]
        /\ M = {[s |-> Two(0, 0), r |-> [p \in Procs |-> <<>>]]}
Next == (\E p \in Procs : Invoke(p) \/ Step(p)) \/ Terminating
Spec == Init /\ [][Next]_vars

(******************************* Properties ********************************)
Linearizable == M # {}
Settled(i) == LET m == Main(mem, i) IN IF Prev(mem, m) = 0 THEN m ELSE Abs(Prev(mem, m))
BitAt(k)   == mem.node[Settled(KidOf(mem, Settled(mem.root), k))].val
QuiescentAgree == Quiet => \E c \in M : c.s = Two(BitAt("a"), BitAt("b"))
Answered == \E p \in Procs : L[p].pc # "idle" /\ L'[p].pc = "idle"
LockFree == []<><<TRUE>>_vars => []<><<Answered>>_vars

\* A state in a few words (latchfree spec --alias).
Alias == [next      |-> [p \in Procs |-> <<L[p].op.op, L[p].pc>>],
          root      |-> mem.root,
          pending   |-> {i \in DOMAIN mem.node : mem.node[i].t # "I" /\ mem.node[i].prev # 0},
          explained |-> Cardinality(M)]
=============================================================================
