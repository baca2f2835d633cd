--------------------------------- MODULE V5 ---------------------------------
(***************************************************************************)
(* Mutant V5: an update commits whatever the generation of the root.  What is*)
(* no part of the present trie any more is not frozen, and the update is lost.*)
(***************************************************************************)
EXTENDS TopicMatchScenarios

V5_SameGeneration(h, i) == TRUE
=============================================================================
