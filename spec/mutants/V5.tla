--------------------------------- MODULE V5 ---------------------------------
(***************************************************************************)
(* Mutant V5: an update commits whatever the generation of the root.  If   *)
(* that part of the trie is out of date already, the update is lost.       *)
(***************************************************************************)
EXTENDS TopicMatchScenarios

V5_SameGeneration(h, i) == TRUE
=============================================================================
