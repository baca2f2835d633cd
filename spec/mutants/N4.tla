-------------------------------- MODULE N4 ----------------------------------
(***************************************************************************)
(* Mutant N4 (textbook): an update that has to try again answers the value *)
(* that it saw first.                                                      *)
(*                                                                         *)
(* Two puts of one key both read the value 1.  One of them succeeds and    *)
(* answers 1.  The other fails, tries again, succeeds, and answers 1, too, *)
(* although it has replaced the value of the first.                        *)
(***************************************************************************)
EXTENDS MCCtrie

N4_Replaces(l, old) == IF l.res = Absent THEN [l EXCEPT !.res = old] ELSE l
N4_UpdateFailed(h, l) == LET o == Restart(h, l) IN Out(o.h, [o.l EXCEPT !.res = l.res])

TwoPuts == [u |-> <<{Put("a", 2)}>>, w |-> <<{Put("a", 3)}>>]
=============================================================================
