------------------------------ MODULE MCStack ------------------------------
(* Bounded models of the stack. *)
EXTENDS Stack

Two == 1..2
Three == 1..3
\* Wrong: a store; nothing is compared.
Always(t) == TRUE
=============================================================================
