-------------------------------- MODULE R2 ----------------------------------
(***************************************************************************)
(* Mutant R2: a process that commits another's update, by the CAS of prev  *)
(* in Complete, also retires the old main node.                            *)
(*                                                                         *)
(* So does the process whose update it is: the node is retired twice.      *)
(***************************************************************************)
EXTENDS Reclamation

\* Here reading EPOCH is part of the step.
R2_Helped(a, p, l) == Retire(a, p, {l.gp}, a.epoch)

Nobody == <<>>
UpdateAndReader == [r |-> <<Get>>, w |-> <<Inc("top")>>]
=============================================================================
