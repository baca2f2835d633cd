----------------------------- MODULE RingCrash ------------------------------
(***************************************************************************)
(* The strict ring, whose processes may be killed at any step.             *)
(*                                                                         *)
(* A process announces a cell before it claims it, and withdraws the       *)
(* announcement when its operation is over.  Who adopts what a dead        *)
(* process has left withdraws its announcement.  So a cell that is claimed *)
(* and not passed on, and that nobody announces, is nobody's.  A mender    *)
(* passes on such cells:                                                   *)
(*  - one that a dead get has claimed: as that get would have;             *)
(*  - one that a dead put has claimed becomes a hole, by a turn that is    *)
(*    far behind.  A get that finds a hole claims its position, passes on  *)
(*    the cell and tries again.                                            *)
(* It looks at the next position to get from, and at the cell of the next  *)
(* position to put at, for others wait at no other cells.                  *)
(*                                                                         *)
(* What a dead process was about to put or get may be lost: at the instant *)
(* when a get claims its hole, a value that a dead put has put vanishes.   *)
(* Nothing else does.                                                      *)
(***************************************************************************)
EXTENDS RingStrict

CONSTANTS Mortal,    \* the processes that may be killed
          Mends      \* whether there is a mender

VARIABLES announced, \* announced[p]: a cell, or Nowhere
          dead,      \* the processes that were killed
          R          \* the registers of the mender
crashVars == <<enq, deq, cell, L, at, M, announced, dead, R>>
ring == <<enq, deq, cell, L, at, M>>

Nowhere == -1
Far     == 100
Hole(k) == k - Far
Resting == [pc |-> "MendReadPosition", what |-> "put", pos |-> 0, turn |-> 0, unseen |-> {}]

\* What must have been done before a claim.
IsAnnounced(p) == announced[p] = CellOf(L[p])
Claiming == {"PutClaim", "GetClaim", "SkipClaim"}
Announce(p) == L[p].pc \in Claiming /\ ~IsAnnounced(p) /\ announced' = [announced EXCEPT ![p] = CellOf(L[p])] /\ UNCHANGED ring
Withdraw(p) == At(p, "idle") /\ announced[p] # Nowhere /\ announced' = [announced EXCEPT ![p] = Nowhere] /\ UNCHANGED ring

CrashSeems(l) == IF l.op.op = "get" /\ Turn(l) = Hole(l.pos) THEN Goto(l, "SkipClaim") ELSE Seems(l)

\* The value of the dead put at a position is gone: from the queue, if it was in, and nobody will put it.
Vanished(S, d) == {IF c.r[d] = <<1>> THEN [c EXCEPT !.s = Tail(@)] ELSE c :
                   c \in {x \in S : x.r[d] = <<1>> => x.s # <<>> /\ Head(x.s) = L[d].op.val}}
\* CAS deq: claim a hole.
SkipClaim(p) == LET l == L[p] IN At(p, "SkipClaim") /\ UNCHANGED <<enq, cell, at>> /\
    IF deq = l.pos
    THEN LET D == {q \in dead : L[q].pc \in {"PutWrite", "PutPublish"} /\ L[q].pos = l.pos}
         IN  /\ deq' = l.pos + 1
             /\ L' = [q \in Procs |-> IF q = p THEN [L[q] EXCEPT !.pc = "SkipRelease"]
                                      ELSE IF q \in D THEN [L[q] EXCEPT !.op = NoOp] ELSE L[q]]
             \* Never that of a living one. What is pending may take effect from here on, so M is closed again.
             /\ M' = IF D = {} THEN {} ELSE Close(Vanished(M, CHOOSE d \in D : TRUE), L')
    ELSE UNCHANGED <<deq, M>> /\ L' = [L EXCEPT ![p] = Again(l).l]
\* Pass on the cell, and try again.
SkipRelease(p) == LET l == L[p] IN At(p, "SkipRelease") /\ UNCHANGED <<enq, deq>> /\
    cell' = [cell EXCEPT ![CellOf(l)].seq = l.pos + Capacity] /\ Apply(p, Again(l))

(* The mender. *)
AfterTurn    == "MendReadCounter"
AfterCounter == "MendScan"
AfterScan    == "MendCas"
Mender(pc) == Mends /\ R.pc = pc
Over == [Resting EXCEPT !.what = IF R.what = "put" THEN "get" ELSE "put"]
Mends1(r) == R' = r /\ UNCHANGED <<announced, dead>>
MendReadPosition == Mender("MendReadPosition") /\ UNCHANGED ring /\
    LET pos == IF R.what = "put" THEN deq ELSE enq - Capacity
    IN  Mends1(IF pos < 0 THEN Over ELSE [R EXCEPT !.pc = "MendReadTurn", !.pos = pos])
MendReadTurn == Mender("MendReadTurn") /\ UNCHANGED ring /\
    LET turn == cell[CellOf(R)].seq
        held == IF R.what = "put" THEN {R.pos} ELSE {R.pos + 1, Hole(R.pos)}
    IN  Mends1(IF turn \in held THEN [R EXCEPT !.pc = AfterTurn, !.turn = turn, !.unseen = Procs] ELSE Over)
MendReadCounter == Mender("MendReadCounter") /\ UNCHANGED ring /\
    Mends1(IF (IF R.what = "put" THEN enq ELSE deq) > R.pos THEN [R EXCEPT !.pc = AfterCounter] ELSE Over)
\* Look at one announcement after the other.
MendScan == Mender("MendScan") /\ UNCHANGED ring /\
    IF R.unseen = {} THEN Mends1([R EXCEPT !.pc = AfterScan])
    ELSE LET q == CHOOSE q \in R.unseen : TRUE
         IN  Mends1(IF announced[q] = CellOf(R) THEN Over ELSE [R EXCEPT !.unseen = @ \ {q}])
Swing(seq) == IF cell[CellOf(R)].seq = R.turn THEN cell' = [cell EXCEPT ![CellOf(R)].seq = seq] ELSE UNCHANGED cell
\* CAS: make a hole.
MendHole == Mender("MendCas") /\ R.what = "put" /\ UNCHANGED <<enq, deq, L, at, M>> /\ Swing(Hole(R.pos)) /\ Mends1(Over)
\* CAS: pass on the cell.
MendRelease == Mender("MendCas") /\ R.what = "get" /\ UNCHANGED <<enq, deq, L, at, M>> /\ Swing(R.pos + Capacity) /\ Mends1(Over)
Mend == MendReadPosition \/ MendReadTurn \/ MendReadCounter \/ MendScan \/ MendHole \/ MendRelease

Kill(p) == p \in Mortal \ dead /\ ~At(p, "idle") /\ dead' = dead \cup {p} /\ UNCHANGED <<ring, announced, R>>
Adopt(p) == p \in dead /\ announced[p] # Nowhere /\ announced' = [announced EXCEPT ![p] = Nowhere] /\ UNCHANGED <<ring, dead, R>>

\* A claim waits for its announcement, an invocation for the withdrawal of the last one.
Ready(p) == /\ L[p].pc \in Claiming => IsAnnounced(p)
            /\ At(p, "idle") => announced[p] = Nowhere
CrashStep(p) == /\ p \notin dead /\ UNCHANGED <<dead, R>>
                /\ \/ Announce(p) \/ Withdraw(p)
                   \/ /\ Ready(p) /\ UNCHANGED announced
                      /\ \/ Invoke(p) \/ PutStep(p, CrashSeems) \/ GetStep(p, CrashSeems) \/ PutCheckFull(p)
                         \/ GetCheckEmpty(p) \/ SkipClaim(p) \/ SkipRelease(p)
Ended == \A p \in Procs : p \in dead \/ (At(p, "idle") /\ at[p] > Len(Program[p]) /\ announced[p] = Nowhere)
CrashInit == Init /\ announced = [p \in Procs |-> Nowhere] /\ dead = {} /\ R = Resting
CrashNext == (\E p \in Procs : CrashStep(p) \/ Kill(p) \/ Adopt(p)) \/ Mend \/ (Ended /\ UNCHANGED crashVars)
CrashSpec == CrashInit /\ [][CrashNext]_crashVars
CrashFair == CrashSpec /\ WF_crashVars(Mend) /\ \A p \in Procs : WF_crashVars(CrashStep(p)) /\ WF_crashVars(Adopt(p))

(******************************* Properties ********************************)
\* A claimed cell is used by one living process.
ExclusiveAlive == \A p, q \in Claimed \ dead : p # q => CellOf(L[p]) # CellOf(L[q])
\* Whoever lives comes to the end of the program.
NoWedge == <>Ended
=============================================================================
