-------------------------------- MODULE X28 ---------------------------------
(***************************************************************************)
(* Mutant X28: an answer is kept for the next reader, who finds less       *)
(* than was there when it began.                                           *)
(***************************************************************************)
EXTENDS MCHyperLogLog

X28_ReadWord(p) == /\ At(p, "ReadWord")
                   /\ LET seen == [w \in 1..Words |-> [k \in 1..Packed |-> 0]] IN
                      /\ Done(p)
                      /\ wrong' = wrong \cup {r \in Registers : seen[r[1]][r[2]] < L[p].due[r]}
                   /\ UNCHANGED <<word, begun, ended>>
=============================================================================
