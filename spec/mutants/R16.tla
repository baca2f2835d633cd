-------------------------------- MODULE R16 ---------------------------------
(***************************************************************************)
(* Mutant R16: the head of an empty deadlist does not hold the generation  *)
(* of its snapshot.                                                        *)
(*                                                                         *)
(* An update has found a snapshot and read its list, which is empty, since *)
(* the root that it froze is not yet there.  Meanwhile that snapshot is    *)
(* dropped, and another one takes its slot, whose list is empty as well.   *)
(* The CAS of the update succeeds: the node, dead since before the new     *)
(* snapshot, is on the new one's list.                                     *)
(***************************************************************************)
EXTENDS MCReclamation

R16_Top(head) == IF head.q # <<>> THEN <<"block", head.q[1].block>>
                 ELSE <<"empty", IF head.gen = 0 THEN 0 ELSE 1>>

TakeDropTakeAndUpdate == [s |-> <<Snapshot, Drop, Snapshot>>, w |-> <<Inc("top")>>]
=============================================================================
