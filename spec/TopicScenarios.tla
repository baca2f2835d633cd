--------------------------- MODULE TopicScenarios ---------------------------
(***************************************************************************)
(* Words, initial subscriptions and programs, the same for the published   *)
(* and for the corrected subscription trie.  Topics are named after their  *)
(* words: ab is a.b, xb is *.b.                                            *)
(***************************************************************************)
EXTENDS SequentialTopicIndex

a  == <<"a">>            b  == <<"b">>
ab == <<"a", "b">>       ac == <<"a", "c">>
xb == <<Star, "b">>
abc == <<"a", "b", "c">> bb == <<"b", "b">>

AB == {"a", "b"}
ABC == {"a", "b", "c"}
ABStar == {"a", "b", Star}

Nothing == {}
HasAB   == {<<ab, 1>>}
HasTwo  == {<<ab, 1>>, <<bb, 2>>}
HasABC  == {<<abc, 1>>}
HasAandAB == {<<a, 1>>, <<ab, 2>>}
HasBoth == {<<ab, 1>>, <<xb, 2>>}        \* literal and wildcard

\* Contraction into the root: an unsubscribe leaves a tomb below the root, a subscribe to another word.
TombAndSubscribe == [u |-> <<{Unsubscribe(ab, 1)}>>, w |-> <<{Subscribe(b, 2)}, {Lookup(b)}>>]
\* Contraction of an I-node that becomes empty because its child became a tomb, two levels.
DeepTombAndSubscribe == [u |-> <<{Unsubscribe(abc, 1)}>>, w |-> <<{Subscribe(ab, 2)}, {Lookup(ab)}>>]
\* One process: a tomb below a branch that has subscribers.
OneAfterTheOther == [w |-> <<{Subscribe(a, 1)}, {Subscribe(ab, 1)}, {Unsubscribe(ab, 1)}, {Lookup(ac)}>>]
\* The same, and then a subscribe where the tomb is.
SubscribeBesideTomb == [w |-> <<{Subscribe(a, 1)}, {Subscribe(ab, 1)}, {Unsubscribe(ab, 1)}, {Subscribe(ac, 1)}>>]
\* For ever: a subscription on the second level comes and goes; one above it likewise, and is looked up.
TwoLevels == [u |-> <<{Subscribe(ab, 1), Unsubscribe(ab, 1)}>>,
              w |-> <<{Subscribe(a, 2), Unsubscribe(a, 2), Lookup(a)}>>]
\* For ever: whatever there is to do on two levels.
Everything(s) == {Subscribe(a, s), Unsubscribe(a, s), Subscribe(ab, s), Unsubscribe(ab, s), Lookup(ab)}
EverythingTwo == [u |-> <<Everything(1)>>, w |-> <<Everything(2)>>]
\* For ever: as TwoLevels, one level deeper.
ThreeLevels == [u |-> <<{Subscribe(abc, 1), Unsubscribe(abc, 1)}>>,
                w |-> <<{Subscribe(ab, 2), Unsubscribe(ab, 2), Lookup(ab)}>>]
\* Two tombs in one C-node, and a lookup.
TwoUnsubscribes == [u |-> <<{Unsubscribe(ab, 1)}>>, w |-> <<{Unsubscribe(bb, 2)}, {Subscribe(ac, 2)}>>,
                    r |-> <<{Lookup(ab)}>>]
\* Lookup against one writer, who first makes the literal and then the wildcard subscription.
LiteralThenStar == [w |-> <<{Subscribe(ab, 3)}, {Subscribe(xb, 4)}>>, r |-> <<{Lookup(ab)}>>]
\* For ever: both subscriptions come and go, in any order; a lookup that finds them by two paths.
Toggle(t, s) == {Subscribe(t, s), Unsubscribe(t, s)}
LookupForEver == [w |-> <<Toggle(ab, 3) \cup Toggle(xb, 4)>>, r |-> <<{Lookup(ab)}>>]
\* For ever, but never both at once: the literal, then the wildcard subscription comes and goes.
InTurn == [w |-> <<{Subscribe(ab, 3)}, {Unsubscribe(ab, 3)}, {Subscribe(xb, 4)}, {Unsubscribe(xb, 4)}>>,
           r |-> <<{Lookup(ab)}>>]
=============================================================================
