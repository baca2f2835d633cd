-------------------------------- MODULE X14 ---------------------------------
(***************************************************************************)
(* Mutant X14: an item is counted before it is written.  A reader takes    *)
(* for an item what was there before.                                      *)
(***************************************************************************)
EXTENDS MCLanes

X14_AfterClaim(p)   == IF IsFull(p) THEN "WriteItem" ELSE "Publish"
X14_AfterPublish(p) == IF IsFull(p) THEN "Release" ELSE "WriteItem"
X14_AfterWrite(p)  == IF IsFull(p) THEN "RebuildFirst" ELSE "Release"
=============================================================================
