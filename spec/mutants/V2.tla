--------------------------------- MODULE V2 ---------------------------------
(***************************************************************************)
(* Mutant V2: a lookup compares what the main nodes hold and not which they*)
(* are.  It misses that one was replaced, and replaced again by one that   *)
(* looks the same.  Comparing addresses would be as wrong if the address of*)
(* a node that a process still holds could be used again (ABA).            *)
(***************************************************************************)
EXTENDS TopicTrie, TopicScenarios

V2_Unchanged(h, i, m) == h[Main(h, i)] = h[m]
=============================================================================
