------------------------------ MODULE MCForks -------------------------------
(***************************************************************************)
(* Writable snapshots.  A fork is a snapshot that a second trie goes on    *)
(* from: its root is a new I-node, of a generation that no other trie has, *)
(* whose main node is that of the frozen root.  The two tries share        *)
(* everything below, and each renews what it is about to change.           *)
(*                                                                         *)
(* There is one fork at most, and everybody may use it once it is there.   *)
(* mem.fork is its root: an I-node or a descriptor, 0 until then.  A       *)
(* process that works on the fork takes the steps of Ctrie, with that root *)
(* in place of the other one.                                              *)
(*                                                                         *)
(* The sequential object is a pair of maps, <<trie, fork>>; the second is  *)
(* <<>> until the fork is taken.                                           *)
(***************************************************************************)
EXTENDS MCCtrie

CONSTANT InitialTrie      \* InitialMem without a fork

Fork == [op |-> "fork", key |-> "", val |-> 0]     \* answers 0
\* An operation on the fork; those of SequentialMap are on the trie.
OnFork(o)   == [op |-> o.op, key |-> o.key, val |-> o.val, on |-> "fork"]
IsOnFork(o) == "on" \in DOMAIN o

(*************************** The sequential object *************************)
ForkOutcomes(Regs, p, s) ==      \* MapOutcomes
    LET o == Regs[p].op IN
    IF o.op = "fork" THEN {[s |-> <<s[1], s[1]>>, v |-> 0]}
    ELSE IF ~IsOnFork(o) THEN {[s |-> <<SeqNext(o, s[1]), s[2]>>, v |-> SeqAnswer(o, s[1])]}
    ELSE IF s[2] = <<>> THEN {}
    ELSE {[s |-> <<s[1], SeqNext(o, s[2])>>, v |-> SeqAnswer(o, s[2])]}
ForkObject == <<Contents(InitialMem, InitialMem.root), <<>>>>      \* InitialObject
ForkSwaps(o) == o.op \in {"snapshot", "clear", "fork"}             \* Swaps
ForkMayBegin(o) == IsOnFork(o) => mem.fork # 0                     \* MayBegin

(********************************* The steps *******************************)
ForkRootOf(h, l)     == IF IsOnFork(l.op) THEN h.fork ELSE h.root                                           \* Root
ForkSetRoot(h, l, r) == IF IsOnFork(l.op) THEN [h EXCEPT !.fork = r] ELSE [h EXCEPT !.root = r]             \* SetRoot
\* The snapshot is there: its main node is read as one reads a snapshot, and is that of the fork's root.
ForkInstalled(h, l) ==      \* Installed
    IF l.op.op = "clear" THEN Return(h, 0)
    ELSE IF l.op.op = "snapshot" THEN StartReading(h, l)
    ELSE CallGcasRead(h, [Idle EXCEPT !.op = l.op, !.path = l.path], INodeOf(l), "walk")
\* The generation of the fork's root.
ForkGen(h, l) == FreshGen(h)
ForkWalked(h, l, m) ==      \* Walked
    IF l.op.op = "fork" THEN Return([Alloc(h, INode(m, ForkGen(h, l))) EXCEPT !.fork = Fresh(h)], 0)
    ELSE Visit(h, l, m)

(***************************** Canonical names *****************************)
ForkWalkFromRoot(h) ==      \* WalkFromRoot
    Walk(h, Meet(Meet([order |-> <<>>, name |-> TLCEval([a \in 1..Len(h.node) |-> 0])], h.root), h.fork))
ForkNameHeap(h, w, g, live) ==      \* NameHeap
    [root |-> w.name[h.root],
     fork |-> Name(w.name, h.fork),
     node |-> TLCEval([k \in 1..Len(w.order) |-> NameNode(w.name, g, h.node[w.order[k]])]),
     live |-> live]
ForkMem == [root |-> InitialTrie.root, fork |-> 0, node |-> InitialTrie.node, live |-> 0]      \* InitialMem

(********************************* Properties ******************************)
ForkRoots == LET r == mem.fork IN IF r = 0 THEN {} ELSE IF mem.node[r].t = "I" THEN {r} ELSE {mem.node[r].ov}
\* When nobody is at work, both tries hold what explains the history.
BothAgree == Quiet => \E c \in M : /\ c.s[1] = Contents(mem, mem.root)
                                   /\ mem.fork # 0 => c.s[2] = Contents(mem, mem.fork)
\* No I-node of the generation of one trie's root is part of the other trie, nor of a snapshot of either.
Apart(r, R) == \A q \in R : \A i \in INodesBelow(mem, q) : mem.node[i].gen # mem.node[r].gen
OneTrieEach == \A r \in ForkRoots : Apart(r, {LiveRoot} \cup Snapshots) /\ Apart(LiveRoot, {r} \cup Snapshots)
ForkShape == \A r \in ForkRoots : WellPlaced(r, 0, Keys) /\ mem.node[Settled(mem, r)].t = "C"

\* To violate ForkShape: the fork begins with the first child of the frozen root.
OfTheChild(h, l, m) == Return([Alloc(h, INode(Settled(h, Target(h.node[m].slot[1])), FreshGen(h))) EXCEPT !.fork = Fresh(h)], 0)

(********************************* Programs ********************************)
\* f takes the fork, and f and g work on it; w works on the trie; s takes snapshots of the fork.
ForkAndWriter     == [f |-> <<{Fork}, {OnFork(Put("a", 2)), OnFork(Remove("b"))}, {OnFork(Lookup("a"))}>>,
                      w |-> <<{Put("a", 3), Remove("b")}>>]
ForkAndTwoWriters == [f |-> <<{Fork}, {OnFork(Put("a", 2))}>>, g |-> <<{OnFork(Remove("b"))}>>, w |-> <<{Put("a", 3)}>>]
ForkAndSnapshot   == [f |-> <<{Fork}, {OnFork(Put("a", 2))}>>, s |-> <<{OnFork(Snapshot)}>>, w |-> <<{Remove("b")}>>]
ForkAndClear      == [f |-> <<{Fork}, {OnFork(Clear)}>>, g |-> <<{OnFork(Put("a", 2))}>>, w |-> <<{Put("a", 3)}>>]
\* Too large to try everything; for random runs of TLC.
FiveWithFork == [f |-> <<{Fork}, {OnFork(Put("a", 2)), OnFork(Remove("a"))}, {OnFork(Remove("b"))}>>,
                 g |-> <<{OnFork(Remove("a")), OnFork(Put("c", 2))}, {OnFork(Snapshot)}, {OnFork(Lookup("a"))}>>,
                 u |-> <<{Put("a", 3), Remove("a")}, {Put("b", 2)}>>,
                 w |-> <<{Remove("f"), Put("f", 2)}, {Remove("a")}>>,
                 s |-> <<{Snapshot}, {Put("d", 2)}>>]
=============================================================================
