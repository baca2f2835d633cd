--------------------------------- MODULE Q10 --------------------------------
(***************************************************************************)
(* Mutant Q10: the mender looks at the announcements before the counter.   *)
(***************************************************************************)
EXTENDS MCRingCrash

Q10_AfterTurn    == "MendScan"
Q10_AfterScan    == "MendReadCounter"
Q10_AfterCounter == "MendCas"
=============================================================================
