-------------------------------- MODULE TopK ---------------------------------
(***************************************************************************)
(* A slot of the table of a Top-K sketch: a hash, two words of bytes, and  *)
(* a seal.  Whoever puts an item claims the slot by a compare-and-swap of  *)
(* the hash, or finds its own hash there, and then writes bytes and seal,  *)
(* one word at a time.  Others may be doing so at the same time, and may   *)
(* be killed in between.                                                   *)
(*                                                                         *)
(* The promise: what a reader takes for an item, because the seal fits     *)
(* hash and bytes, is an item (NoForgery).  And who puts an item while     *)
(* nobody else uses the slot leaves it sealed (Healed), so that what a     *)
(* race or a kill has spoilt is put right by the next add.                 *)
(*                                                                         *)
(* The seal is a hash in code; here no two are the same.                   *)
(* In code: `install` and `read_sealed` of                                 *)
(* impl/latchfree/sketches/kernels/top.py.                                 *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANTS Program,   \* process -> sequence of operations
          Bytes,     \* item -> its two words of bytes
          Mortal     \* processes that may be killed
Procs == DOMAIN Program
Items == DOMAIN Bytes
None  == "none"

Put(x) == [op |-> "put", item |-> x]
Scan   == [op |-> "scan", item |-> None]
NoOp   == [op |-> "none", item |-> None]

VARIABLES hash, seal, b,   \* the slot
          L,               \* the registers of each process
          at,              \* at[p]: the index of p's next operation
          forged,          \* what readers took for items and was none (history)
          healed           \* whether puts that nobody disturbed have left the slot sealed (history)
vars == <<hash, seal, b, L, at, forged, healed>>

Idle == [pc |-> "idle", op |-> NoOp, hash |-> None, seal |-> <<>>, b |-> <<0, 0>>, alone |-> FALSE]
At(p, pc) == L[p].pc = pc
Own(p)    == L[p].op.item
SealOf(h, w) == <<h, w>>
IsOver(p) == L[p].pc \in {"idle", "dead"}
Alone(p)  == \A q \in Procs \ {p} : IsOver(q)
Go(p, pc) == L' = [q \in Procs |-> IF q = p THEN [L[p] EXCEPT !.pc = pc] ELSE L[q]]
Done(p)   == /\ L' = [L EXCEPT ![p] = Idle]
             /\ at' = [at EXCEPT ![p] = @ + 1]

\* An operation begins. Nobody else is alone from then on.
Invoke(p) == /\ At(p, "idle") /\ at[p] <= Len(Program[p])
             /\ LET o == Program[p][at[p]] IN
                L' = [q \in Procs |-> IF q = p
                      THEN [Idle EXCEPT !.pc = IF o.op = "put" THEN "Look" ELSE "ReadHash", !.op = o, !.alone = Alone(p)]
                      ELSE [L[q] EXCEPT !.alone = FALSE]]
             /\ UNCHANGED <<hash, seal, b, at, forged, healed>>
Look(p) == /\ At(p, "Look")
           /\ L' = [L EXCEPT ![p].hash = hash, ![p].pc = IF hash = Own(p) THEN "WriteFirst" ELSE "Claim"]
           /\ UNCHANGED <<hash, seal, b, at, forged, healed>>
\* Compare-and-swap; who loses gives up, and the item comes again with its next add.
Claim(p) == /\ At(p, "Claim")
            /\ IF hash = L[p].hash
               THEN hash' = Own(p) /\ Go(p, "WriteFirst") /\ UNCHANGED at
               ELSE Done(p) /\ UNCHANGED hash
            /\ UNCHANGED <<seal, b, forged, healed>>
WriteBytes(p) == /\ L[p].pc \in {"WriteFirst", "WriteSecond"}
                 /\ LET k == IF At(p, "WriteFirst") THEN 1 ELSE 2 IN b' = [b EXCEPT ![k] = Bytes[Own(p)][k]]
                 /\ Go(p, IF At(p, "WriteFirst") THEN "WriteSecond" ELSE "WriteSeal")
                 /\ UNCHANGED <<hash, seal, at, forged, healed>>
Written(p) == SealOf(Own(p), Bytes[Own(p)])
WriteSeal(p) == /\ At(p, "WriteSeal")
                /\ seal' = Written(p)
                /\ healed' = (healed /\ (L[p].alone => seal' = SealOf(hash, b)))
                /\ Done(p)
                /\ UNCHANGED <<hash, b, forged>>
\* A reader, one word at a time.
ReadHash(p) == /\ At(p, "ReadHash")
               /\ L' = [L EXCEPT ![p].hash = hash, ![p].pc = "ReadSeal"]
               /\ UNCHANGED <<hash, seal, b, at, forged, healed>>
ReadSeal(p) == /\ At(p, "ReadSeal")
               /\ L' = [L EXCEPT ![p].seal = seal, ![p].pc = "ReadFirst"]
               /\ UNCHANGED <<hash, seal, b, at, forged, healed>>
IsItem(h, w) == h \in Items /\ w = Bytes[h]
ReadBytes(p) == /\ L[p].pc \in {"ReadFirst", "ReadSecond"}
                /\ IF At(p, "ReadFirst")
                   THEN L' = [L EXCEPT ![p].b[1] = b[1], ![p].pc = "ReadSecond"] /\ UNCHANGED <<at, forged>>
                   ELSE LET w == <<L[p].b[1], b[2]>> IN
                        /\ forged' = IF L[p].hash # None /\ L[p].seal = SealOf(L[p].hash, w) /\ ~IsItem(L[p].hash, w)
                                     THEN forged \cup {<<L[p].hash, w>>} ELSE forged
                        /\ Done(p)
                /\ UNCHANGED <<hash, seal, b, healed>>
Die(p) == /\ p \in Mortal /\ ~IsOver(p)
          /\ L' = [L EXCEPT ![p] = [Idle EXCEPT !.pc = "dead"]]
          /\ UNCHANGED <<hash, seal, b, at, forged, healed>>
Step(p) == Look(p) \/ Claim(p) \/ WriteBytes(p) \/ WriteSeal(p) \/ ReadHash(p) \/ ReadSeal(p) \/ ReadBytes(p)

Terminating == (\A p \in Procs : At(p, "dead") \/ (At(p, "idle") /\ at[p] > Len(Program[p]))) /\ UNCHANGED vars
Init == /\ hash = None
        /\ seal = <<>>
        /\ b = <<0, 0>>
        /\ L = [p \in Procs |-> Idle]
        /\ at = [p \in Procs |-> 1]
        /\ forged = {}
        /\ healed = TRUE
Next == (\E p \in Procs : Invoke(p) \/ Step(p) \/ Die(p)) \/ Terminating
Spec == Init /\ [][Next]_vars

NoForgery == forged = {}
Healed == healed

\* A state in a few words (latchfree spec --alias).
Alias == [next   |-> [p \in Procs |-> <<L[p].op.op, L[p].op.item, L[p].pc>>],
          slot   |-> <<hash, seal, b>>,
          forged |-> forged]
=============================================================================
