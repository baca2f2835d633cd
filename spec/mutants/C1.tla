--------------------------------- MODULE C1 ---------------------------------
(***************************************************************************)
(* Mutant C1 (the subscription trie as published): before the CAS that     *)
(* detaches a tomb the parent's main node is read once more, and that is   *)
(* what the CAS expects.  So it always succeeds, and what was subscribed   *)
(* since the copy was made is lost.                                        *)
(***************************************************************************)
EXTENDS TopicTrie, TopicScenarios

C1_StillThere(h, i, m) == TRUE
=============================================================================
