------------------------ MODULE MCTopicTriePublished ------------------------
(***************************************************************************)
(* Bounded models of the subscription trie as published: each shows a bug. *)
(* The names of the topics are those of the words, abc is a.b.c.           *)
(***************************************************************************)
EXTENDS TopicTriePublished, TopicScenarios
=============================================================================
