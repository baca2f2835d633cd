---------------------------- MODULE Reclamation -----------------------------
(***************************************************************************)
(* Reclamation without a garbage collector: the Ctrie's GCAS and RDCSS,    *)
(* with epochs (Epochs) and deadlists of snapshots (Deadlists).            *)
(*                                                                         *)
(* The trie is as small as can be and still have what matters: a root      *)
(* I-node whose main node holds a counter, "top", and may have one child   *)
(* I-node, whose main node holds another, "low".  An update adds one to a  *)
(* counter; so a lost update, or a snapshot that changes, shows.           *)
(*                                                                         *)
(* Who unlinks a node disposes of it:                                      *)
(*  - the process whose GCAS committed, of exactly old minus new;          *)
(*  - the process whose snapshot committed, of the old root I-node; whose  *)
(*    clear committed, of the whole tree below it;                         *)
(*  - a node that was never published is free at once; the nodes of a GCAS *)
(*    or RDCSS that was installed and failed are retired by their maker,   *)
(*    since others may hold them.                                          *)
(* A snapshot is registered before its descriptor is installed.            *)
(***************************************************************************)
EXTENDS Deadlists

CONSTANTS HasChild,  \* whether the trie has its child at the start
          Holders    \* who holds a snapshot at the start, the oldest first

(******************************* Subroutines *******************************)
CallGcasRead(a, l, i, ret) == Out(a, [l EXCEPT !.pc = "GcasReadMain", !.i = i, !.ret = ret])
\* GCAS(i, n.prev, n): n is allocated now, the nodes made for it were before.
CallGcas(a, l, i, n, made, gret) ==
    Out(Alloc(a, n), [l EXCEPT !.pc = "GcasCas", !.i = i, !.m = 0, !.old = n.prev, !.n = Fresh(a),
                               !.made = made \cup {Fresh(a)}, !.gret = gret])
\* Begin again, with the same pin.
Restarted(l) == [Rest(l) EXCEPT !.op = l.op, !.pinned = TRUE, !.next = "ReadRoot"]
\* The reader of a snapshot, and who clears, fails a pending update and does not look at the root.
ReadOnly(l) == l.ret \in {"walk", "walk low", "raze", "raze low"}
\* The nodes X were unlinked by an update of generation g: retire them.
Kill(a, l, X, g) ==
    LET order == CHOOSE f \in [1..Cardinality(X) -> X] : \A b, c \in DOMAIN f : f[b] = f[c] => b = c
        dead(n)  == IF n.t = "free" THEN n ELSE [n EXCEPT !.death = g]
    IN  RetireAll([a EXCEPT !.node = [x \in 1..Size |-> IF x \in X THEN dead(@[x]) ELSE @[x]]],
             [l EXCEPT !.unlinked = [b \in 1..Cardinality(X) |-> <<order[b], g>>]])
\* What an update from main node old to new unlinks: exactly old minus new.
Unlinked(a, old, new) ==
    {old} \cup (IF a.node[old].kid \in {0, a.node[new].kid} THEN {} ELSE {a.node[old].kid})
\* The nodes X were made for an update that was installed and has failed: others may hold them.
Discard(a, l, X) == RetireAll(a, [l EXCEPT !.limb = X])
\* The nodes X were made for an attempt that was never published.
Undo(a, l, X) == RetireAll(FreeAll(a, X), l)
\* Whether a snapshot is registered before it is installed.
RegisterFirst == TRUE
\* What a process does that has committed another's update.
Helped(a, p, l) == a

\* Whether child I-node i needs no renewal in generation g.  Who reads goes on in an older child as it is.
Recent(a, i, g) == a.node[i].birth = g

(******************************** Operations *******************************)
\* m is the committed main node of the root I-node l.r.
AtTop(a, l, m) ==
    LET n == a.node[m]  g == a.node[l.r].birth IN
    CASE l.op.op = "inc" /\ l.op.key = "top" -> CallGcas(a, l, l.r, CNode(n.val + 1, n.kid, m, g), {}, "inc")
      [] n.kid = 0 /\ l.op.op = "get" -> Goto(a, l, "Done")
      [] n.kid = 0 /\ l.op.op = "inc" /\ l.op.key = "low" ->
           LET leaf == Fresh(a)
               a1   == Alloc(a, CNode(1, 0, 0, g))
               kid  == Fresh(a1)
           IN  CallGcas(Alloc(a1, INode(leaf, g)), l, l.r, CNode(n.val, kid, m, g), {leaf, kid}, "inc")
      [] OTHER -> CallGcasRead(a, [l EXCEPT !.up = m], n.kid, 
                                IF l.op.op = "get" \/ Recent(a, n.kid, g) THEN "low" ELSE "renew")
\* The child l.i is of an older generation and has main node low: copy it.
Renew(a, l, low) ==
    LET g   == a.node[l.r].birth
        kid == Fresh(a)
    IN  CallGcas(Alloc([a EXCEPT !.recopied = @ \/ a.node[l.i].birth = g], INode(low, g)), l, l.r,
                 CNode(a.node[l.up].val, kid, l.up, g), {kid}, "renew")
\* m is the main node of the child l.i.
AtLow(a, l, m) ==
    IF l.op.op = "get" THEN Goto(a, l, "Done")
    ELSE CallGcas(a, l, l.i, CNode(a.node[m].val + 1, 0, m, a.node[l.i].birth), {}, "inc")
\* Propose a new root in place of l.r, whose main node is l.up.
Propose(a, l) ==
    LET clear == l.op.op = "clear"
        g  == a.generation + 1
        a1 == IF clear THEN Alloc(a, CNode(0, 0, 0, g)) ELSE a
        nv == Fresh(a1)
        a2 == Alloc(a1, INode(IF clear THEN Fresh(a) ELSE l.up, g))
        d  == Fresh(a2)
    IN  Out([Alloc(a2, Descriptor(l.r, l.up, nv)) EXCEPT !.generation = g],
            [l EXCEPT !.pc = "RdcssInstall", !.d = d, !.own = TRUE, !.next = "",
                      !.made = {nv, d} \cup (IF clear THEN {Fresh(a)} ELSE {})])
\* The expected main node is m: propose a new root, and register the old one first.
Expect(a, l, m) ==
    LET o == Propose(a, [l EXCEPT !.up = m, !.i = 0])
    IN  IF l.op.op = "snapshot" /\ RegisterFirst
        THEN Goto(o.a, [o.l EXCEPT !.s = a.node[l.r].birth, !.next = "RdcssInstall"], "Register")
        ELSE o
\* The own descriptor was aborted, or not even installed: drop the slot registered for it, if any, and restart.
Failed(l) == IF l.k = 0 THEN Restarted(l)
             ELSE [Restarted(l) EXCEPT !.k = l.k, !.next = "DropMark", !.fin = "ReadRoot"]
\* The own descriptor is out of the root, with this outcome.
RdcssReturned(a, l) ==
    LET g == a.node[a.node[l.d].nv].birth
        l1 == [Restarted(l) EXCEPT !.limb = {l.d}, !.next = "Done", !.r = l.r]
        snap == [l1 EXCEPT !.held = l.r, !.hk = l.k]
        \* The root of generation g came right after l.r, so no other snapshot is in between.
        known == [snap EXCEPT !.known = <<g, l.k, a.node[l.r].birth>>]
    IN  IF a.node[l.d].status = "ABORT"
        THEN RetireAll(a, [Failed(l) EXCEPT !.limb = l.made])
        ELSE IF l.op.op = "clear" THEN CallGcasRead(a, l, l.r, "raze")
        ELSE IF RegisterFirst THEN Kill(a, known, {l.r}, g)
        ELSE LET late == Kill(a, snap, {l.r}, g)
             IN  Goto(late.a, [late.l EXCEPT !.s = a.node[l.r].birth], "Register")
\* The whole tree X below the old root is unlinked.
Raze(a, l, X) == Kill(a, [Restarted(l) EXCEPT !.limb = {l.d}, !.next = "Done"], X, a.node[a.node[l.d].nv].birth)
\* GCAS has returned.
GcasReturned(a, l, ok) ==
    IF ~ok THEN Discard(a, Restarted(l), l.made)
    ELSE Kill(a, IF l.gret = "inc" THEN [Restarted(l) EXCEPT !.next = "Done"]
                 ELSE [Restarted(l) EXCEPT !.r = l.r, !.i = l.r, !.ret = "top", !.next = "GcasReadMain"],
              Unlinked(a, l.old, l.n), a.node[l.i].birth)
\* GCAS_READ has returned main node m.  Whether an own update is committed or failed is final then.
GotMain(a, l0, m) ==
    LET l == [l0 EXCEPT !.m = 0, !.gp = 0, !.ret = ""]  kid == a.node[m].kid IN
    CASE l0.ret = "top"      -> AtTop(a, l, m)
      [] l0.ret = "low"      -> AtLow(a, l, m)
      [] l0.ret = "renew"    -> Renew(a, l, m)
      [] l0.ret = "expected" -> Expect(a, l, m)
      [] l0.ret = "decide"   -> Goto(a, [l EXCEPT !.i = 0, !.want = IF m = a.node[l.d].exp THEN "COMMIT" ELSE "ABORT"],
                                     "RdcssDecide")
      [] l0.ret = "gcas"     -> GcasReturned(a, l, a.node[l.n].prev = 0)
      [] l0.ret = "walk"     -> IF kid # 0 THEN CallGcasRead(a, [l EXCEPT !.up = m], kid, "walk low")
                                ELSE Goto(a, [l EXCEPT !.seen = <<a.node[m].val, 0>>], "Done")
      [] l0.ret = "walk low" -> Goto(a, [l EXCEPT !.seen = <<a.node[l.up].val, a.node[m].val>>], "Done")
      [] l0.ret = "raze"     -> IF kid # 0 THEN CallGcasRead(a, [l EXCEPT !.up = m], kid, "raze low")
                                ELSE Raze(a, l, {l.r, m})
      [] l0.ret = "raze low" -> Raze(a, l, {l.r, l.up, l.i, m})

(***************************** RDCSS, GCAS *********************************)
\* Read root.  A descriptor there is completed first, then the root is read again.
ReadRoot(p) == LET l == [L[p] EXCEPT !.next = "", !.fin = ""]  r == arena.root IN At(p, "ReadRoot") /\
    Apply(p, IF arena.node[r].t = "D" THEN Goto(arena, [l EXCEPT !.d = r], "RdcssReadStatus")
             ELSE CallGcasRead(arena, [l EXCEPT !.r = r], r,
                               IF l.op.op \in {"get", "inc"} THEN "top" ELSE "expected"))
\* CAS root: from the I-node expected to the own descriptor.
RdcssInstall(p) == LET l == L[p] IN At(p, "RdcssInstall") /\
    Apply(p, IF arena.root = l.r THEN Goto([arena EXCEPT !.root = l.d], l, "RdcssReadStatus")
             ELSE Undo(arena, Failed(l), l.made))
\* Read the status.  If undecided, read the main node of the old root (GCAS_READ) to decide.
RdcssReadStatus(p) == LET l == L[p] IN At(p, "RdcssReadStatus") /\
    Apply(p, IF arena.node[l.d].status = "UNDECIDED" THEN CallGcasRead(arena, l, arena.node[l.d].ov, "decide")
             ELSE Goto(arena, l, "RdcssSwing"))
Decide(a, d, s) == IF a.node[d].status = "UNDECIDED" THEN [a EXCEPT !.node[d].status = s] ELSE a
Outcome(a, d)   == IF a.node[d].status = "COMMIT" THEN a.node[d].nv ELSE a.node[d].ov
Swing(a, d)     == IF a.root = d THEN [a EXCEPT !.root = Outcome(a, d)] ELSE a
\* CAS status: UNDECIDED to COMMIT if the main node was the expected one, to ABORT if not.
RdcssDecide(p) == LET l == L[p] IN At(p, "RdcssDecide") /\
    Apply(p, Goto(Decide(arena, l.d, l.want), [l EXCEPT !.want = ""], "RdcssSwing"))
\* CAS root: from the descriptor to what its status says.
RdcssSwing(p) == LET l == L[p]  a == Swing(arena, l.d) IN At(p, "RdcssSwing") /\
    Apply(p, IF l.own THEN RdcssReturned(a, l) ELSE Goto(a, [l EXCEPT !.d = 0], "ReadRoot"))

\* Main node l.m was seen with prev l.gp, not null: undo it, or find out whether it commits.
Settle(a, l) == Goto(a, l, IF l.gp < 0 THEN "CompleteRollback"
                           ELSE IF ReadOnly(l) THEN "CompleteFail" ELSE "CompleteReadRoot")
\* Read main and its prev.
GcasReadMain(p) == LET l == [L[p] EXCEPT !.next = ""]
                       m == arena.node[l.i].main
                       q == arena.node[m].prev
                   IN  At(p, "GcasReadMain") /\
    Apply(p, IF q = 0 THEN GotMain(arena, l, m) ELSE Settle(arena, [l EXCEPT !.m = m, !.gp = q]))
\* CAS main: from the old main node to the new one.
GcasCas(p) == LET l == L[p] IN At(p, "GcasCas") /\
    Apply(p, IF arena.node[l.i].main = l.old
             THEN Settle([arena EXCEPT !.node[l.i].main = l.n], [l EXCEPT !.m = l.n, !.gp = l.old, !.ret = "gcas"])
             ELSE Undo(arena, Restarted(l), l.made))
\* Complete: read prev again.
CompleteReadPrev(p) == LET l == L[p]  q == arena.node[l.m].prev IN At(p, "CompleteReadPrev") /\
    Apply(p, IF q = 0 THEN GotMain(arena, l, l.m) ELSE Settle(arena, [l EXCEPT !.gp = q]))
\* Complete: read root.  A descriptor there is aborted first.
Compared(a, l, r) == Goto(a, [l EXCEPT !.ad = 0],
                          IF a.node[r].birth = a.node[l.i].birth THEN "CompleteCommit" ELSE "CompleteFail")
CompleteReadRoot(p) == LET l == L[p]  r == arena.root IN At(p, "CompleteReadRoot") /\
    Apply(p, IF arena.node[r].t = "I" THEN Compared(arena, l, r)
             ELSE Goto(arena, [l EXCEPT !.ad = r], "CompleteAbortStatus"))
\* CAS status of the descriptor: UNDECIDED to ABORT.
CompleteAbortStatus(p) == LET l == L[p] IN At(p, "CompleteAbortStatus") /\
    Apply(p, Goto(Decide(arena, l.ad, "ABORT"), l, "CompleteAbortRoot"))
\* CAS root: from the descriptor to what its status says.
CompleteAbortRoot(p) == LET l == L[p] IN At(p, "CompleteAbortRoot") /\
    Apply(p, Compared(Swing(arena, l.ad), l, Outcome(arena, l.ad)))
\* CAS prev: from the old main node to null.
CompleteCommit(p) == LET l == L[p] IN At(p, "CompleteCommit") /\
    Apply(p, IF arena.node[l.m].prev = l.gp
             THEN LET a == [arena EXCEPT !.node[l.m].prev = 0]
                  IN  GotMain(IF l.m = l.n THEN a ELSE Helped(a, p, l), l, l.m)
             ELSE Goto(arena, [l EXCEPT !.gp = 0], "CompleteReadPrev"))
\* CAS prev: from the old main node to Failed(old main node).
CompleteFail(p) == LET l == L[p] IN At(p, "CompleteFail") /\
    Apply(p, Goto(IF arena.node[l.m].prev = l.gp THEN [arena EXCEPT !.node[l.m].prev = -l.gp] ELSE arena,
                  [l EXCEPT !.m = 0, !.gp = 0], "GcasReadMain"))
\* CAS main: from the failed node back to the old main node.
CompleteRollback(p) == LET l == L[p] IN At(p, "CompleteRollback") /\
    Apply(p, IF arena.node[l.i].main = l.m THEN GotMain([arena EXCEPT !.node[l.i].main = -l.gp], l, -l.gp)
             ELSE Goto(arena, [l EXCEPT !.m = 0, !.gp = 0], "GcasReadMain"))
TrieStep(p) ==
    \/ ReadRoot(p) \/ RdcssInstall(p) \/ RdcssReadStatus(p) \/ RdcssDecide(p) \/ RdcssSwing(p)
    \/ GcasReadMain(p) \/ GcasCas(p) \/ CompleteReadPrev(p) \/ CompleteReadRoot(p)
    \/ CompleteAbortStatus(p) \/ CompleteAbortRoot(p) \/ CompleteCommit(p) \/ CompleteFail(p) \/ CompleteRollback(p)

(****************************** Initial states *****************************)
\* Holders: the processes that hold a snapshot at the start, the oldest first: generations 1, 2, ...
\* The I-nodes of the roots are 1, 2, ...; they share the rest, of generation 1.
First ==
    LET n == Len(Holders)
        root(g) == [INode(n + 2, g) EXCEPT !.death = IF g <= n THEN g + 1 ELSE 0, !.block = IF g <= n THEN g ELSE 0]
        main == CNode(0, IF HasChild THEN n + 3 ELSE 0, 0, 1)
    IN  [root |-> n + 1,
         node |-> [x \in 1..Size |-> IF x <= n + 1 THEN root(x) ELSE IF x = n + 2 THEN main
                                     ELSE IF HasChild /\ x = n + 3 THEN INode(n + 4, 1)
                                     ELSE IF HasChild /\ x = n + 4 THEN CNode(0, 0, 0, 1) ELSE Free],
         generation |-> n + 1,
         epoch |-> 1,
         pin |-> [p \in Procs |-> 0],
         buffer |-> [p \in Procs |-> 0],      \* a store to pin that only p itself can see yet; 0: none
         limbo |-> [p \in Procs |-> {}],      \* <<node, epoch>>: what p has retired
         slot |-> [k \in 1..Slots |-> IF k > n THEN NoSlot
                                      ELSE [gen |-> k, head |-> [gen |-> k, q |-> <<[node |-> k, block |-> k]>>],
                                            state |-> "CLAIMED", past |-> 0]],
         registered |-> n,
         lock |-> 0,
         twice |-> FALSE,      \* for I4
         recopied |-> FALSE]   \* for I5
Init == /\ arena = First
        /\ L = [p \in Procs |->
                  LET ks == {k \in 1..Len(Holders) : Holders[k] = p}
                      k  == IF ks = {} THEN 0 ELSE CHOOSE k \in ks : TRUE
                  IN  Begin([Idle EXCEPT !.todo = Program[p], !.held = k, !.hk = k])]
Quiet == \A p \in Procs : L[p].pc = "idle"
Terminating == Quiet /\ UNCHANGED vars
Next == (\E p \in Procs : EpochStep(p) \/ DeadlistStep(p) \/ TrieStep(p)) \/ Terminating
Spec == Init /\ [][Next]_vars
\* Somebody takes steps, whoever that is: the others may have stopped anywhere.
SomebodyMoves == Spec /\ WF_vars(Next)

(******************************** Invariants *******************************)
Node(x) == arena.node[x]
Abs(x)  == IF x < 0 THEN -x ELSE x
\* The I-node and the main nodes, committed or pending, that can be read from I-node i; the nodes below.
Mains(i)   == LET m == Node(i).main IN {m} \cup (IF IsFree(arena, m) THEN {} ELSE {Abs(Node(m).prev)} \ {0})
Settled(i) == LET m == Node(i).main IN IF Node(m).prev = 0 THEN m ELSE Abs(Node(m).prev)
Kids(m)    == IF IsFree(arena, m) THEN {} ELSE {Node(m).kid} \ {0}
Reach1(i)  == {i} \cup (IF IsFree(arena, i) THEN {} ELSE Mains(i))
Reachable(i) == LET top == Reach1(i) IN top \cup UNION {Reach1(c) : c \in UNION {Kids(m) : m \in top \ {i}}}
InSnapshot(i) == LET m == Settled(i)  c == Node(m).kid IN {i, m} \cup (IF c = 0 THEN {} ELSE {c, Settled(c)})
Contents(i) == LET m == Settled(i)  c == Node(m).kid IN <<Node(m).val, IF c = 0 THEN 0 ELSE Node(Settled(c)).val>>
\* What a process may still read.
Refs(l) == ({l.r, l.up, l.i, l.m, Abs(l.gp), l.old, l.n, l.d, l.ad} \cup l.made \cup l.limb
            \cup {l.unlinked[b][1] : b \in DOMAIN l.unlinked} \cup {l.list[b].node : b \in DOMAIN l.list}) \ {0}
LiveRoot == LET r == arena.root
            IN  IF IsFree(arena, r) THEN {r} ELSE IF Node(r).t = "I" THEN {r} ELSE {r, Node(r).ov, Node(r).nv}
\* The root I-nodes of snapshots: held, or committed with a descriptor that its maker has yet to look at.
Committed(l) == l.own /\ l.op.op = "snapshot" /\ ~IsFree(arena, l.d) /\ Node(l.d).status = "COMMIT"
Live == ({L[p].held : p \in Procs} \ {0}) \cup {L[p].r : p \in {q \in Procs : Committed(L[q])}}

\* Nothing that can be reached from the root, from a snapshot or from a register is free.
Below(i) == IF IsFree(arena, i) THEN {i} ELSE IF Node(i).t = "D" THEN {i} ELSE Reachable(i)
I1 == \A x \in UNION {Below(i) : i \in LiveRoot \cup Live} \cup UNION {Refs(L[p]) : p \in Procs} : ~IsFree(arena, x)
\* What is in a snapshot was born by then and is not dead yet.
I2 == \A i \in Live : \A x \in InSnapshot(i) :
          Node(x).birth <= Node(i).birth /\ (Node(x).death = 0 \/ Node(i).birth < Node(x).death)
\* No snapshot sees a retired node.
I3 == \A p \in Procs : \A y \in arena.limbo[p] :
          LET x == y[1] IN ~ \E i \in Live : Node(x).birth <= Node(i).birth /\ Node(i).birth < Node(x).death
\* No node is retired twice.
I4 == ~arena.twice
\* Renewal never copies an I-node of the generation it renews to.
I5 == ~arena.recopied
\* A snapshot that was read stays as it was.
I6 == \A p \in Procs : L[p].held # 0 /\ L[p].seen # <<>> => Contents(L[p].held) = L[p].seen
\* At rest and without snapshots every node is reachable, or waits for its epoch; no slot is in use.
I7 == Quiet /\ Live = {} =>
          /\ {x \in 1..Size : ~IsFree(arena, x)} =
                 Reachable(arena.root) \cup UNION {{y[1] : y \in arena.limbo[p]} : p \in Procs}
          /\ arena.registered = 0 /\ arena.lock = 0 /\ \A k \in 1..Slots : arena.slot[k].state = "FREE"
\* What is on the deadlist of a registered snapshot is dead, and that snapshot sees it.
I8 == \A k \in 1..Slots : LET s == arena.slot[k] IN \A n \in 1..Len(s.head.q) :
          LET x == s.head.q[n].node
          IN  ~IsFree(arena, x) /\ s.gen # 0 /\ Node(x).birth <= s.gen /\ s.gen < Node(x).death
\* Programs are finite, so somebody always returns if and only if all do in the end.
LockFree == <>Quiet

\* A state in a few words, for a TLC that knows ALIAS (2.15 does not; say "ALIAS Alias" in the .cfg).
Alias == [next      |-> [p \in Procs |-> <<L[p].op.op, L[p].op.key, L[p].pc>>],
          epoch     |-> arena.epoch,
          pins      |-> arena.pin,
          lists     |-> [k \in {i \in 1..Slots : arena.slot[i].state # "FREE"} |->
                           <<arena.slot[k].state, arena.slot[k].gen, [n \in 1..Len(arena.slot[k].head.q) |-> arena.slot[k].head.q[n].node]>>],
          limbo     |-> arena.limbo,
          snapshots |-> {p \in Procs : L[p].held # 0},
          free      |-> {x \in 1..Size : IsFree(arena, x)}]
AliasIsThere == DOMAIN Alias # {}

\* At rest the trie holds what was counted (unless it was cleared).
Count(key) == LET c[ps \in SUBSET Procs] ==
                    IF ps = {} THEN 0
                    ELSE LET p == CHOOSE p \in ps : TRUE
                         IN  c[ps \ {p}] + Cardinality({n \in DOMAIN Program[p] : Program[p][n] = Inc(key)})
              IN  c[Procs]
NoUpdateLost == Quiet => Contents(arena.root) = <<Count("top"), Count("low")>>
=============================================================================
