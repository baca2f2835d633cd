-------------------------------- MODULE R18 ---------------------------------
(***************************************************************************)
(* Mutant R18: a process that cleans retires what it would have replaced,  *)
(* also if another was faster.                                             *)
(*                                                                         *)
(* A removal has left a tomb.  The lookup that meets it and the removal    *)
(* both want to take it up.  One of them succeeds, and both retire it.     *)
(***************************************************************************)
EXTENDS MCRetirement

R18_GcasEnded(h, l, ok) ==
    Retired(h, IF ok \/ l.gret \in {"clean", "cleanParent"} THEN Replaced(h, l) ELSE InVain(h, l))

RemoveAndLookup == [u |-> <<{Remove("a")}>>, r |-> <<{Lookup("b")}>>]
=============================================================================
