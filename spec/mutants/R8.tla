-------------------------------- MODULE R8 ----------------------------------
(***************************************************************************)
(* Mutant R8: a node is free one epoch after it was retired.               *)
(*                                                                         *)
(* The epoch may have moved once while a reader is pinned, since its pin   *)
(* is still that of the epoch before.  What was retired before that move is*)
(* in its hands.                                                           *)
(***************************************************************************)
EXTENDS MCEpochs

R8_Grace == 1
=============================================================================
