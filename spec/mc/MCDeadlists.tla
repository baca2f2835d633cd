---------------------------- MODULE MCDeadlists -----------------------------
(***************************************************************************)
(* Deadlists with the most general client: a process takes snapshots and   *)
(* drops them, and unlinks nodes, in any order and as often as it likes.   *)
(*                                                                         *)
(* A node was made for a generation, its birth, and is linked from then on *)
(* until a process unlinks it, in a generation that is not beyond that of  *)
(* the root (an update may commit after the root has moved on).  A process *)
(* that takes a snapshot registers the generation that it has read, and    *)
(* then moves the root to the next one, if it still is of that generation; *)
(* otherwise it drops what it has registered.                              *)
(*                                                                         *)
(* The epoch never moves, so no address is used twice: that those who may  *)
(* hold one are waited for is the matter of Epochs.                        *)
(***************************************************************************)
EXTENDS Deadlists

CONSTANTS Births,    \* node -> the generation that it was made for
          Most,      \* nobody begins to take a snapshot from this generation on
          Holders    \* who holds a snapshot at the start, the oldest first: generations 1, 2, ...

\* Program says what a process may do, each operation any number of times.
HoldTakeUnlink == [u |-> <<>>, v |-> <<Inc("top")>>, w |-> <<Drop, Snapshot>>]
OneEach  == <<1, 2>>
OnlyOne  == <<1>>
UThenW   == <<"u", "w">>
Nobody   == <<>>
May(p, kind) == \E n \in DOMAIN Program[p] : Program[p][n].op = kind

(******************************** The client *******************************)
Invoke(p) == LET l == L[p] IN At(p, "idle") /\
    \/ /\ May(p, "snapshot") /\ l.held = 0 /\ arena.generation < Most
       /\ Apply(p, Goto(arena, [l EXCEPT !.s = arena.generation, !.r = arena.generation, !.next = "Commit"], "Register"))
    \/ May(p, "drop") /\ l.held # 0 /\ Apply(p, Goto(arena, [l EXCEPT !.k = l.hk, !.fin = "Done"], "DropMark"))
\* Move the root to the next generation, if it is still of the one that was registered.
Commit(p) == LET l == L[p] IN At(p, "Commit") /\
    Apply(p, IF arena.generation = l.r
             THEN Goto([arena EXCEPT !.generation = @ + 1],
                       [l EXCEPT !.held = l.r, !.hk = l.k, !.known = <<l.r + 1, l.k, l.r>>], "Done")
             ELSE Goto(arena, [l EXCEPT !.next = "", !.fin = "Done", !.r = 0], "DropMark"))
\* Unlink a node in a generation.
Deaths(x) == Births[x]..arena.generation
DeathsNow(x) == {arena.generation}      \* replaces Deaths where a model would be too large
Unlink(p) == LET l == L[p] IN At(p, "idle") /\ May(p, "inc") /\
    \E x \in 1..Size : \E d \in Deaths(x) : arena.node[x].death = 0 /\
        Apply(p, RetireAll([arena EXCEPT !.node[x].death = d], [l EXCEPT !.unlinked = <<<<x, d>>>>, !.next = "Done"]))

Node(b) == [t |-> "X", birth |-> b, death |-> 0, retired |-> FALSE, block |-> 0]
First(k) == [gen |-> k, head |-> EmptyHead(k), state |-> "CLAIMED", past |-> 0]
Init == /\ arena = [node       |-> [x \in 1..Size |-> Node(Births[x])],
                    generation |-> Len(Holders) + 1,
                    epoch      |-> 1,
                    limbo      |-> [p \in Procs |-> {}],
                    slot       |-> [k \in 1..Slots |-> IF k <= Len(Holders) THEN First(k) ELSE NoSlot],
                    registered |-> Len(Holders),
                    lock       |-> 0,
                    twice      |-> FALSE]
        /\ L = [p \in Procs |-> LET ks == {k \in 1..Len(Holders) : Holders[k] = p}
                               IN  IF ks = {} THEN Idle ELSE LET k == CHOOSE k \in ks : TRUE
                                                             IN  [Idle EXCEPT !.held = k, !.hk = k]]
Terminating == (\A p \in Procs : L[p].pc = "idle") /\ UNCHANGED vars
Next == \/ \E p \in Procs : DeadlistStep(p) \/ RetireReadEpoch(p) \/ Invoke(p) \/ Commit(p) \/ Unlink(p)
        \/ Terminating
Spec == Init /\ [][Next]_vars

\* Nothing that a snapshot sees is retired.
Sees(s, x) == arena.node[x].birth <= s /\ (arena.node[x].death = 0 \/ s < arena.node[x].death)
Unseen == \A p, q \in Procs : \A y \in arena.limbo[p] : L[q].held = 0 \/ ~Sees(L[q].held, y[1])
\* What is on the list of a snapshot is dead, and that snapshot sees it.
Exact == \A k \in 1..Slots : LET h == arena.slot[k].head IN \A n \in 1..Len(h.q) :
             LET x == arena.node[h.q[n].node] IN x.birth <= h.gen /\ h.gen < x.death

\* A state in a few words (latchfree spec --alias).
Alias == [next  |-> [p \in Procs |-> <<L[p].op, L[p].pc, L[p].k>>],
          slots |-> [k \in 1..Slots |-> <<arena.slot[k].state, arena.slot[k].gen, arena.slot[k].head>>],
          epoch |-> arena.epoch,
          limbo |-> arena.limbo,
          free  |-> {x \in 1..Size : IsFree(arena, x)}]
=============================================================================
