-------------------------------- MODULE Q12 ---------------------------------
(***************************************************************************)
(* Mutant Q12: what a put has done is seen by what it returns. A handler   *)
(* that raises before has the caller free the block that the ring has      *)
(* got.                                                                    *)
(***************************************************************************)
EXTENDS MCMessages

Q12_Left(p) == L[p].own
=============================================================================
