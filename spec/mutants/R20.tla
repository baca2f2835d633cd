-------------------------------- MODULE R20 ---------------------------------
(***************************************************************************)
(* Mutant R20 (our own until then): a slot is given to any snapshot, also  *)
(* to one of an older generation than the slot had before.                 *)
(*                                                                         *)
(* u holds snapshot 2, and v has dropped snapshot 3.  Three others have    *)
(* read the root long ago, a and c in generation 1, b in generation 3, and *)
(* will find out that they are late; until then their generations stand in *)
(* the slot of snapshot 3, one after the other.  The process w has found   *)
(* that slot for a node that died in generation 4.  It reads the head of   *)
(* the list of a, the generation of b, and then puts the node on the list  *)
(* of c: the head is that of an empty list of generation 1 again.  When c  *)
(* gives up, nobody knows any more that snapshot 2 sees the node.          *)
(*                                                                         *)
(* The run is long, so it is written down.  A phase is <<process, access>>:*)
(* the process runs until it is about to make that access.                 *)
(***************************************************************************)
EXTENDS MCDeadlists

VARIABLE phase
R20_MayTake(slot, s) == slot.state = "FREE"

Takes == <<Snapshot, Drop>>
Six == [a |-> Takes, b |-> Takes, c |-> Takes, u |-> Takes, v |-> Takes, w |-> <<Inc("top")>>]
Second == <<2>>
Phases == <<
    <<"a", "Register">>, <<"c", "Register">>,                            \* both have read generation 1
    <<"v", "Register">>, <<"v", "idle">>, <<"v", "DropMark">>, <<"v", "idle">>,      \* snapshot 1
    <<"u", "Register">>, <<"u", "idle">>,                                \* snapshot 2
    <<"b", "Register">>,                                                 \* b has read generation 3
    <<"v", "Register">>, <<"v", "idle">>,                                \* snapshot 3
    <<"w", "RetireHead">>,                                               \* w finds it
    <<"v", "DropMark">>, <<"v", "idle">>,
    <<"a", "Commit">>, <<"w", "RetireCheck">>, <<"a", "idle">>,          \* w reads the head of the list of a,
    <<"b", "Commit">>, <<"w", "RetirePush">>, <<"b", "idle">>,           \* the generation of b,
    <<"c", "Commit">>, <<"w", "idle">>, <<"c", "idle">> >>               \* and pushes on the list of c

SInit == Init /\ phase = 1
SNext == \/ phase > Len(Phases) /\ UNCHANGED <<arena, L, phase>>
         \/ phase <= Len(Phases) /\ LET p == Phases[phase][1] IN
            /\ DeadlistStep(p) \/ RetireReadEpoch(p) \/ Invoke(p) \/ Commit(p) \/ Unlink(p)
            /\ \A x \in 1..Size : arena'.node[x].death \in {0, 4}
            /\ phase' = IF L'[p].pc = Phases[phase][2] THEN phase + 1 ELSE phase
SSpec == SInit /\ [][SNext]_<<arena, L, phase>>
=============================================================================
