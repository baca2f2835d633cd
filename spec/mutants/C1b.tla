-------------------------------- MODULE C1b ---------------------------------
(***************************************************************************)
(* Mutant C1b (the subscription trie as published): an I-node that has     *)
(* become empty leaves the trie without a tomb.  A subscriber inserted     *)
(* below it in the meantime is lost.                                       *)
(***************************************************************************)
EXTENDS TopicTrie, TopicScenarios

C1b_IsTomb(i, n) == i # Root /\ IsEmpty(Branches(n))
C1b_IsFinal(i, n) == FALSE
C1b_Contracted(i, br) == CNode(br)
=============================================================================
