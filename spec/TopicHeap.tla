----------------------------- MODULE TopicHeap ------------------------------
(***************************************************************************)
(* The nodes of a concurrent subscription trie, and garbage collection.    *)
(*                                                                         *)
(* Memory is a sequence of nodes; an address is an index into it, 0 is the *)
(* null address, and the root I-node has address 1.  The one mutable field *)
(* is INode.main; main nodes never change.  A branch has the subscribers   *)
(* of the pattern that ends there, and an I-node for longer patterns, so a *)
(* trie is a trie of words: one level a word.                              *)
(***************************************************************************)
EXTENDS SequentialTopicIndex

CONSTANT Words      \* the words of topics and patterns; may contain Star

(********************************** Nodes **********************************)
NoBranch  == [subs |-> {}, kid |-> 0]                \* the same as no branch for that word
NoBranches == TLCEval([w \in Words |-> NoBranch])
INode(m)  == [t |-> "I", main |-> m]
Branches(n) == TLCEval([w \in Words |-> IF w \in DOMAIN n.br THEN n.br[w] ELSE NoBranch])
CNode(br) == [t |-> "C", br |-> TLCEval([w \in {w \in Words : br[w] # NoBranch} |-> br[w]])]
TNode     == [t |-> "T"]                             \* a tomb: nothing is below it
Free      == [t |-> "-"]

Root       == 1
Main(h, i) == h[i].main
IsEmpty(br) == \A w \in Words : br[w] = NoBranch

\* A new node takes the least free address: h with it is Put(h, n), its address is Fresh(h).
Fresh(h)  == IF \E a \in 1..Len(h) : h[a] = Free
             THEN CHOOSE a \in 1..Len(h) : h[a] = Free /\ \A b \in 1..(a - 1) : h[b] # Free
             ELSE Len(h) + 1
Put(h, n) == IF Fresh(h) > Len(h) THEN Append(h, n) ELSE [h EXCEPT ![Fresh(h)] = n]

\* The words t[k], t[k + 1], ... of a pattern with one subscriber as a chain of new nodes: [h, i].
RECURSIVE Chain(_, _, _, _)
Chain(h, t, k, s) ==
    LET below == IF k = Len(t) THEN [h |-> h, i |-> 0] ELSE Chain(h, t, k + 1, s)
        b     == [subs |-> IF k = Len(t) THEN {s} ELSE {}, kid |-> below.i]
        hm    == Put(below.h, CNode([NoBranches EXCEPT ![t[k]] = b]))
    IN  [h |-> Put(hm, INode(Fresh(below.h))), i |-> Fresh(hm)]

\* A trie of the subscriptions E, all patterns of which have k words or more: [h, i].
RECURSIVE Build(_, _, _), BuildBranches(_, _, _, _, _)
BuildBranches(h, E, k, ws, br) ==
    IF ws = {} THEN [h |-> h, br |-> br]
    ELSE LET w     == CHOOSE w \in ws : TRUE
             here  == {x \in E : x[1][k] = w}
             far   == {x \in here : Len(x[1]) > k}
             below == IF far = {} THEN [h |-> h, i |-> 0] ELSE Build(h, far, k + 1)
         IN  BuildBranches(below.h, E, k, ws \ {w},
                           [br EXCEPT ![w] = [subs |-> {x[2] : x \in here \ far}, kid |-> below.i]])
Build(h, E, k) ==
    LET i == Fresh(h)      \* the I-node first, so that the root has address 1
        b == BuildBranches(Put(h, INode(0)), E, k, Words, NoBranches)
    IN  [h |-> [Put(b.h, CNode(b.br)) EXCEPT ![i].main = Fresh(b.h)], i |-> i]
BuildTrie(E) == Build(<<>>, E, 1).h

(******************************** Contents *********************************)
Kids(n) == IF n.t = "C" THEN {Branches(n)[w].kid : w \in Words} \ {0} ELSE {}
RECURSIVE Below(_, _, _)
Below(h, i, prefix) ==      \* the subscriptions below I-node i
    LET n == h[Main(h, i)] IN
    IF n.t = "T" THEN {}
    ELSE UNION {LET b == Branches(n)[w] IN
                {<<Append(prefix, w), s>> : s \in b.subs}
                \cup (IF b.kid = 0 THEN {} ELSE Below(h, b.kid, Append(prefix, w))) : w \in Words}
Contents(h) == Below(h, Root, <<>>)

(**************************** Garbage collection ***************************)
\* The nodes that cannot be reached from the root or from the addresses R become free.  So an address that
\* some process still holds is never given to another node, and operations may go on for ever.
Refs(n) == CASE n.t = "I" -> {n.main} [] n.t = "C" -> Kids(n) [] OTHER -> {}
RECURSIVE Reach(_, _, _)
Reach(h, S, New) == LET N == UNION {Refs(h[a]) : a \in New} \ S
                    IN  IF N = {} THEN S ELSE Reach(h, S \cup N, N)
Collect(h, R) ==
    LET live == Reach(h, {Root} \cup R, {Root} \cup R)
        top  == CHOOSE a \in live : \A b \in live : b <= a
    IN  TLCEval([a \in 1..top |-> IF a \in live THEN h[a] ELSE Free])

(***************************** Canonical names *****************************)
(* Two states that differ by addresses only count as one, if a model says  *)
(* so (VIEW): nodes are numbered in the order in which a walk meets them.  *)
WordSeq == CHOOSE f \in [1..Cardinality(Words) -> Words] : \A j, k \in DOMAIN f : f[j] = f[k] => j = k
Met(seq, x) == IF x = 0 THEN seq ELSE IF \E k \in 1..Len(seq) : seq[k] = x THEN seq ELSE Append(seq, x)
MeetAll(seq, xs) == LET r[k \in 0..Len(xs)] == IF k = 0 THEN seq ELSE Met(r[k - 1], xs[k]) IN r[Len(xs)]
RefSeq(n) == CASE n.t = "I" -> <<n.main>>
               [] n.t = "C" -> [k \in 1..Len(WordSeq) |-> Branches(n)[WordSeq[k]].kid]
               [] OTHER     -> <<>>
RECURSIVE Walk(_, _, _)
Walk(h, seq, k) == IF k > Len(seq) THEN seq ELSE Walk(h, MeetAll(seq, RefSeq(h[seq[k]])), k + 1)
\* The new name of each address, given the sequence of those in use.
Names(h, seq) == TLCEval([x \in 0..Len(h) |-> IF \E k \in 1..Len(seq) : seq[k] = x
                                              THEN CHOOSE k \in 1..Len(seq) : seq[k] = x ELSE 0])
NameNode(f, n) == CASE n.t = "I" -> INode(f[n.main])
                    [] n.t = "C" -> CNode(TLCEval([w \in Words |-> [Branches(n)[w] EXCEPT !.kid = f[@]]]))
                    [] OTHER     -> n
NameHeap(h, seq, f) == TLCEval([k \in 1..Len(seq) |-> NameNode(f, h[seq[k]])])
=============================================================================
