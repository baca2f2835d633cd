-------------------------------- MODULE Q13 ---------------------------------
(***************************************************************************)
(* Mutant Q13: a message is freed first and read then.                     *)
(***************************************************************************)
EXTENDS MCMessages

\* The freed block is kept among those that are waited for.
Q13_Frees(p) == /\ L[p].own # None
                /\ free' = free \cup {L[p].own}
                /\ content' = [content EXCEPT ![L[p].own] = Freed]
                /\ L' = [L EXCEPT ![p].own = None, ![p].waits = {L[p].own}]
                /\ UNCHANGED <<at, wrong>>
Q13_Reads(p) == /\ L[p].own = None
                /\ LET b == CHOOSE b \in L[p].waits : TRUE IN
                   wrong' = IF content[b] # put[L[p].pos] THEN wrong \cup {"read"} ELSE wrong
                /\ Done(p)
                /\ UNCHANGED <<free, content>>
Q13_Read(p) == At(p, "Read") /\ (Q13_Frees(p) \/ Q13_Reads(p)) /\ UNCHANGED <<ring, put, dead>>
=============================================================================
