----------------------------- MODULE MCFreeList -----------------------------
(* Bounded models of the free list. *)
EXTENDS FreeList

ThreeProcesses == [u |-> <<"pop", "push">>, v |-> <<"pop", "pop", "push">>, w |-> <<"pop", "push">>]

\* Without a version.
Unversioned(v) == v
=============================================================================
