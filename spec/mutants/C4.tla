--------------------------------- MODULE C4 ---------------------------------
(***************************************************************************)
(* Mutant C4 (the subscription trie as published): after a failed CAS the  *)
(* next attempt exchanges the I-node of the tomb with its grandparent,     *)
(* which may not exist.                                                    *)
(***************************************************************************)
EXTENDS TopicTrie, TopicScenarios

C4_CleanFailed(h, l) ==
    LET n == Len(l.path)
    IN  Goto(h, [l EXCEPT !.m = 0, !.path = <<@[n], @[n - 1], IF n < 3 THEN 0 ELSE @[n - 2]>>], "CleanMain")
=============================================================================
