-------------------------------- MODULE R17 ---------------------------------
(***************************************************************************)
(* Mutant R17: whoever takes up a tomb retires the I-node, and forgets the *)
(* tomb in it.                                                             *)
(*                                                                         *)
(* Nobody else retires the tomb: its memory is lost.                       *)
(***************************************************************************)
EXTENDS MCRetirement

R17_WithTombs(h, I) == I

OneRemoval == [u |-> <<{Remove("a")}>>]
=============================================================================
