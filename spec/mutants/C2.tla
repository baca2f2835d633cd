--------------------------------- MODULE C2 ---------------------------------
(***************************************************************************)
(* Mutant C2 (the subscription trie as published): a branch that has       *)
(* subscribers keeps its tombed I-node.  Whoever goes there meets the tomb *)
(* for ever: a livelock of a single process.                               *)
(***************************************************************************)
EXTENDS TopicTrie, TopicScenarios

C2_Detached(branch) == IF branch.subs = {} THEN NoBranch ELSE branch
=============================================================================
