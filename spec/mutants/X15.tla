-------------------------------- MODULE X15 ---------------------------------
(***************************************************************************)
(* Mutant X15: a reader does not look again whether the copy is in use.    *)
(* The next copy but one is written over what the reader is reading.       *)
(***************************************************************************)
EXTENDS MCLanes

X15_IsStillInUse(p) == TRUE
=============================================================================
