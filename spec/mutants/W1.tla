--------------------------------- MODULE W1 ---------------------------------
(***************************************************************************)
(* Mutant W1 (Workiva ctrie): a snapshot takes the root that it finds      *)
(* after its RDCSS, not the one that the RDCSS has retired.                *)
(*                                                                         *)
(* That root is live: a put that comes after the snapshot shows up in it.  *)
(* (Here it is read in the step that swings the root.)                     *)
(***************************************************************************)
EXTENDS Scenarios

W1_Installed(h, l) ==
    LET r == IF h.node[h.root].t = "I" THEN h.root ELSE h.node[h.root].ov
    IN  [CallGcasRead(h, [Idle EXCEPT !.op = l.op, !.held = r, !.seen = AsMap({})], r, "walk") EXCEPT !.ev = "held"]

OneKey == Trie({"a"})
PutAndSnapshot == [w |-> <<{Put("a", 2)}>>, s |-> <<{Snapshot}>>]
=============================================================================
