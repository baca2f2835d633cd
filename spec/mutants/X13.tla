--------------------------------- MODULE X13 ---------------------------------
(***************************************************************************)
(* Mutant X13: a counter is raised by all that is missing, not at most by  *)
(* what is added.  Two raise it for each other.                            *)
(***************************************************************************)
EXTENDS MCConservative

X13_Missing(p) == LET wanted == L[p].least + L[p].a
                      held == L[p].before[L[p].k] IN IF wanted > held THEN wanted - held ELSE 0
=============================================================================
