----------------------------- MODULE Deadlists ------------------------------
(***************************************************************************)
(* Registered snapshots, and the deadlist of each: dead nodes that only    *)
(* this snapshot and older ones may still contain.                         *)
(*                                                                         *)
(* A node x, unlinked by an update of generation d, is visible to a        *)
(* snapshot of generation s iff birth(x) <= s < d.  It goes on the list of *)
(* the newest such snapshot, and when that one is dropped either on the    *)
(* list of the next older one, if it is visible there, or to the epochs.   *)
(*                                                                         *)
(* A slot: gen (0: none), head (the deadlist, a stack of blocks),          *)
(* state.  The generation is part of an empty head, so that a CAS cannot   *)
(* mistake an empty list for that of an earlier snapshot in the same slot. *)
(* A block that goes from one list to another stays the same.  A block     *)
(* whose node is retired becomes part of the limbo with the node, so its   *)
(* address comes back only when nobody who was pinned can hold it.  That   *)
(* is why a CAS of a head that is a block cannot be fooled by an address   *)
(* that is used again: who pushes is pinned since before the head was      *)
(* read.                                                                   *)
(*                                                                         *)
(* A process may be late with its registering: it has read the root long   *)
(* ago, and will find out when its RDCSS fails.  So a slot remembers the   *)
(* generation that it had last, and is never given to an older one: the    *)
(* generations of a slot only grow, and with them those of its lists.      *)
(* Otherwise a head may be that of an older list again (mutant R20), and a *)
(* node ends where the newest snapshot that sees it will not look.         *)
(*                                                                         *)
(* A search reads every slot.  So a process keeps what its last one found, *)
(* for the other nodes that die in that generation: since then the newest  *)
(* snapshot may have been dropped, which RetireHead and RetireCheck find   *)
(* out, but no newer one below that generation can be taken any more.      *)
(***************************************************************************)
EXTENDS Epochs

(********************************* The slots *******************************)
Closed    == [gen |-> 0, q |-> <<>>]
EmptyHead(s) == [gen |-> s, q |-> <<>>]
\* What a CAS compares: closed, empty with the generation, or the address of the first block.
Top(head) == IF head.q = <<>> THEN <<"empty", head.gen>> ELSE <<"block", head.q[1].block>>
IsClosed(top) == top = <<"empty", 0>>
NoSlot    == [gen |-> 0, head |-> Closed, state |-> "FREE", past |-> 0]
\* Whether a slot may be given to a snapshot of generation s.
MayTake(slot, s) == slot.state = "FREE" /\ slot.past <= s

\* A block is in use until its node is free: on a list, in the hands of who sweeps, then in limbo.
BlocksInUse(a) == {a.node[x].block : x \in {y \in 1..Size : ~IsFree(a, y)}} \ {0}
\* A new block, at the least free address, for node x.
Entry(a, x) ==
    LET used == BlocksInUse(a)
    IN  [node |-> x, block |-> CHOOSE b \in 1..(2 * Size) : b \notin used /\ \A c \in 1..(b - 1) : c \in used]
PushOn(a, k, e) == [a EXCEPT !.slot[k].head.q = <<e>> \o @, !.node[e.node].block = e.block]

\* Of the slots looked at so far the best candidate is l.k with generation l.s; is slot k a better one?
Newer(s, l) == s # 0 /\ (l.k = 0 \/ s > l.s)
\* Whether a search passes over a slot with this head.
Skips(top) == IsClosed(top)
\* Of the snapshots to move a list to, is that of generation g better than the best so far?
MovesTo(g, l) == g <= l.s /\ g > l.prev[2]
\* Whether who found a slot reads its generation again, after its head; and its state again, after unlocking.
ChecksAgain == TRUE
LooksAgain  == TRUE

(******************************** Registering ******************************)
\* CAS STATE of a slot: FREE to CLAIMED; its HEAD is then an empty list.  l.s is the generation to register.
\* That the slot's past is not newer is read before and after the CAS; while the slot is claimed it does not change.
Register(p) == LET l == L[p] IN At(p, "Register") /\
    \E k \in 1..Slots :
        /\ MayTake(arena.slot[k], l.s) /\ \A i \in 1..(k - 1) : ~MayTake(arena.slot[i], l.s)
        /\ Apply(p, Goto([arena EXCEPT !.slot[k].head = EmptyHead(l.s), !.slot[k].state = "CLAIMED"],
                         [l EXCEPT !.k = k], "RegisterCount"))
\* REGISTERED += 1.
RegisterCount(p) == LET l == L[p] IN At(p, "RegisterCount") /\
    Apply(p, Goto([arena EXCEPT !.registered = @ + 1], l, "RegisterPublish"))
\* Exchange GEN: 0 to the generation.
RegisterPublish(p) == LET l == L[p] IN At(p, "RegisterPublish") /\
    Apply(p, RetireAll([arena EXCEPT !.slot[l.k].gen = l.s],
                       IF l.held = 0 THEN [l EXCEPT !.s = 0] ELSE [l EXCEPT !.s = 0, !.k = 0, !.hk = l.k]))

(********************************* Retiring ********************************)
\* The next entry of unlinked, <<x, d>>: node x was unlinked by an update of generation d.
NextOne(l) == l.unlinked[1][1]
Death(l)   == l.unlinked[1][2]
Search(l) == [l EXCEPT !.pc = "RetireScan", !.j = 1, !.k = 0, !.s = 0, !.h = <<>>]
NoneSees(a, l) == RetireAll(a, [l EXCEPT !.limb = {NextOne(l)}, !.unlinked = Tail(@),
                                         !.j = 0, !.k = 0, !.s = 0, !.e = 0, !.h = <<>>])
\* Of the snapshots older than the death the newest is of generation l.s, in slot l.k, or there is none.
Found(a, l) == IF l.k = 0 \/ l.s < a.node[NextOne(l)].birth THEN NoneSees(a, l)
               ELSE Goto(a, [l EXCEPT !.j = 0, !.e = 0], "RetireHead")
\* Note that; is what was noted about this death?
Remember(a, l) == [l EXCEPT !.known = <<Death(l), l.k, l.s>>]
Remembers(l)   == l.known[1] = Death(l)
Recall(l)      == [l EXCEPT !.k = l.known[2], !.s = l.known[3]]
\* Read REGISTERED: without snapshots the node goes to the epochs.
RetireCount(p) == LET l == L[p] IN At(p, "RetireCount") /\
    Apply(p, IF arena.registered = 0 THEN NoneSees(arena, l)
             ELSE IF ~Remembers(l) THEN Out(arena, Search(l))
             ELSE IF l.known[2] = 0 THEN NoneSees(arena, l) ELSE Goto(arena, l, "RetireKnown"))
\* Read GEN of the slot that was remembered: search again if its snapshot is gone.
RetireKnown(p) == LET l == L[p] IN At(p, "RetireKnown") /\
    Apply(p, IF arena.slot[l.known[2]].gen = l.known[3] THEN Found(arena, Recall(l)) ELSE Out(arena, Search(l)))
\* Go on after slot l.j.  The best candidate decides: the generation that was read with it, not a later one.
Scanned(a, l) == IF l.j < Slots THEN Out(a, [l EXCEPT !.pc = "RetireScan", !.j = @ + 1, !.e = 0])
                 ELSE Found(a, Remember(a, l))
\* Read GEN of one slot, in search of the newest snapshot older than the death.
RetireScan(p) == LET l == L[p]  g == arena.slot[l.j].gen IN At(p, "RetireScan") /\
    Apply(p, IF Newer(g, l) /\ g < Death(l) THEN Goto(arena, [l EXCEPT !.e = g], "RetireScanHead") ELSE Scanned(arena, l))
\* Read HEAD of that slot: if it is closed, the snapshot is dropped and does not count.
RetireScanHead(p) == LET l == L[p] IN At(p, "RetireScanHead") /\
    Apply(p, Scanned(arena, IF Skips(Top(arena.slot[l.j].head)) THEN l ELSE [l EXCEPT !.k = l.j, !.s = l.e]))
\* Read HEAD of the slot found.
RetireHead(p) == LET l == L[p]  h == Top(arena.slot[l.k].head) IN At(p, "RetireHead") /\
    Apply(p, IF IsClosed(h) THEN Out(arena, Search(l))
             ELSE Goto(arena, [l EXCEPT !.h = h], IF ChecksAgain THEN "RetireCheck" ELSE "RetirePush"))
\* Read GEN of the slot again.
RetireCheck(p) == LET l == L[p] IN At(p, "RetireCheck") /\
    Apply(p, IF arena.slot[l.k].gen # l.s THEN Out(arena, Search(l)) ELSE Goto(arena, l, "RetirePush"))
\* CAS HEAD: put the node on the list, or search again.
RetirePush(p) == LET l == L[p] IN At(p, "RetirePush") /\
    Apply(p, IF Top(arena.slot[l.k].head) # l.h THEN Out(arena, Search(l))
             ELSE RetireAll(PushOn(arena, l.k, Entry(arena, NextOne(l))),
                            [l EXCEPT !.unlinked = Tail(@), !.k = 0, !.s = 0, !.h = <<>>]))

(********************************* Dropping ********************************)
\* STATE := DROPPED of slot l.k.
DropMark(p) == LET l == L[p] IN At(p, "DropMark") /\
    Apply(p, Goto([arena EXCEPT !.slot[l.k].state = "DROPPED"], 
                  IF l.fin = "Done" THEN [l EXCEPT !.k = 0, !.held = 0, !.hk = 0, !.seen = <<>>]
                  ELSE [l EXCEPT !.k = 0], "SweepLock"))
\* CAS DROP_LOCK: 0 to the owner.  If it is taken, its holder will see the mark.
SweepLock(p) == LET l == L[p] IN At(p, "SweepLock") /\
    Apply(p, IF arena.lock # 0 THEN Goto(arena, l, l.fin)
             ELSE Goto([arena EXCEPT !.lock = 1], [l EXCEPT !.j = 1], "SweepScan"))
\* Read STATE of one slot, in search of a dropped one.
SweepScan(p) == LET l == L[p] IN At(p, "SweepScan") /\
    Apply(p, IF arena.slot[l.j].state = "DROPPED" THEN Goto(arena, [l EXCEPT !.k = l.j, !.j = 0], "SweepClose")
             ELSE IF l.j < Slots THEN Out(arena, [l EXCEPT !.j = @ + 1])
             ELSE Goto(arena, [l EXCEPT !.j = 0], "SweepUnlock"))
\* Exchange HEAD: CLOSED for the list.
SweepClose(p) == LET l == L[p]  t == arena.slot[l.k] IN At(p, "SweepClose") /\
    Apply(p, Goto([arena EXCEPT !.slot[l.k].head = Closed],
                  [l EXCEPT !.list = t.head.q, !.s = t.gen, !.j = 1, !.prev = <<0, 0>>], "SweepPrev"))
\* Read GEN of one other slot, in search of the newest snapshot not newer than this one.
SweepPrev(p) == LET l == L[p]  g == arena.slot[l.j].gen IN At(p, "SweepPrev") /\
    LET l1 == IF l.j # l.k /\ MovesTo(g, l) THEN [l EXCEPT !.prev = <<l.j, g>>] ELSE l
    IN  Apply(p, IF l.j < Slots THEN Out(arena, [l1 EXCEPT !.j = @ + 1])
                 ELSE Goto(arena, [l1 EXCEPT !.j = 0, !.s = 0], "SweepClear"))
\* GEN := 0.  The slot's past is written with STATE, in SweepFree; nobody reads it before.
SweepClear(p) == LET l == L[p] IN At(p, "SweepClear") /\
    Apply(p, Goto([arena EXCEPT !.slot[l.k].gen = 0, !.slot[l.k].past = arena.slot[l.k].gen], l, "SweepUncount"))
\* REGISTERED -= 1.
SweepUncount(p) == LET l == L[p] IN At(p, "SweepUncount") /\
    Apply(p, Goto([arena EXCEPT !.registered = @ - 1], l, "SweepFree"))
\* STATE := FREE.  Nodes that no older snapshot sees are retired, the others moved.
SweepFree(p) == LET l == L[p]
                    Seen(e)   == arena.node[e.node].birth <= l.prev[2]
                    Unseen(e) == ~Seen(e)
                    rest == SelectSeq(l.list, Seen)
                    gone == SelectSeq(l.list, Unseen)
                IN  At(p, "SweepFree") /\
    Apply(p, RetireAll([arena EXCEPT !.slot[l.k].state = "FREE"],
                  [l EXCEPT !.k = 0, !.j = 1, !.list = rest, !.limb = {gone[n].node : n \in 1..Len(gone)},
                            !.prev = IF rest = <<>> THEN <<0, 0>> ELSE @,
                            !.next = IF rest = <<>> THEN "SweepScan" ELSE "SweepHead"]))
\* Read HEAD of the older snapshot's slot, which nobody else can close.
SweepHead(p) == LET l == L[p] IN At(p, "SweepHead") /\
    Apply(p, Goto(arena, [l EXCEPT !.h = Top(arena.slot[l.prev[1]].head)], "SweepMove"))
\* CAS HEAD: put the node on its list, with its block.
SweepMove(p) == LET l == L[p]  k == l.prev[1] IN At(p, "SweepMove") /\
    Apply(p, IF Top(arena.slot[k].head) # l.h THEN Goto(arena, [l EXCEPT !.h = <<>>], "SweepHead")
             ELSE LET a == PushOn(arena, k, l.list[1])
                      l1 == [l EXCEPT !.list = Tail(@), !.h = <<>>]
                  IN  IF l1.list # <<>> THEN Goto(a, l1, "SweepHead")
                      ELSE Goto(a, [l1 EXCEPT !.prev = <<0, 0>>, !.j = 1], "SweepScan"))
\* DROP_LOCK := 0.
SweepUnlock(p) == LET l == L[p] IN At(p, "SweepUnlock") /\
    Apply(p, IF LooksAgain THEN Goto([arena EXCEPT !.lock = 0], [l EXCEPT !.j = 1], "SweepRecheck")
             ELSE Goto([arena EXCEPT !.lock = 0], [l EXCEPT !.j = 0], l.fin))
\* Read STATE of one slot again: a drop that found the lock taken may have come after SweepScan.
SweepRecheck(p) == LET l == L[p] IN At(p, "SweepRecheck") /\
    Apply(p, IF arena.slot[l.j].state = "DROPPED" THEN Goto(arena, [l EXCEPT !.j = 0], "SweepLock")
             ELSE IF l.j < Slots THEN Out(arena, [l EXCEPT !.j = @ + 1])
             ELSE Goto(arena, [l EXCEPT !.j = 0], l.fin))
DeadlistStep(p) ==
    \/ Register(p) \/ RegisterCount(p) \/ RegisterPublish(p)
    \/ RetireCount(p) \/ RetireKnown(p) \/ RetireScan(p) \/ RetireScanHead(p)
    \/ RetireHead(p) \/ RetireCheck(p) \/ RetirePush(p)
    \/ DropMark(p) \/ SweepLock(p) \/ SweepScan(p) \/ SweepClose(p) \/ SweepPrev(p) \/ SweepClear(p)
    \/ SweepUncount(p) \/ SweepFree(p) \/ SweepHead(p) \/ SweepMove(p) \/ SweepUnlock(p) \/ SweepRecheck(p)
=============================================================================
