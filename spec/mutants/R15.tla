-------------------------------- MODULE R15 ---------------------------------
(***************************************************************************)
(* Mutant R15: a block is used again at once (ABA).                        *)
(*                                                                         *)
(* An update reads the head of a list, a block, and is stopped.  The snapshot*)
(* is dropped, its slot given to a newer one, and the same block is now the*)
(* head of that list.  The CAS succeeds, and the node waits for a snapshot *)
(* that does not see it.                                                   *)
(***************************************************************************)
EXTENDS Reclamation

R15_BlocksInUse(a) ==
    UNION {{q[n].block : n \in 1..Len(q)} :
               q \in {a.slot[k].head.q : k \in 1..Slots} \cup {L[p].list : p \in Procs}}

Nobody == <<>>
ClearAndSnapshot == [c |-> <<Clear>>, s |-> <<Snapshot, Drop, Snapshot>>]
=============================================================================
