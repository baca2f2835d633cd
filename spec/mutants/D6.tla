--------------------------------- MODULE D6 ---------------------------------
(***************************************************************************)
(* Mutant D6: a creator waits for the proposals of others to end. Safe, but *)
(* a process that has stopped holds up the next one of its name for ever.  *)
(***************************************************************************)
EXTENDS MCDirectory

D6_Kill(p) == At(p, "Kill") /\ Stay(p, LookAfter(L[p].k - 1, L[p]))
=============================================================================
