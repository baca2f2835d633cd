--------------------------------- MODULE X7 ---------------------------------
(***************************************************************************)
(* Mutant X7: who counts a layer full adds one to the number of the last   *)
(* layer, also if somebody else has.  A layer is skipped.                  *)
(***************************************************************************)
EXTENDS MCScalableBloom

X7_Grown(p) == IF last + 1 < Layers THEN last + 1 ELSE last
=============================================================================
