------------------------ MODULE SequentialTopicIndex ------------------------
(***************************************************************************)
(* The sequential topic index: what a subscription trie must look like     *)
(* from outside.  It is a set of subscriptions <<pattern, subscriber>>.  A *)
(* topic or a pattern is a sequence of words; the word "*" in a pattern    *)
(* stands for any one word.                                                *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, TLC

Star == "*"

\* An operation is a record; who is 0 where it means nothing.
Lookup(t)         == [op |-> "lookup",      topic |-> t,    who |-> 0]     \* answers a set of subscribers
Subscribe(t, s)   == [op |-> "subscribe",   topic |-> t,    who |-> s]     \* answers 0
Unsubscribe(t, s) == [op |-> "unsubscribe", topic |-> t,    who |-> s]     \* answers 0
NoOp              == [op |-> "none",        topic |-> <<>>, who |-> 0]     \* the process is idle

Matches(pattern, topic) == /\ Len(pattern) = Len(topic)
                           /\ \A k \in 1..Len(topic) : pattern[k] \in {topic[k], Star}

\* The index after operation o on index s, and the answer of o on s.
SeqNext(o, s) == CASE o.op = "subscribe"   -> s \cup {<<o.topic, o.who>>}
                   [] o.op = "unsubscribe" -> s \ {<<o.topic, o.who>>}
                   [] OTHER                -> s
SeqAnswer(o, s) == IF o.op = "lookup" THEN {x[2] : x \in {y \in s : Matches(y[1], o.topic)}} ELSE 0
TopicOutcomes(Regs, p, s) == {[s |-> SeqNext(Regs[p].op, s), v |-> SeqAnswer(Regs[p].op, s)]}
=============================================================================
