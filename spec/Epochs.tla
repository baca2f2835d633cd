------------------------------- MODULE Epochs -------------------------------
(***************************************************************************)
(* Epoch-based reclamation, and the memory it gives back, at one access of *)
(* shared memory per step.                                                 *)
(*                                                                         *)
(* A process publishes the epoch it has read before it reads anything      *)
(* else (pin), and retires a node after it has unlinked it, with the epoch *)
(* read then.  The epoch moves from e to e + 1 only when every pin set     *)
(* says e, so a node retired in epoch E is out of everybody's reach in     *)
(* epoch E + 2, and its address is free.                                   *)
(*                                                                         *)
(* All shared memory is one record, arena.  An address is an index into    *)
(* arena.node, 0 is the null address.  A new node takes the least free     *)
(* address, so that addresses are reused as soon as may be.                *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANTS Program,   \* process -> sequence of operations
          Size,      \* how many addresses there are
          Slots      \* how many snapshot slots there are

Procs   == DOMAIN Program
ProcSeq == CHOOSE f \in [1..Cardinality(Procs) -> Procs] : \A a, b \in DOMAIN f : f[a] = f[b] => a = b

VARIABLES arena,   \* the shared memory, and the limbo of each process
          L        \* the registers of each process
vars == <<arena, L>>

(********************************** Nodes **********************************)
\* birth: the generation for which the node was made.  For the invariants only: death, the generation of the
\* update that unlinked it (0: none); retired.  block: what lists it on a deadlist (Deadlists), 0 for none.
Free        == [t |-> "free"]
INode(m, g) == [t |-> "I", main |-> m, birth |-> g, death |-> 0, retired |-> FALSE, block |-> 0]
\* A main node: a value, and a child I-node or 0.  prev is 0 (committed), a > 0 (pending, old main a) or -a (failed).
CNode(v, kid, prev, g) ==
    [t |-> "C", val |-> v, kid |-> kid, prev |-> prev, birth |-> g, death |-> 0, retired |-> FALSE, block |-> 0]
\* RDCSS: replace root ov by nv if the main of ov is still exp.
Descriptor(ov, exp, nv) ==
    [t |-> "D", ov |-> ov, exp |-> exp, nv |-> nv, status |-> "UNDECIDED", birth |-> 0, death |-> 0, retired |-> FALSE,
     block |-> 0]

IsFree(a, x) == a.node[x].t = "free"
Fresh(a)     == CHOOSE x \in 1..Size : IsFree(a, x) /\ \A y \in 1..(x - 1) : ~IsFree(a, y)
Alloc(a, n)  == [a EXCEPT !.node[Fresh(a)] = n]
\* What is left of a node when it is freed.
Remains(n)   == Free
FreeAll(a, X) == [a EXCEPT !.node = [x \in 1..Size |-> IF x \in X THEN Remains(@[x]) ELSE @[x]]]

(******************************* Operations ********************************)
NoOp     == [op |-> "none", key |-> ""]
Get      == [op |-> "get", key |-> ""]
Inc(key) == [op |-> "inc", key |-> key]        \* add one to the counter
Snapshot == [op |-> "snapshot", key |-> ""]
Read     == [op |-> "read", key |-> ""]        \* the snapshot taken before
Drop     == [op |-> "drop", key |-> ""]        \* the same
Clear    == [op |-> "clear", key |-> ""]
Advance  == [op |-> "advance", key |-> ""]     \* the epoch, if all others keep up
\* Whether reading a snapshot takes a pin.
PinToRead == TRUE

(******************************** Registers ********************************)
\* Deadlists: no search of a snapshot has ended yet.
Unknown == <<0, 0, 0>>
Idle == [pc   |-> "idle",
         op   |-> NoOp,    \* the operation
         todo |-> <<>>,    \* and those after it
         e    |-> 0,       \* the epoch read
         pinned |-> FALSE, \* between pin and unpin
         j    |-> 0,       \* the process or the slot to look at next
         limb |-> {},      \* nodes to retire now
         unlinked |-> <<>>,   \* nodes unlinked by this process: to be retired or put on a deadlist
         next |-> "",      \* what to do when limb and unlinked are empty
         r    |-> 0,       \* the root I-node
         up   |-> 0,       \* its main node
         i    |-> 0,       \* GCAS and GCAS_READ: the I-node,
         m    |-> 0,       \*   the main node read,
         gp   |-> 0,       \*   its prev,
         old  |-> 0,       \*   the main node to be replaced,
         n    |-> 0,       \*   the new one,
         made |-> {},      \*   and all nodes made for this attempt
         ret  |-> "",      \* what to do with the main node that GCAS_READ returns
         gret |-> "",      \* what to do when GCAS has succeeded
         d    |-> 0,       \* RDCSS: the descriptor to complete
         own  |-> FALSE,   \*   whether this process made it
         want |-> "",      \*   and the decision proposed for it
         ad   |-> 0,       \* the descriptor to abort
         k    |-> 0,       \* the snapshot slot in hand
         s    |-> 0,       \* its generation
         h    |-> <<>>,    \* what its HEAD was
         known |-> Unknown, \* what the last search found: <<d, k, s>>, of the snapshots older than d the newest
                           \*   is of generation s, in slot k (0: none)
         list |-> <<>>,    \* the deadlist taken from a dropped slot
         prev |-> <<0, 0>>,\* the next older snapshot: its slot and its generation
         fin  |-> "",      \* what to do after a drop
         seen |-> <<>>,    \* the contents read
         held |-> 0,       \* the snapshot held: its root I-node,
         hk   |-> 0]       \*   and its slot

Out(a, l) == [a |-> a, l |-> l]
\* Between operations only the snapshot is kept, and what the last search found.
Rest(l) == [Idle EXCEPT !.held = l.held, !.hk = l.hk, !.seen = l.seen, !.todo = l.todo, !.known = l.known]
\* The next operation of the program: its first access is a step of its own.
Begin(l) ==
    IF l.todo = <<>> THEN Rest(l)
    ELSE LET op == Head(l.todo)
             b  == [Rest(l) EXCEPT !.op = op, !.todo = Tail(@)]
             read == [b EXCEPT !.i = l.held, !.ret = "walk"]
         IN  CASE op.op = "advance" -> [b EXCEPT !.pc = "AdvanceLoad"]
               [] op.op = "drop"    -> [b EXCEPT !.pc = "DropMark", !.k = l.hk, !.fin = "Done"]
               [] op.op = "read"    -> IF PinToRead THEN [read EXCEPT !.pc = "PinLoad", !.next = "GcasReadMain"]
                                       ELSE [read EXCEPT !.pc = "GcasReadMain"]
               [] OTHER             -> [b EXCEPT !.pc = "PinLoad", !.next = "ReadRoot"]
\* A process that will unlink nothing more forgets what the last search found, so that there are fewer states.
Unlinks(op) == op.op \in {"inc", "snapshot", "clear"}
Forgetful(l) == IF \E n \in DOMAIN l.todo : Unlinks(l.todo[n]) THEN l ELSE [l EXCEPT !.known = Unknown]
\* Go on at pc, which may be the end of the operation.
Goto(a, l, pc) == Out(a, IF pc # "Done" THEN [l EXCEPT !.pc = pc]
                         ELSE IF l.pinned THEN [Forgetful(Rest(l)) EXCEPT !.pc = "Unpin", !.op = l.op, !.pinned = TRUE]
                         ELSE Begin(l))
\* Go on at l.next when all that was unlinked is retired or on a deadlist.
RetireAll(a, l) == IF l.limb # {} THEN Goto(a, l, "RetireReadEpoch")
                   ELSE IF l.unlinked # <<>> THEN Goto(a, l, "RetireCount")
                   ELSE Goto(a, [l EXCEPT !.next = ""], l.next)

Apply(p, o) == arena' = o.a /\ L' = [L EXCEPT ![p] = o.l]
At(p, pc)   == L[p].pc = pc

(********************************** Epochs *********************************)
\* A node retired in epoch E is free in epoch E + Grace.
Grace == 2
\* The epoch in which a process retires what it has unlinked: that after the unlinking, not the one pinned.
RetiredIn(a, p) == a.epoch
\* The first process whose pin is looked at.
FirstPin == 1
\* The pin must be visible to all before the first read that it protects: an exchange.
PublishPin(a, p, e) == [a EXCEPT !.pin[p] = e]
\* Retire the nodes X in epoch e.
Retire(a, p, X, e) ==
    [a EXCEPT !.limbo[p] = @ \cup {<<x, e>> : x \in X},
              !.twice = @ \/ \E x \in X : IsFree(a, x) \/ (~IsFree(a, x) /\ a.node[x].retired),
              !.node = [x \in 1..Size |-> IF x \in X /\ ~IsFree(a, x) THEN [@[x] EXCEPT !.retired = TRUE] ELSE @[x]]]
\* In epoch e: free what this process has retired long enough ago.
Reclaim(a, p, e) ==
    LET X == {y \in a.limbo[p] : y[2] + Grace <= e}
    IN  IF X = {} THEN a ELSE [FreeAll(a, {y[1] : y \in X}) EXCEPT !.limbo[p] = @ \ X]

\* Read EPOCH.
PinLoad(p) == LET l == L[p] IN At(p, "PinLoad") /\
    Apply(p, Goto(arena, [l EXCEPT !.e = arena.epoch], "PinPublish"))
\* Exchange PIN: from 0 to the epoch read.
PinPublish(p) == LET l == L[p] IN At(p, "PinPublish") /\
    Apply(p, Goto(PublishPin(arena, p, l.e), [l EXCEPT !.pinned = TRUE, !.e = 0, !.next = ""], l.next))
\* Store 0 to PIN; the operation returns.
Unpin(p) == At(p, "Unpin") /\ Apply(p, Out([arena EXCEPT !.pin[p] = 0, !.buffer[p] = 0], Begin(L[p])))
\* The store buffer of p drains.  An exchange leaves nothing in it.
Drain(p) == arena.buffer[p] # 0 /\ Apply(p, Out([arena EXCEPT !.pin[p] = arena.buffer[p], !.buffer[p] = 0], L[p]))
\* Read EPOCH after the nodes were unlinked, and retire them in that epoch.
RetireReadEpoch(p) == LET l == L[p] IN At(p, "RetireReadEpoch") /\
    Apply(p, RetireAll(Retire(arena, p, l.limb, RetiredIn(arena, p)), [l EXCEPT !.limb = {}]))
\* Read EPOCH to advance it; free what is old enough.
AdvanceLoad(p) == LET l == L[p] IN At(p, "AdvanceLoad") /\
    Apply(p, Goto(Reclaim(arena, p, arena.epoch), [l EXCEPT !.e = arena.epoch, !.j = FirstPin], "AdvanceScan"))
\* Read one PIN: give up if it is set to another epoch.
AdvanceScan(p) == LET l == L[p]  q == arena.pin[ProcSeq[l.j]] IN At(p, "AdvanceScan") /\
    Apply(p, IF q # 0 /\ q # l.e THEN Goto(arena, [l EXCEPT !.e = 0, !.j = 0], "Done")
             ELSE IF l.j < Cardinality(Procs) THEN Out(arena, [l EXCEPT !.j = @ + 1])
             ELSE Goto(arena, [l EXCEPT !.j = 0], "AdvanceCas"))
\* CAS EPOCH: e to e + 1; free what is old enough then.
AdvanceCas(p) == LET l == L[p] IN At(p, "AdvanceCas") /\
    Apply(p, Goto(IF arena.epoch = l.e THEN Reclaim([arena EXCEPT !.epoch = @ + 1], p, l.e + 1) ELSE arena,
                  [l EXCEPT !.e = 0], "Done"))
EpochStep(p) == \/ PinLoad(p) \/ PinPublish(p) \/ Unpin(p) \/ Drain(p) \/ RetireReadEpoch(p)
                \/ AdvanceLoad(p) \/ AdvanceScan(p) \/ AdvanceCas(p)
=============================================================================
