------------------------------ MODULE Parking -------------------------------
(***************************************************************************)
(* Sleeping until a ring has changed, at one shared-memory access, or one  *)
(* system call, per step.  The ring itself is a number of values here: how *)
(* it is put and got is specified in RingStrict.                           *)
(*                                                                         *)
(* There is a word for those who get, news, and one for those who put,     *)
(* room: a bit that somebody is about to sleep, or asleep, and a count.    *)
(*  - Who finds the ring empty sets the bit of news, looks again, and asks *)
(*    the kernel to sleep if the word is still as it was when set.         *)
(*  - Who has put looks at news.  If the bit is set, it clears the bit and *)
(*    counts, by one CAS, and wakes all who sleep on the word.             *)
(* Full and room are the same the other way round.                         *)
(*                                                                         *)
(* Mortal processes may be killed at any step.  Then a change may be made  *)
(* and nobody woken; so a sleeper looks again after a while, if Patient is *)
(* FALSE.  Without kills nobody needs that: Patient sleepers are served.   *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS Program,    \* process -> [op, times]: "put" or "get", and how often
          Capacity,
          Initially,  \* how many values there are at the start
          Mortal,     \* the processes that may be killed
          Patient     \* whether sleepers sleep until they are woken
Procs == DOMAIN Program

VARIABLES held,   \* how many values the ring holds
          word,   \* "news" and "room" -> [n, bit]
          L       \* the registers of each process
vars == <<held, word, L>>

Own(p)   == IF Program[p].op = "put" THEN "room" ELSE "news"     \* where p sleeps
Other(p) == IF Program[p].op = "put" THEN "news" ELSE "room"     \* whom p wakes
Possible(p) == IF Program[p].op = "put" THEN held < Capacity ELSE held > 0
Done(p)  == IF Program[p].op = "put" THEN held + 1 ELSE held - 1

At(p, pc) == L[p].pc = pc
Goto(p, pc) == L' = [L EXCEPT ![p].pc = pc]
\* An operation is over.
Next1(l) == IF l.left = 1 THEN [l EXCEPT !.pc = "done", !.left = 0, !.armed = FALSE, !.seen = 0]
            ELSE [l EXCEPT !.pc = "Try", !.left = @ - 1, !.armed = FALSE, !.seen = 0]

\* What a process does first when it has changed the ring, and what it does when it has armed.
AfterChange == "Look"
AfterArm    == "Try"
\* Those who are woken, of those who sleep on a word.
Woken(S) == {S}

\* Put or get, if that is possible.
Try(p) == At(p, "Try") /\ UNCHANGED word /\
    IF Possible(p) THEN held' = Done(p) /\ Goto(p, AfterChange)
    ELSE UNCHANGED held /\ Goto(p, IF L[p].armed THEN "Sleep" ELSE "Arm")
\* Set the bit, and keep what the word is then.
Arm(p) == At(p, "Arm") /\ UNCHANGED held /\
    LET armed == [word[Own(p)] EXCEPT !.bit = TRUE]
    IN  /\ word' = [word EXCEPT ![Own(p)] = armed]
        /\ L' = [L EXCEPT ![p].pc = AfterArm, ![p].armed = TRUE, ![p].seen = armed.n]
\* The system call: sleep, unless the word has changed.
Sleep(p) == At(p, "Sleep") /\ UNCHANGED <<held, word>> /\
    L' = [L EXCEPT ![p].pc = IF word[Own(p)] = [n |-> L[p].seen, bit |-> TRUE] THEN "asleep" ELSE "Try", ![p].armed = FALSE]
\* Look whether anybody sleeps.
Look(p) == At(p, "Look") /\ UNCHANGED <<held, word>> /\
    L' = [L EXCEPT ![p] = IF word[Other(p)].bit THEN [@ EXCEPT !.pc = "Move", !.seen = word[Other(p)].n] ELSE Next1(@)]
\* CAS: clear the bit, and count.
Move(p) == At(p, "Move") /\ UNCHANGED held /\ Goto(p, "Wake") /\
    word' = IF word[Other(p)] = [n |-> L[p].seen, bit |-> TRUE]
            THEN [word EXCEPT ![Other(p)] = [n |-> L[p].seen + 1, bit |-> FALSE]] ELSE word
\* The system call: wake all who sleep on the word.
Wake(p) == At(p, "Wake") /\ UNCHANGED <<held, word>> /\
    \E who \in Woken({q \in Procs : At(q, "asleep") /\ Own(q) = Other(p)}) :
        L' = [q \in Procs |-> IF q = p THEN Next1(L[p]) ELSE IF q \in who THEN [L[q] EXCEPT !.pc = "Try"] ELSE L[q]]
\* A second is over.
LookAnew(p) == At(p, "asleep") /\ ~Patient /\ UNCHANGED <<held, word>> /\ Goto(p, "Try")

Step(p) == Try(p) \/ Arm(p) \/ Sleep(p) \/ Look(p) \/ Move(p) \/ Wake(p) \/ LookAnew(p)
Kill(p) == p \in Mortal /\ L[p].pc \notin {"done", "killed"} /\ UNCHANGED <<held, word>> /\ Goto(p, "killed")
Ended(p) == L[p].pc \in {"done", "killed"}
\* Nobody takes a step any more: all are done, or they sleep and cannot be served.
Resting == (\A p \in Procs : Ended(p) \/ At(p, "asleep")) /\ UNCHANGED vars

Init == /\ held = Initially
        /\ word = [w \in {"news", "room"} |-> [n |-> 0, bit |-> FALSE]]
        /\ L = [p \in Procs |-> [pc |-> "Try", left |-> Program[p].times, armed |-> FALSE, seen |-> 0]]
Next == (\E p \in Procs : Step(p) \/ Kill(p)) \/ Resting
Spec == Init /\ [][Next]_vars
FairSpec == Spec /\ \A p \in Procs : WF_vars(Step(p))

(******************************* Properties ********************************)
\* Nobody sleeps who could go on, when nobody is left who might wake them.
NoneForgotten == (\A p \in Procs : Ended(p) \/ At(p, "asleep")) => \A p \in Procs : At(p, "asleep") => ~Possible(p)
\* Whoever sleeps and could go on does so, or others were faster.
Served == \A p \in Procs : (At(p, "asleep") /\ Possible(p)) ~> (~At(p, "asleep") \/ ~Possible(p))

\* A state in a few words (latchfree spec --alias).
Alias == [next |-> [p \in Procs |-> <<L[p].pc, L[p].left, L[p].armed>>],
          held |-> held,
          news |-> <<word["news"].n, word["news"].bit>>,
          room |-> <<word["room"].n, word["room"].bit>>]
=============================================================================
