------------------------------- MODULE Lanes ---------------------------------
(***************************************************************************)
(* The lanes of a KLL sketch: each has one writer at a time and two        *)
(* copies, and a word that says which copy is in use and how many new      *)
(* items it has.  A writer appends an item behind these and counts it.     *)
(* When the room for new items is full, the writer writes a copy of        *)
(* everything into the other half, in several steps, and then says that    *)
(* this one is in use.  A writer may be killed at any step; whoever finds  *)
(* a lane of somebody who is in no call takes it over.                     *)
(*                                                                         *)
(* The promise: what is in use is whole and has all items whose adds have  *)
(* ended (Kept).  A reader sees these, and nothing that nobody added       *)
(* (ReadsRight).  No lane has two writers (Alone).                         *)
(*                                                                         *)
(* A sketch forgets items by weight; here it remembers them all, since     *)
(* what is forgotten is no matter of concurrency.  The older items of a    *)
(* copy are two words, which must be the same, so that half of a copy can  *)
(* be told from a copy.                                                    *)
(* In code: impl/latchfree/sketches/kernels/lanes.py, compacting.py and    *)
(* kll.py.                                                                 *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANTS Program,   \* process -> sequence of operations
          Count,     \* how many lanes
          Room,      \* new items of a copy
          Mortal     \* processes that may be killed
Procs == DOMAIN Program
Lanes == 1..Count
None  == "none"
NoClaim == <<None, 0>>

Add(x) == [op |-> "add", item |-> x]
Read   == [op |-> "read", item |-> None]
NoOp   == [op |-> "none", item |-> None]

VARIABLES lane,      \* owner, version, n (new items), old (copy -> two words), new (copy -> words)
          tickets,   \* claims so far
          L,         \* the registers of each process
          at,        \* at[p]: the index of p's next operation
          begun,     \* items whose add has begun (history)
          ended,     \* items whose add has ended (history)
          wrong      \* what readers saw that they should not (history)
vars == <<lane, tickets, L, at, begun, ended, wrong>>

Idle == [pc |-> "idle", op |-> NoOp, lane |-> 1, owner |-> NoClaim, mine |-> NoClaim, version |-> 0, n |-> 0,
         new |-> {}, old |-> {}, isWhole |-> TRUE, due |-> {}, seen |-> {}]
At(p, pc) == L[p].pc = pc
Mine(p) == lane[L[p].lane]
IsOver(p) == L[p].pc \in {"idle", "dead"}
Go(p, pc) == L' = [L EXCEPT ![p].pc = pc]
Done(p) == /\ L' = [L EXCEPT ![p] = Idle]
           /\ at' = [at EXCEPT ![p] = @ + 1]
InUse(l) == lane[l].version % 2
Other(p) == 1 - (Mine(p).version % 2)
NewItems(l) == {lane[l].new[InUse(l)][k] : k \in 1..lane[l].n}
Contents(l) == lane[l].old[InUse(l)][1] \cup NewItems(l)

Invoke(p) == /\ At(p, "idle") /\ at[p] <= Len(Program[p])
             /\ LET o == Program[p][at[p]] IN
                /\ L' = [L EXCEPT ![p] = [Idle EXCEPT !.op = o, !.due = ended,
                                          !.pc = IF o.op = "add" THEN "LookAtOwner" ELSE "ReadState"]]
                /\ begun' = IF o.op = "add" THEN begun \cup {o.item} ELSE begun
             /\ UNCHANGED <<lane, tickets, at, ended, wrong>>

(* A writer. *)
NextLane(p) == [L EXCEPT ![p].lane = (@ % Count) + 1, ![p].pc = "LookAtOwner"]
LookAtOwner(p) == /\ At(p, "LookAtOwner")
                  /\ L' = [L EXCEPT ![p].owner = Mine(p).owner,
                                    ![p].pc = IF Mine(p).owner = NoClaim THEN "Claim" ELSE "LookAtHolder"]
                  /\ UNCHANGED <<lane, tickets, at, begun, ended, wrong>>
LookAtHolder(p) == /\ At(p, "LookAtHolder")
                   /\ L' = IF IsOver(L[p].owner[1]) THEN [L EXCEPT ![p].pc = "Claim"] ELSE NextLane(p)
                   /\ UNCHANGED <<lane, tickets, at, begun, ended, wrong>>
\* What a claim compares: no two claims are the same.
Same(a, b) == a = b
AfterClaim(p) == "WriteItem"
Claim(p) == /\ At(p, "Claim")
            /\ IF Same(Mine(p).owner, L[p].owner)
               THEN /\ lane' = [lane EXCEPT ![L[p].lane].owner = <<p, tickets + 1>>]
                    /\ tickets' = tickets + 1
                    /\ L' = [L EXCEPT ![p].pc = AfterClaim(p), ![p].mine = <<p, tickets + 1>>,
                                      ![p].version = Mine(p).version, ![p].n = Mine(p).n]
               ELSE L' = NextLane(p) /\ UNCHANGED <<lane, tickets>>
            /\ UNCHANGED <<at, begun, ended, wrong>>
IsFull(p) == L[p].n + 1 = Room
AfterWrite(p) == IF IsFull(p) THEN "RebuildFirst" ELSE "Publish"
WriteItem(p) == /\ At(p, "WriteItem")
             /\ lane' = [lane EXCEPT ![L[p].lane].new[L[p].version % 2][L[p].n + 1] = L[p].op.item]
             /\ Go(p, AfterWrite(p))
             /\ UNCHANGED <<tickets, at, begun, ended, wrong>>
\* The copy that is written anew.
Target(p) == Other(p)
Rebuild(p) == /\ L[p].pc \in {"RebuildFirst", "RebuildSecond"}
              /\ LET l == L[p].lane
                     k == IF At(p, "RebuildFirst") THEN 1 ELSE 2
                     c == L[p].version % 2 IN
                 lane' = [lane EXCEPT ![l].old[Target(p)][k] =
                              lane[l].old[c][2] \cup {lane[l].new[c][j] : j \in 1..Room}]
              /\ Go(p, IF At(p, "RebuildFirst") THEN "RebuildSecond" ELSE "Publish")
              /\ UNCHANGED <<tickets, at, begun, ended, wrong>>
AfterPublish(p) == "Release"
Publish(p) == /\ At(p, "Publish")
              /\ lane' = IF IsFull(p)
                         THEN [lane EXCEPT ![L[p].lane].version = L[p].version + 1, ![L[p].lane].n = 0]
                         ELSE [lane EXCEPT ![L[p].lane].n = L[p].n + 1]
              /\ Go(p, AfterPublish(p))
              /\ UNCHANGED <<tickets, at, begun, ended, wrong>>
Release(p) == /\ At(p, "Release")
              /\ lane' = [lane EXCEPT ![L[p].lane].owner = NoClaim]
              /\ ended' = ended \cup {L[p].op.item}
              /\ Done(p)
              /\ UNCHANGED <<tickets, begun, wrong>>

(* A reader: one lane after the other. *)
ReadState(p) == /\ At(p, "ReadState")
                /\ L' = [L EXCEPT ![p].version = Mine(p).version, ![p].n = Mine(p).n, ![p].pc = "ReadNew"]
                /\ UNCHANGED <<lane, tickets, at, begun, ended, wrong>>
Copied(p) == L[p].version % 2
ReadCopy(p) == /\ L[p].pc \in {"ReadNew", "ReadFirst", "ReadSecond"}
               /\ LET l == Mine(p) c == Copied(p) IN
                  L' = CASE At(p, "ReadNew")    -> [L EXCEPT ![p].new = {l.new[c][k] : k \in 1..L[p].n},
                                                            ![p].pc = "ReadFirst"]
                         [] At(p, "ReadFirst")  -> [L EXCEPT ![p].old = l.old[c][1], ![p].pc = "ReadSecond"]
                         [] At(p, "ReadSecond") -> [L EXCEPT ![p].isWhole = l.old[c][2] = L[p].old,
                                                            ![p].pc = "Recheck"]
               /\ UNCHANGED <<lane, tickets, at, begun, ended, wrong>>
IsStillInUse(p) == Mine(p).version = L[p].version
Recheck(p) == /\ At(p, "Recheck")
              /\ LET seen == L[p].seen \cup L[p].old \cup L[p].new \cup IF L[p].isWhole THEN {} ELSE {"torn"} IN
                 IF ~IsStillInUse(p) THEN Go(p, "ReadState") /\ UNCHANGED <<at, wrong>>
                 ELSE IF L[p].lane < Count
                 THEN /\ L' = [L EXCEPT ![p].seen = seen, ![p].lane = @ + 1, ![p].pc = "ReadState"]
                      /\ UNCHANGED <<at, wrong>>
                 ELSE /\ wrong' = wrong \cup (L[p].due \ seen) \cup (seen \ begun)
                      /\ Done(p)
              /\ UNCHANGED <<lane, tickets, begun, ended>>

\* A process that is killed is in no call: its slot is given back.
Die(p) == /\ p \in Mortal /\ ~IsOver(p)
          /\ L' = [L EXCEPT ![p] = [Idle EXCEPT !.pc = "dead"]]
          /\ UNCHANGED <<lane, tickets, at, begun, ended, wrong>>
Step(p) == \/ LookAtOwner(p) \/ LookAtHolder(p) \/ Claim(p) \/ WriteItem(p) \/ Rebuild(p) \/ Publish(p) \/ Release(p)
           \/ ReadState(p) \/ ReadCopy(p) \/ Recheck(p)

Terminating == (\A p \in Procs : At(p, "dead") \/ (At(p, "idle") /\ at[p] > Len(Program[p]))) /\ UNCHANGED vars
Init == /\ lane = [l \in Lanes |-> [owner |-> NoClaim, version |-> 0, n |-> 0,
                                    old |-> [c \in {0, 1} |-> <<{}, {}>>],
                                    new |-> [c \in {0, 1} |-> [k \in 1..Room |-> "garbage"]]]]
        /\ tickets = 0
        /\ L = [p \in Procs |-> Idle]
        /\ at = [p \in Procs |-> 1]
        /\ begun = {}
        /\ ended = {}
        /\ wrong = {}
Next == (\E p \in Procs : Invoke(p) \/ Step(p) \/ Die(p)) \/ Terminating
Spec == Init /\ [][Next]_vars

Kept == /\ ended \subseteq UNION {Contents(l) : l \in Lanes}
        /\ \A l \in Lanes : lane[l].old[InUse(l)][1] = lane[l].old[InUse(l)][2]
        /\ \A l \in Lanes : Contents(l) \subseteq begun
ReadsRight == wrong = {}
Writes(p) == L[p].pc \in {"WriteItem", "RebuildFirst", "RebuildSecond", "Publish", "Release"}
Alone == \A p, q \in Procs : p # q /\ Writes(p) /\ Writes(q) => L[p].lane # L[q].lane

\* A state in a few words (latchfree spec --alias).
Alias == [next    |-> [p \in Procs |-> <<L[p].op.op, L[p].pc, L[p].lane>>],
          lanes   |-> [k \in DOMAIN lane |-> <<lane[k].owner, lane[k].version, lane[k].n>>],
          wrong   |-> wrong]
=============================================================================
