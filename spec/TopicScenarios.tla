--------------------------- MODULE TopicScenarios ---------------------------
(***************************************************************************)
(* Words, initial subscriptions and programs, the same for the published   *)
(* and for the corrected subscription trie.  Topics are named after their  *)
(* words: ab is a.b, xb is *.b.                                            *)
(***************************************************************************)
EXTENDS SequentialTopicIndex

a  == <<"a">>            b  == <<"b">>
ab == <<"a", "b">>       ac == <<"a", "c">>
xb == <<Star, "b">>      xc == <<Star, "c">>
abc == <<"a", "b", "c">> abb == <<"a", "b", "b">>

AB == {"a", "b"}
ABC == {"a", "b", "c"}
ABStar == {"a", "b", Star}

Nothing == {}
HasAB   == {<<ab, 1>>}
HasABC  == {<<abc, 1>>}
HasAandAB == {<<a, 1>>, <<ab, 2>>}
HasBoth == {<<ab, 1>>, <<xb, 2>>}        \* literal and wildcard

\* Contraction into the root: an unsubscribe leaves a tomb below the root, a subscribe to another word.
TombAndSubscribe == [u |-> <<{Unsubscribe(ab, 1)}>>, w |-> <<{Subscribe(b, 2)}, {Lookup(b)}>>]
\* Contraction of an I-node that becomes empty because its child became a tomb, two levels.
DeepTombAndSubscribe == [u |-> <<{Unsubscribe(abc, 1)}>>, w |-> <<{Subscribe(ab, 2)}, {Lookup(ab)}>>]
\* One process: a tomb below a branch that has subscribers.
OneAfterTheOther == [w |-> <<{Subscribe(a, 1)}, {Subscribe(ab, 1)}, {Unsubscribe(ab, 1)}, {Lookup(ac)}>>]
\* Lookup against one writer, who first makes the literal and then the wildcard subscription.
LiteralThenStar == [w |-> <<{Subscribe(ab, 3)}, {Subscribe(xb, 4)}>>, r |-> <<{Lookup(ab)}>>]
=============================================================================
