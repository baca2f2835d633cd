----------------------------- MODULE Scenarios ------------------------------
(***************************************************************************)
(* Hash functions and initial tries for bounded models and mutants.        *)
(***************************************************************************)
EXTENDS Properties

HashOne     == [a |-> <<0>>]                                                \* one key
HashApart   == [a |-> <<0>>, b |-> <<1>>]                                   \* both at the root
HashTwo     == [a |-> <<0, 0>>, b |-> <<0, 1>>]                             \* parted by the second bit
HashThree   == [a |-> <<0, 0>>, b |-> <<0, 1>>, c |-> <<1, 0>>]             \* c is apart at the first bit
HashCollide == [a |-> <<0>>, b |-> <<0>>, c |-> <<0>>]                      \* equal in all bits: an L-node
\* Equal in all bits, too, of as many levels as the code has: the L-node is where the code has it.
HashEleven  == [a |-> <<0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>>,
                b |-> <<0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>>,
                c |-> <<0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0>>]
HashDeep    == [a |-> <<0, 0, 0>>, b |-> <<0, 0, 1>>, c |-> <<0, 1, 0>>]   \* a and b parted by the third bit
HashDeepTwo == [a |-> <<0, 0, 0>>, b |-> <<0, 0, 1>>, c |-> <<1, 0, 0>>]   \* the same, with c at the root
HashFour    == [a |-> <<0, 0>>, b |-> <<0, 1>>, c |-> <<1, 0>>, d |-> <<1, 1>>]
\* Four levels: a and b are parted by the last bit, and f collides with a.
HashFourLevels == [a |-> <<0, 0, 0, 0>>, b |-> <<0, 0, 0, 1>>, c |-> <<0, 0, 1, 0>>, d |-> <<0, 1, 0, 0>>,
                   e |-> <<1, 0, 0, 0>>, f |-> <<0, 0, 0, 0>>]

\* Every key of K with value 1.
All(K) == {SNode(k, 1) : k \in K}
\* A trie with the keys K, all of one generation; and as it is just after a snapshot: only the root is new.
Trie(K)    == BuildTrie(All(K), 1, 1)
Renewed(K) == BuildTrie(All(K), 2, 1)
=============================================================================
