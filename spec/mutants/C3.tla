--------------------------------- MODULE C3 ---------------------------------
(***************************************************************************)
(* Mutant C3 (the subscription trie as published): a lookup does not       *)
(* validate.  It misses a subscription and finds a later one.              *)
(***************************************************************************)
EXTENDS TopicTrie, TopicScenarios

C3_Collected(h, l) == Return(h, l.acc)
=============================================================================
