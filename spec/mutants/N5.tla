-------------------------------- MODULE N5 ----------------------------------
(***************************************************************************)
(* Mutant N5 (textbook): a writable snapshot goes on under the generation  *)
(* of the root that it froze, and not under a new one.                     *)
(*                                                                         *)
(* What it changes below its root is then its own only by name: the put    *)
(* into the fork changes the I-node that the trie shares, and a lookup in  *)
(* the trie finds the value.                                               *)
(***************************************************************************)
EXTENDS MCForks

N5_ForkGen(h, l) == Gen(h, INodeOf(l))

ForkThenPut == [f |-> <<{Fork}, {OnFork(Put("a", 2))}>>, w |-> <<{Lookup("a")}>>]
=============================================================================
