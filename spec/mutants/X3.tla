--------------------------------- MODULE X3 ---------------------------------
(***************************************************************************)
(* Mutant X3: a full counter is lowered, as if it knew what it has counted.*)
(* So 40 adds and 20 removes lost an item in a published library.          *)
(***************************************************************************)
EXTENDS MCCountingBloom

X3_Lowered(v) == IF v = 0 THEN v ELSE v - 1
=============================================================================
