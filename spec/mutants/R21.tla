-------------------------------- MODULE R21 ---------------------------------
(***************************************************************************)
(* Mutant R21: who takes the idle snapshot does not compare the main node  *)
(* of its root with that of the trie's root.                               *)
(*                                                                         *)
(* A process that gives a snapshot back has found it current.  An update   *)
(* comes, and finds nothing idle.  The snapshot is parked, and before its  *)
(* giver looks again, somebody takes it, who does not find the update.     *)
(***************************************************************************)
EXTENDS Idle

R21_Fits(l, m) == TRUE

OnlyS == <<"s">>
GiveAndTake == [s |-> <<Give>>, t |-> <<Take>>, w |-> <<Inc("top")>>]
=============================================================================
