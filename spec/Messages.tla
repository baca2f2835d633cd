------------------------------ MODULE Messages -------------------------------
(***************************************************************************)
(* Whose a block of a message is.                                          *)
(*                                                                         *)
(* A put takes a free block, writes the message into it, and puts the      *)
(* number of the block into a ring.  A get takes a number out of the ring, *)
(* reads the message, and frees the block.  The ring is ended while others *)
(* use it: from then on calls are refused; when nobody is in a call any    *)
(* more, the blocks that are still in it are freed.                        *)
(*                                                                         *)
(* Taking, putting, getting and freeing are compiled calls.  Between two   *)
(* of them a signal handler may raise (Interrupt): the operation goes on   *)
(* to its end, which frees what it still has.  Or the handler forks: the   *)
(* child has a copy of what its parent had, and must leave it alone.  A    *)
(* process may be killed at any step; what it had is lost, until a repair. *)
(*                                                                         *)
(* The promise: every block is in one place (OnePlace), a get reads what   *)
(* was put at its position, and nobody touches a ring that is freed        *)
(* (NothingWrong).  In the end nothing is lost but what the dead had       *)
(* (GivenBack).                                                            *)
(*                                                                         *)
(* The claims and turns of cells are those of Ring.tla; a put that finds   *)
(* the ring full, or a get that finds it empty, is refused.                *)
(* In code: impl/latchfree/streams/kernels/payload.py, handing_over.py and *)
(* roster.py; impl/latchfree/streams/blocks.py.                            *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANTS Program,   \* process -> sequence of operations
          Capacity,  \* cells of the ring
          Blocks,    \* the numbers of the blocks, from 1 on
          Mortal,    \* processes that may be killed
          Startled,  \* processes whose handlers may raise
          Child      \* who may be forked in the midst of a call; its program is empty
Procs == DOMAIN Program
None  == 0
Freed == "freed"     \* what is in a free block: nothing that anybody wrote for a reader

Put(m) == [op |-> "put", msg |-> m]
Get    == [op |-> "get", msg |-> Freed]
End    == [op |-> "end", msg |-> Freed]

VARIABLES free,      \* the free blocks
          content,   \* block -> message
          ring,      \* enq, deq, cell (turn and val), open, freed
          put,       \* position -> the message put there (history)
          L,         \* the registers of each process
          at,        \* at[p]: the index of p's next operation
          dead,      \* the processes that were killed
          wrong      \* what went wrong (history)
vars == <<free, content, ring, put, L, at, dead, wrong>>

Idle == [pc |-> "idle", op |-> Get, own |-> None, pos |-> 0, inside |-> FALSE, waits |-> {}, copied |-> FALSE]
At(p, pc) == L[p].pc = pc /\ p \notin dead /\ ~L[p].copied
Go(p, pc) == [L EXCEPT ![p].pc = pc]
Done(p)   == L' = [L EXCEPT ![p] = Idle] /\ at' = [at EXCEPT ![p] = @ + 1]
CellOf(n) == n % Capacity
Cell(p)   == ring.cell[CellOf(L[p].pos)]
Touches(what) == wrong' = IF ring.freed THEN wrong \cup {what} ELSE wrong

Invoke(p) == /\ At(p, "idle") /\ at[p] <= Len(Program[p])
             /\ LET o == Program[p][at[p]] IN
                L' = [L EXCEPT ![p] = [Idle EXCEPT !.op = o,
                        !.pc = CASE o.op = "put" -> "Take" [] o.op = "get" -> "Enter" [] OTHER -> "Close"]]
             /\ UNCHANGED <<free, content, ring, put, at, dead, wrong>>

(* A put. *)
Take(p) == /\ At(p, "Take")
           /\ IF free = {} THEN Done(p) /\ UNCHANGED free
              ELSE LET b == CHOOSE b \in free : \A c \in free : b <= c IN
                   /\ free' = free \ {b}
                   /\ L' = [L EXCEPT ![p].own = b, ![p].pc = "Write"]
                   /\ UNCHANGED at
           /\ UNCHANGED <<content, ring, put, dead, wrong>>
Write(p) == /\ At(p, "Write")
            /\ content' = [content EXCEPT ![L[p].own] = L[p].op.msg]
            /\ L' = Go(p, "Enter")
            /\ UNCHANGED <<free, ring, put, at, dead, wrong>>
\* Pinned, then the number of the ring is read.
Enter(p) == /\ At(p, "Enter")
            /\ L' = [L EXCEPT ![p].inside = ring.open,
                              ![p].pc = IF ~ring.open THEN "Free" ELSE IF L[p].op.op = "put" THEN "PutClaim" ELSE "GetClaim"]
            /\ UNCHANGED <<free, content, ring, put, at, dead, wrong>>
Refused(p) == L' = [L EXCEPT ![p].inside = FALSE, ![p].pc = "Free"] /\ UNCHANGED ring
PutClaim(p) == /\ At(p, "PutClaim") /\ Touches("claim")
               /\ LET full == ring.enq - ring.deq = Capacity IN
                  IF full THEN Refused(p)
                  ELSE /\ ring.cell[CellOf(ring.enq)].turn = ring.enq
                       /\ ring' = [ring EXCEPT !.enq = @ + 1]
                       /\ L' = [L EXCEPT ![p].pos = ring.enq, ![p].pc = "PutWrite"]
               /\ UNCHANGED <<free, content, put, at, dead>>
PutWrite(p) == /\ At(p, "PutWrite") /\ Touches("fill")
               /\ ring' = [ring EXCEPT !.cell[CellOf(L[p].pos)].val = L[p].own]
               /\ L' = Go(p, "PutPublish")
               /\ UNCHANGED <<free, content, put, at, dead>>
\* What the array of the caller has when the compiled put is over.
Left(p) == None
PutPublish(p) == /\ At(p, "PutPublish") /\ Touches("publish")
                 /\ ring' = [ring EXCEPT !.cell[CellOf(L[p].pos)].turn = L[p].pos + 1]
                 /\ put' = put @@ (L[p].pos :> L[p].op.msg)
                 /\ L' = [L EXCEPT ![p].own = Left(p), ![p].inside = FALSE, ![p].pc = "Returned"]
                 /\ UNCHANGED <<free, content, at, dead>>
\* Python sees what the put has returned.
Returned(p) == /\ At(p, "Returned")
               /\ L' = [L EXCEPT ![p].own = None, ![p].pc = "Free"]
               /\ UNCHANGED <<free, content, ring, put, at, dead, wrong>>

(* A get. *)
GetClaim(p) == /\ At(p, "GetClaim") /\ Touches("claim")
               /\ IF ring.enq = ring.deq THEN Refused(p)
                  ELSE /\ ring.cell[CellOf(ring.deq)].turn = ring.deq + 1
                       /\ ring' = [ring EXCEPT !.deq = @ + 1]
                       /\ L' = [L EXCEPT ![p].pos = ring.deq, ![p].pc = "GetRead"]
               /\ UNCHANGED <<free, content, put, at, dead>>
GetRead(p) == /\ At(p, "GetRead") /\ Touches("drain")
              /\ L' = [L EXCEPT ![p].own = Cell(p).val, ![p].pc = "GetRelease"]
              /\ UNCHANGED <<free, content, ring, put, at, dead>>
GetRelease(p) == /\ At(p, "GetRelease") /\ Touches("release")
                 /\ ring' = [ring EXCEPT !.cell[CellOf(L[p].pos)].turn = L[p].pos + Capacity]
                 /\ L' = [L EXCEPT ![p].inside = FALSE, ![p].pc = "Read"]
                 /\ UNCHANGED <<free, content, put, at, dead>>
Read(p) == /\ At(p, "Read")
           /\ wrong' = IF content[L[p].own] # put[L[p].pos] THEN wrong \cup {"read"} ELSE wrong
           /\ L' = Go(p, "Free")
           /\ UNCHANGED <<free, content, ring, put, at, dead>>

(* The end of a put or get, whatever became of it. *)
Free(p) == /\ At(p, "Free")
           /\ IF L[p].own = None THEN UNCHANGED <<free, content, wrong>>
              ELSE /\ wrong' = IF L[p].own \in free THEN wrong \cup {"free"} ELSE wrong
                   /\ free' = free \cup {L[p].own}
                   /\ content' = [content EXCEPT ![L[p].own] = Freed]
           /\ Done(p)
           /\ UNCHANGED <<ring, put, dead>>

(* The owner ends the ring. *)
Awaited(p) == {q \in Procs \ {p} : L[q].inside}
Close(p) == /\ At(p, "Close")
            /\ ring' = [ring EXCEPT !.open = FALSE]
            /\ L' = Go(p, "LookWho")
            /\ UNCHANGED <<free, content, put, at, dead, wrong>>
LookWho(p) == /\ At(p, "LookWho")
              /\ L' = [L EXCEPT ![p].waits = Awaited(p), ![p].pc = "Grace"]
              /\ UNCHANGED <<free, content, ring, put, at, dead, wrong>>
Grace(p) == /\ At(p, "Grace") /\ \A q \in L[p].waits : ~L[q].inside
            /\ L' = Go(p, "FreeLeft")
            /\ UNCHANGED <<free, content, ring, put, at, dead, wrong>>
\* The positions whose blocks are the ring's: those between the counters that have the turn of a get.
HasTurn(n) == ring.cell[CellOf(n)].turn = n + 1
Unread == {n \in ring.deq..(ring.enq - 1) : HasTurn(n)}
FreeLeft(p) == /\ At(p, "FreeLeft")
               /\ LET B == {ring.cell[CellOf(n)].val : n \in Unread} \ {None} IN
                  /\ wrong' = IF B \cap free # {} \/ Cardinality(B) # Cardinality(Unread) THEN wrong \cup {"free"} ELSE wrong
                  /\ free' = free \cup B
                  /\ content' = [b \in Blocks |-> IF b \in B THEN Freed ELSE content[b]]
               /\ ring' = [ring EXCEPT !.freed = TRUE]
               /\ Done(p)
               /\ UNCHANGED <<put, dead>>

(* What happens to processes. *)
Python == {"Enter", "Returned", "Read"}      \* where a compiled call has just ended
Interrupt(p) == /\ p \in Startled /\ L[p].pc \in Python /\ At(p, L[p].pc) /\ ~L[p].inside
                /\ L' = Go(p, "Free")
                /\ UNCHANGED <<free, content, ring, put, at, dead, wrong>>
Unborn(c) == At(c, "idle") /\ at[c] = 1 /\ Program[c] = <<>>
Fork(p, c) == /\ p # c /\ c \in Child /\ Unborn(c) /\ L[p].pc \in Python /\ At(p, L[p].pc)
              /\ L' = [L EXCEPT ![c] = [L[p] EXCEPT !.copied = TRUE]]
              /\ at' = [at EXCEPT ![c] = 2]
              /\ UNCHANGED <<free, content, ring, put, dead, wrong>>
\* The next call of a child finds that the blocks are the parent's, and raises.
Raise(c) == /\ L[c].copied /\ c \notin dead
            /\ L' = [L EXCEPT ![c] = Idle]
            /\ UNCHANGED <<free, content, ring, put, at, dead, wrong>>
Kill(p) == /\ p \in Mortal \ dead /\ L[p].pc # "idle"
           /\ dead' = dead \cup {p}
           /\ UNCHANGED <<free, content, ring, put, L, at, wrong>>
\* The participant of a dead process is released: it is in no call.
Adopt(p) == /\ p \in dead /\ L[p].inside
            /\ L' = [L EXCEPT ![p].inside = FALSE]
            /\ UNCHANGED <<free, content, ring, put, at, dead, wrong>>

Step(p) == \/ Take(p) \/ Write(p) \/ Enter(p) \/ PutClaim(p) \/ PutWrite(p) \/ PutPublish(p) \/ Returned(p)
           \/ GetClaim(p) \/ GetRead(p) \/ GetRelease(p) \/ Read(p) \/ Free(p)
           \/ Close(p) \/ LookWho(p) \/ Grace(p) \/ FreeLeft(p)
Ended(p) == p \in dead \/ (L[p].pc = "idle" /\ at[p] > Len(Program[p]))
\* Whoever waits for a cell that a dead process has claimed is helped by the mender of RingCrash.tla, who is not here.
Stuck(p) == dead # {} /\ L[p].pc \in {"PutClaim", "GetClaim", "Grace"}
Terminating == (\A p \in Procs : Ended(p) \/ Stuck(p)) /\ UNCHANGED vars
Init == /\ free = Blocks
        /\ content = [b \in Blocks |-> Freed]
        /\ ring = [enq |-> 0, deq |-> 0, open |-> TRUE, freed |-> FALSE,
                   cell |-> [k \in 0..(Capacity - 1) |-> [turn |-> k, val |-> None]]]
        /\ put = <<>>
        /\ L = [p \in Procs |-> Idle]
        /\ at = [p \in Procs |-> 1]
        /\ dead = {}
        /\ wrong = {}
Next == \/ \E p \in Procs : Invoke(p) \/ Step(p) \/ Interrupt(p) \/ Raise(p) \/ Kill(p) \/ Adopt(p) \/ \E c \in Child : Fork(p, c)
        \/ Terminating
Spec == Init /\ [][Next]_vars

(* Properties. *)
Has(p, b) == L[p].own = b /\ ~L[p].copied
Gets(p, b) == L[p].pc = "GetRead" /\ Cell(p).val = b
InRing(b) == {n \in ring.deq..(ring.enq - 1) : ~ring.freed /\ ring.cell[CellOf(n)] = [turn |-> n + 1, val |-> b]}
Places(b) == {<<"free", 0>> : x \in {y \in free : y = b}} \cup {<<"ring", n>> : n \in InRing(b)}
             \cup {<<"own", p>> : p \in {q \in Procs : Has(q, b)}} \cup {<<"cell", p>> : p \in {q \in Procs : Gets(q, b)}}
OnePlace == \A b \in Blocks : Cardinality(Places(b)) = 1
NothingWrong == wrong = {}
GivenBack == (dead = {} /\ ring.freed /\ \A p \in Procs : Ended(p)) => free = Blocks

\* A state in a few words (latchfree spec --alias).
Alias == [next   |-> [p \in Procs |-> <<L[p].op.op, L[p].pc, L[p].own, L[p].pos>>],
          put_at |-> ring.enq,
          get_at |-> ring.deq,
          cells  |-> ring.cell,
          free   |-> free,
          dead   |-> dead,
          wrong  |-> wrong]
=============================================================================
