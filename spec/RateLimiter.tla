---------------------------- MODULE RateLimiter -----------------------------
(***************************************************************************)
(* A token bucket in one word: the time at which the bucket will be full.  *)
(* (The generic cell rate algorithm, ITU-T I.371, 1993.)                   *)
(*                                                                         *)
(* Whoever wants n tokens reads the clock, reads the word, and exchanges   *)
(* the word by compare-and-swap if the tokens are there.  Who finds too    *)
(* few reads the clock once more: the word can only have grown, so what is *)
(* refused by the second look was refused by the bucket at that instant.   *)
(*                                                                         *)
(* The sequential object is a number of tokens: a tick of the clock adds   *)
(* one, up to Burst; an operation takes n or says FALSE.  Linearizability  *)
(* therefore says both: never too many are granted, and no refusal is      *)
(* wrong.  A token comes in with each tick; in code, every COST ticks.     *)
(*                                                                         *)
(* In code: `take` of impl/latchfree/limiting/kernels/bucket.py, and       *)
(* `_lacking` of impl/latchfree/limiting/limiter.py.                       *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANTS Program,   \* process -> sequence of operations
          Burst      \* tokens that the bucket holds
Procs == DOMAIN Program

Acquire(n) == [op |-> "acquire", n |-> n]
Tick       == [op |-> "tick", n |-> 0]
NoOp       == [op |-> "none", n |-> 0]
Max(x, y) == IF x > y THEN x ELSE y
Min(x, y) == IF x < y THEN x ELSE y
BucketOutcomes(Regs, p, s) ==
    LET o == Regs[p].op IN
    IF o.op = "tick" THEN {[s |-> Min(Burst, s + 1), v |-> TRUE]}
    ELSE IF s >= o.n THEN {[s |-> s - o.n, v |-> TRUE]} ELSE {[s |-> s, v |-> FALSE]}
INSTANCE Linearizability WITH Outcomes <- BucketOutcomes

VARIABLES word,    \* when the bucket will be full
          clock,   \* the time
          L,       \* the registers of each process
          at,      \* at[p]: the index of p's next operation
          M        \* the linearizability tracker
vars == <<word, clock, L, at, M>>

Idle == [pc |-> "idle", op |-> NoOp, now |-> 0, seen |-> 0]
At(p, pc)    == L[p].pc = pc
Go(p, pc)    == L' = [L EXCEPT ![p].pc = pc]
Answer(p, v) == /\ L' = [L EXCEPT ![p] = Idle]
                /\ at' = [at EXCEPT ![p] = @ + 1]
                /\ M' = Returned(M, p, v)
Refuses(seen, n, now) == Max(seen, now) + n > now + Burst
Taken(seen, n, now)   == Max(seen, now) + n

\* An operation begins.
Invoke(p) == /\ At(p, "idle") /\ at[p] <= Len(Program[p])
             /\ LET o == Program[p][at[p]] IN
                L' = [L EXCEPT ![p].pc = IF o.op = "tick" THEN "Advance" ELSE "ReadClock", ![p].op = o]
             /\ M' = Close(M, L')
             /\ UNCHANGED <<word, clock, at>>
\* Time goes on.
Advance(p) == At(p, "Advance") /\ clock' = clock + 1 /\ Answer(p, TRUE) /\ UNCHANGED word
ReadClock(p) == /\ At(p, "ReadClock")
                /\ L' = [L EXCEPT ![p].pc = "Look", ![p].now = clock]
                /\ UNCHANGED <<word, clock, at, M>>
Look(p) == /\ At(p, "Look")
           /\ L' = [L EXCEPT ![p].seen = word,
                             ![p].pc = IF Refuses(word, L[p].op.n, L[p].now) THEN "LookAgain" ELSE "Swap"]
           /\ UNCHANGED <<word, clock, at, M>>
\* Compare-and-swap.
Swap(p) == /\ At(p, "Swap")
           /\ IF word = L[p].seen
              THEN word' = Taken(L[p].seen, L[p].op.n, L[p].now) /\ Answer(p, TRUE)
              ELSE Go(p, "Look") /\ UNCHANGED <<word, at, M>>
           /\ UNCHANGED clock
\* Read the clock after the word.
LookAgain(p) == /\ At(p, "LookAgain")
                /\ IF Refuses(L[p].seen, L[p].op.n, clock)
                   THEN Answer(p, FALSE)
                   ELSE Go(p, "ReadClock") /\ UNCHANGED <<at, M>>
                /\ UNCHANGED <<word, clock>>
Step(p) == Advance(p) \/ ReadClock(p) \/ Look(p) \/ Swap(p) \/ LookAgain(p)

Terminating == (\A p \in Procs : At(p, "idle") /\ at[p] > Len(Program[p])) /\ UNCHANGED vars
Init == /\ word = 0
        /\ clock = 0
        /\ L = [p \in Procs |-> Idle]
        /\ at = [p \in Procs |-> 1]
        /\ M = {[s |-> Burst, r |-> [p \in Procs |-> <<>>]]}
Next == (\E p \in Procs : Invoke(p) \/ Step(p)) \/ Terminating
Spec == Init /\ [][Next]_vars

Linearizable == M # {}
\* A word beyond this is of another boot, whose clock had gone further.
Bounded == word <= clock + Burst

\* A state in a few words (latchfree spec --alias).
Alias == [next      |-> [p \in Procs |-> <<L[p].op.op, L[p].pc, L[p].now, L[p].seen>>],
          full_at   |-> word,
          clock     |-> clock,
          explained |-> Cardinality(M)]
=============================================================================
