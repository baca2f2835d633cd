------------------------------ MODULE RingWeak ------------------------------
(***************************************************************************)
(* The ring as published: what seems full is full, what seems empty is     *)
(* empty.  A producer that has claimed a position and stops there makes    *)
(* the queue look empty, although a later put has returned; so this is no  *)
(* strict queue.  It is a weak one (module SequentialQueue), and none of   *)
(* its operations ever waits for another.                                  *)
(***************************************************************************)
EXTENDS Ring

Seems(l) == Return(0)
Step(p) == PutStep(p, Seems) \/ GetStep(p, Seems)
Next == (\E p \in Procs : Invoke(p) \/ Step(p)) \/ Terminating
Spec == Init /\ [][Next]_vars
=============================================================================
