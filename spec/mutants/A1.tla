-------------------------------- MODULE A1 ----------------------------------
(***************************************************************************)
(* Mutant A1: a process that has aborted a descriptor reads root again,    *)
(* and again aborts whatever descriptor it finds there.                    *)
(*                                                                         *)
(* Safe, but not lock-free: a writer (whose update a helper has already    *)
(* committed) and a snapshotter can go round for ever, one aborting the    *)
(* descriptors that the other installs, and nobody returns.                *)
(***************************************************************************)
EXTENDS Scenarios

A1_Aborted(h, l, r) == Goto(h, [l EXCEPT !.ad = 0], "CompleteReadRoot")

Nothing == Trie({})
WriterAndSnapshotter == [w |-> <<{Put("a", 1), Remove("a")}>>, s |-> <<{Snapshot}>>]
=============================================================================
