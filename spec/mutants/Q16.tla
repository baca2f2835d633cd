-------------------------------- MODULE Q16 ---------------------------------
(***************************************************************************)
(* Mutant Q16: a child that is forked in the midst of a call goes on,      *)
(* and frees what is the parent's.                                         *)
(***************************************************************************)
EXTENDS MCMessages

Q16_Raise(c) == /\ L[c].copied /\ c \notin dead
                /\ L' = [L EXCEPT ![c].copied = FALSE]
                /\ UNCHANGED <<free, content, ring, put, at, dead, wrong>>
=============================================================================
