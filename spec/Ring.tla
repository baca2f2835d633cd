-------------------------------- MODULE Ring --------------------------------
(***************************************************************************)
(* The bounded queue for many producers and consumers of D. Vyukov         *)
(* ("Bounded MPMC queue", 2010) at one shared-memory access per step.      *)
(*                                                                         *)
(* Positions count up for ever; position k is in cell k % Capacity.  The   *)
(* sequence number of that cell says whose turn it is:                     *)
(*    k             whoever puts at position k may write,                  *)
(*    k + 1         whoever gets at position k may read.                   *)
(* A put or get claims its position by a CAS and, when it is done with the *)
(* cell, passes the turn.  In between the cell is nobody else's.           *)
(*                                                                         *)
(* When it is not yet the turn for its position, a put finds the queue     *)
(* full and a get finds it empty, or so it seems: what then is left to the *)
(* modules RingWeak and RingStrict, the parameter Seems of two actions.    *)
(***************************************************************************)
EXTENDS SequentialQueue

CONSTANT Judged(_, _, _)      \* what an operation may do: StrictOutcomes or WeakOutcomes
INSTANCE Linearizability WITH Outcomes <- Judged

CONSTANTS Program,    \* process -> sequence of menus (sets of operations), one for each operation in turn
          Initially   \* the values in the queue at the start
Procs == DOMAIN Program

VARIABLES enq,   \* the next position to put at
          deq,   \* the next position to get from
          cell,  \* [seq, val] of each cell
          L,     \* the registers of each process
          at,    \* at[p]: the index of the menu of p's next operation
          M      \* the linearizability tracker
vars == <<enq, deq, cell, L, at, M>>

Idle == [pc |-> "idle", op |-> NoOp,
         pos |-> 0,      \* the position
         val |-> 0]      \* the value read
CellOf(l) == l.pos % Capacity
Turn(l)   == cell[CellOf(l)].seq

\* A step yields the new registers, and whether the operation returns, with which answer.
Goto(l, pc)  == [l |-> [l EXCEPT !.pc = pc], ret |-> FALSE, v |-> 0]
Return(v)    == [l |-> Idle, ret |-> TRUE, v |-> v]
First(op)    == IF op.op = "put" THEN "PutReadPosition" ELSE "GetReadPosition"
Position(op) == IF op.op = "put" THEN enq ELSE deq
\* The position has been read, at the start or again.
Located(l)   == Goto([l EXCEPT !.pos = Position(l.op)], IF l.op.op = "put" THEN "PutReadTurn" ELSE "GetReadTurn")
Again(l)     == Goto([Idle EXCEPT !.op = l.op], First(l.op))

\* What a put and a get do with a cell of theirs, in this order.
PutSteps == <<"PutWrite", "PutPublish">>
GetSteps == <<"GetRead", "GetRelease">>
Then(l, steps, v) == IF l.pc = steps[1] THEN Goto(l, steps[2]) ELSE Return(v)
\* Claiming a position is a CAS that expects it.
IsNext(l) == Position(l.op) = l.pos
\* What a put does when another was faster to claim its position.
PutLost(l) == Again(l)

Apply(p, o) == /\ L' = [L EXCEPT ![p] = o.l]
               /\ M' = IF o.ret THEN Returned(M, p, o.v) ELSE M
               /\ UNCHANGED at
At(p, pc) == L[p].pc = pc

(* put *)
\* Read the position again.
PutReadPosition(p) == At(p, "PutReadPosition") /\ UNCHANGED <<enq, deq, cell>> /\ Apply(p, Located(L[p]))
\* Read the sequence number of the cell.
PutReadTurn(p, Seems(_)) == LET l == L[p] IN At(p, "PutReadTurn") /\ UNCHANGED <<enq, deq, cell>> /\
    Apply(p, IF Turn(l) = l.pos THEN Goto(l, "PutClaim") ELSE IF Turn(l) < l.pos THEN Seems(l) ELSE Again(l))
\* CAS enq: claim the position.
PutClaim(p) == LET l == L[p] IN At(p, "PutClaim") /\ UNCHANGED <<deq, cell>> /\
    IF IsNext(l) THEN enq' = l.pos + 1 /\ Apply(p, Goto(l, PutSteps[1])) ELSE UNCHANGED enq /\ Apply(p, PutLost(l))
\* Write the value into the cell.
PutWrite(p) == LET l == L[p] IN At(p, "PutWrite") /\ UNCHANGED <<enq, deq>> /\
    cell' = [cell EXCEPT ![CellOf(l)].val = l.op.val] /\ Apply(p, Then(l, PutSteps, 1))
\* Write the sequence number: whoever gets may read.
PutPublish(p) == LET l == L[p] IN At(p, "PutPublish") /\ UNCHANGED <<enq, deq>> /\
    cell' = [cell EXCEPT ![CellOf(l)].seq = l.pos + 1] /\ Apply(p, Then(l, PutSteps, 1))

(* get *)
\* Read the position again.
GetReadPosition(p) == At(p, "GetReadPosition") /\ UNCHANGED <<enq, deq, cell>> /\ Apply(p, Located(L[p]))
\* Read the sequence number of the cell.
GetReadTurn(p, Seems(_)) == LET l == L[p] IN At(p, "GetReadTurn") /\ UNCHANGED <<enq, deq, cell>> /\
    Apply(p, IF Turn(l) = l.pos + 1 THEN Goto(l, "GetClaim") ELSE IF Turn(l) < l.pos + 1 THEN Seems(l) ELSE Again(l))
\* CAS deq: claim the position.
GetClaim(p) == LET l == L[p] IN At(p, "GetClaim") /\ UNCHANGED <<enq, cell>> /\
    IF IsNext(l) THEN deq' = l.pos + 1 /\ Apply(p, Goto(l, GetSteps[1])) ELSE UNCHANGED deq /\ Apply(p, Again(l))
\* Read the value in the cell.
GetRead(p) == LET l == L[p]  v == cell[CellOf(l)].val IN At(p, "GetRead") /\ UNCHANGED <<enq, deq, cell>> /\
    Apply(p, Then([l EXCEPT !.val = v], GetSteps, v))
\* Write the sequence number: whoever puts one round later may write.
GetRelease(p) == LET l == L[p] IN At(p, "GetRelease") /\ UNCHANGED <<enq, deq>> /\
    cell' = [cell EXCEPT ![CellOf(l)].seq = l.pos + Capacity] /\ Apply(p, Then(l, GetSteps, l.val))

(* Invocation, with the first read of the position. *)
Invoke(p) ==
    /\ At(p, "idle") /\ at[p] <= Len(Program[p]) /\ UNCHANGED <<enq, deq, cell>>
    /\ \E op \in Program[p][at[p]] :
         /\ L' = [L EXCEPT ![p] = Located([Idle EXCEPT !.op = op]).l]
         /\ M' = Close(M, L')
    /\ at' = [at EXCEPT ![p] = @ + 1]

PutStep(p, Seems(_)) == PutReadPosition(p) \/ PutReadTurn(p, Seems) \/ PutClaim(p) \/ PutWrite(p) \/ PutPublish(p)
GetStep(p, Seems(_)) == GetReadPosition(p) \/ GetReadTurn(p, Seems) \/ GetClaim(p) \/ GetRead(p) \/ GetRelease(p)

Quiet == \A p \in Procs : L[p].pc = "idle"
Terminating == Quiet /\ (\A p \in Procs : at[p] > Len(Program[p])) /\ UNCHANGED vars

Init == /\ enq = Len(Initially)
        /\ deq = 0
        /\ cell = [k \in 0..(Capacity - 1) |-> IF k < Len(Initially) THEN [seq |-> k + 1, val |-> Initially[k + 1]]
                                               ELSE [seq |-> k, val |-> 0]]
        /\ L = [p \in Procs |-> Idle]
        /\ at = [p \in Procs |-> 1]
        /\ M = {[s |-> Initially, r |-> [p \in Procs |-> <<>>]]}

(******************************* Properties ********************************)
Linearizable == M # {}
\* Never more values than there is room for, nor fewer than none.
Bounded == deq <= enq /\ enq <= deq + Capacity
\* A claimed cell is used by one process.
Claimed   == {p \in Procs : L[p].pc \in {"PutWrite", "PutPublish", "GetRead", "GetRelease"}}
Exclusive == \A p, q \in Claimed : p # q => CellOf(L[p]) # CellOf(L[q])
\* When nobody is at work the cells hold a queue that explains the history.
QuiescentAgree == Quiet => \E c \in M : c.s = [k \in 1..(enq - deq) |-> cell[(deq + k - 1) % Capacity].val]

\* Some operation returns again and again, as long as steps are taken.
Answered == \E p \in Procs : L[p].pc # "idle" /\ L'[p].pc = "idle"
LockFree == []<><<TRUE>>_vars => []<><<Answered>>_vars

\* A state in a few words (latchfree spec --alias).
Alias == [next      |-> [p \in Procs |-> <<L[p].op.op, L[p].pc, L[p].pos>>],
          put_at    |-> enq,
          get_at    |-> deq,
          cells     |-> [c \in DOMAIN cell |-> <<cell[c].seq, cell[c].val>>],
          explained |-> Cardinality(M)]
=============================================================================
