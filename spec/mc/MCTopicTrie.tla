---------------------------- MODULE MCTopicTrie -----------------------------
(***************************************************************************)
(* Bounded models of the corrected subscription trie.  A .cfg file picks   *)
(* words, initial subscriptions and the program of each process.           *)
(***************************************************************************)
EXTENDS TopicTrie, TopicScenarios
=============================================================================
