------------------------------ MODULE MCCounter ----------------------------
(* Bounded models of the counter. *)
EXTENDS Counter

Two == {"u", "v"}
\* Wrong: a store; nothing is compared.
Always(t) == TRUE
=============================================================================
