-------------------------------- MODULE Q13 ---------------------------------
(***************************************************************************)
(* Mutant Q13: a message is freed first and read then.                     *)
(***************************************************************************)
EXTENDS MCMessages

Q13_AfterGet(p)  == "FreeFirst"
Q13_FreeFirst(p) == /\ At(p, "FreeFirst")
                    /\ free' = free \cup {L[p].own}
                    /\ content' = [content EXCEPT ![L[p].own] = Freed]
                    /\ L' = [L EXCEPT ![p].pc = "Read", ![p].own = None, ![p].waits = {L[p].own}]
                    /\ UNCHANGED <<ring, put, at, dead, wrong>>
Q13_Reading(p) == CHOOSE b \in L[p].waits : TRUE
Q13_Spec == Init /\ [][Next \/ \E p \in Procs : Q13_FreeFirst(p)]_vars
=============================================================================
