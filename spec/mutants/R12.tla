-------------------------------- MODULE R12 ---------------------------------
(***************************************************************************)
(* Mutant R12: a deadlist is moved to a newer snapshot.                    *)
(*                                                                         *)
(* That one was taken after the nodes had been unlinked, so it does not see*)
(* them, and they wait for the wrong snapshot.                             *)
(***************************************************************************)
EXTENDS Reclamation

R12_MovesTo(g, l) == g > l.prev[2]

SThenT == <<"s", "t">>
TwoDrops == [s |-> <<Drop>>, t |-> <<Drop>>]
=============================================================================
