-------------------------------- MODULE Heap --------------------------------
(***************************************************************************)
(* The nodes of a Ctrie, their allocation, and garbage collection.         *)
(*                                                                         *)
(* Memory is a record  [root, node, live]:  node is a sequence of records, *)
(* an address is an index into it, 0 is the null address.  root is the     *)
(* address of an I-node or of an RDCSS descriptor.  live is no part of the *)
(* algorithm: the nodes reachable from root are 1..live (see below).       *)
(*                                                                         *)
(* Only what a CAS can compare needs an address: I-nodes, main nodes       *)
(* (C-, T-, L-nodes) and descriptors.  S-nodes are immutable, no CAS ever  *)
(* compares them, so here they are values <<key, value>>.  The mutable     *)
(* fields are root, INode.main, prev and Descriptor.status; all others are *)
(* written before the node is published.                                   *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANT Hash      \* key -> sequence of hash bits; all of one length, the depth of the trie.
                   \* A slice is one bit, so a C-node has two slots; keys equal in all bits share an L-node.
Keys  == DOMAIN Hash
Depth == Len(Hash[CHOOSE k \in Keys : TRUE])
ASSUME Keys # {} /\ \A k \in Keys : Len(Hash[k]) = Depth /\ \A b \in 1..Depth : Hash[k][b] \in {0, 1}

Abs(a) == IF a < 0 THEN -a ELSE a

(********************************** Nodes **********************************)
\* A slot of a C-node: empty, an S-node, or a link to a child I-node.
Empty       == <<>>
SNode(k, v) == <<k, v>>
Link(i)     == <<i>>
IsEmpty(s)  == Len(s) = 0
IsSNode(s)  == Len(s) = 2
IsLink(s)   == Len(s) = 1
KeyOf(s)    == s[1]
ValOf(s)    == s[2]
Target(s)   == s[1]
\* The slot (1 or 2) of key k in a C-node at level lev; the root's C-node is at level 0.
SlotOf(k, lev) == Hash[k][lev + 1] + 1

\* gen: the generation of the I-node.  A trie may change only I-nodes of its own generation.
INode(m, g)  == [t |-> "I", main |-> m, gen |-> g]
\* prev of a main node: 0 committed, a > 0 pending with old main a, -a failed (to be undone to a).
CNode(slots, prev) == [t |-> "C", slot |-> slots, prev |-> prev]
TNode(s, prev)     == [t |-> "T", snode |-> s, prev |-> prev]        \* a tomb: final once committed
LNode(E, prev)     == [t |-> "L", entries |-> E, prev |-> prev]      \* the S-nodes of one full hash
\* RDCSS: replace root ov by nv if the main of ov is still exp.
Descriptor(ov, exp, nv) == [t |-> "D", ov |-> ov, exp |-> exp, nv |-> nv, status |-> "UNDECIDED"]

\* Allocation: the new node's address is Fresh(h).
Fresh(h)    == Len(h.node) + 1
Alloc(h, n) == [h EXCEPT !.node = Append(@, n)]

\* The two S-nodes, or more, of E as a main node at level lev of generation g, with everything below it
\* (the paper's "dual"): a record [h, n] of the memory and the node, the latter not yet allocated.
RECURSIVE Build(_, _, _, _)
BuildSlot(h, E, lev, g) ==      \* as Build, for one slot: [h, s]
    IF E = {} THEN [h |-> h, s |-> Empty]
    ELSE IF Cardinality(E) = 1 THEN [h |-> h, s |-> CHOOSE s \in E : TRUE]
    ELSE LET b  == Build(h, E, lev, g)
             h1 == Alloc(b.h, b.n)
         IN  [h |-> Alloc(h1, INode(Fresh(b.h), g)), s |-> Link(Fresh(h1))]
Build(h, E, lev, g) ==
    IF lev = Depth THEN [h |-> h, n |-> LNode(E, 0)]
    ELSE LET z == BuildSlot(h, {s \in E : SlotOf(KeyOf(s), lev) = 1}, lev + 1, g)
             o == BuildSlot(z.h, {s \in E : SlotOf(KeyOf(s), lev) = 2}, lev + 1, g)
         IN  [h |-> o.h, n |-> CNode(<<z.s, o.s>>, 0)]
\* A whole trie: the S-nodes E below a root I-node of generation rg, all other I-nodes of generation g.
BuildTrie(E, rg, g) ==
    LET b  == Build([root |-> 0, node |-> <<>>, live |-> 0], E, 0, g)
        h1 == Alloc(b.h, b.n)
        h2 == Alloc(h1, INode(Fresh(b.h), rg))
    IN  [h2 EXCEPT !.root = Fresh(h1)]

(******************************** Contents *********************************)
\* The main node by which a reader that commits nothing would answer: a pending update does not count.
Settled(h, i) == LET m == h.node[i].main  p == h.node[m].prev IN IF p = 0 THEN m ELSE Abs(p)
Links(n)  == IF n.t = "C" THEN {Target(n.slot[b]) : b \in {b \in 1..2 : IsLink(n.slot[b])}} ELSE {}
SNodes(n) == CASE n.t = "C" -> {n.slot[b] : b \in {b \in 1..2 : IsSNode(n.slot[b])}}
               [] n.t = "T" -> {n.snode}
               [] n.t = "L" -> n.entries
RECURSIVE SNodesBelow(_, _)
SNodesBelow(h, i) == LET n == h.node[Settled(h, i)]
                     IN  SNodes(n) \cup UNION {SNodesBelow(h, c) : c \in Links(n)}
RECURSIVE INodesBelow(_, _)
INodesBelow(h, i) == {i} \cup UNION {INodesBelow(h, c) : c \in Links(h.node[Settled(h, i)])}
\* A set of S-nodes as a map.
AsMap(E) == TLCEval([k \in Keys |-> IF \E s \in E : KeyOf(s) = k
                                    THEN ValOf(CHOOSE s \in E : KeyOf(s) = k) ELSE 0])
Contents(h, i) == AsMap(SNodesBelow(h, i))

(******************** Garbage collection, canonical names ******************)
(* After every step the nodes still reachable are renamed in the order in  *)
(* which a fixed walk meets them, and the others disappear.  States that   *)
(* differ by names or garbage only are then equal, which makes the state   *)
(* space finite although operations allocate for ever.  It also is the     *)
(* garbage collector that the algorithm assumes: an address that some      *)
(* process still holds is never reused.                                    *)


\* A walk is [order, name]: the addresses met so far, and the new name of each (0: not met yet).
Meet(w, a) == IF a = 0 THEN w
              ELSE IF w.name[a] # 0 THEN w
              ELSE [order |-> Append(w.order, a), name |-> [w.name EXCEPT ![a] = Len(w.order) + 1]]
MeetSlot(w, s) == IF Len(s) = 1 THEN Meet(w, s[1]) ELSE w
MeetAll(w0, rs) ==
    LET w[k \in 0..Len(rs)] == IF k = 0 THEN w0 ELSE Meet(w[k - 1], Abs(rs[k])) IN w[Len(rs)]
MeetRefs(h, w, a) ==
    LET n == h.node[a] IN
    CASE n.t = "C" -> MeetSlot(MeetSlot(Meet(w, Abs(n.prev)), n.slot[1]), n.slot[2])
      [] n.t = "I" -> Meet(w, n.main)
      [] n.t = "D" -> Meet(Meet(Meet(w, n.ov), n.exp), n.nv)
      [] OTHER     -> Meet(w, Abs(n.prev))
Walk(h, w0) ==
    LET w[k \in 0..Len(h.node)] ==      \* the first k addresses met have been left again
            IF k = 0 THEN w0
            ELSE LET v == w[k - 1] IN IF k > Len(v.order) THEN v ELSE MeetRefs(h, v, v.order[k])
    IN  w[Len(h.node)]
WalkFromRoot(h) == Walk(h, Meet([order |-> <<>>, name |-> TLCEval([a \in 1..Len(h.node) |-> 0])], h.root))

\* New names for old.  f is the name of a walk, g the new number of a generation.
Name(f, a)  == IF a = 0 THEN 0 ELSE IF a < 0 THEN -f[-a] ELSE f[a]
NameSlot(f, s) == IF IsLink(s) THEN <<f[s[1]]>> ELSE s
NameNode(f, g, n) ==
    CASE n.t = "I" -> [n EXCEPT !.main = f[@], !.gen = g[@]]
      [] n.t = "C" -> [n EXCEPT !.slot = <<NameSlot(f, @[1]), NameSlot(f, @[2])>>, !.prev = Name(f, @)]
      [] n.t = "D" -> [n EXCEPT !.ov = f[@], !.exp = f[@], !.nv = f[@]]
      [] OTHER     -> [n EXCEPT !.prev = Name(f, @)]
\* Generations are only compared, so their numbers are made consecutive, in the same order.
GensOf(h, order) == {h.node[order[k]].gen : k \in {k \in 1..Len(order) : h.node[order[k]].t = "I"}}
Compact(G) == LET top == CHOOSE x \in G : \A y \in G : y <= x
              IN  TLCEval([x \in 1..top |-> Cardinality({y \in G : 0 < y /\ y <= x})])
FreshGen(h) == LET G == {h.node[a].gen : a \in {a \in 1..Len(h.node) : h.node[a].t = "I"}}
               IN  1 + (CHOOSE x \in G : \A y \in G : y <= x)
NameHeap(h, w, g, live) ==
    [root |-> w.name[h.root],
     node |-> TLCEval([k \in 1..Len(w.order) |-> NameNode(w.name, g, h.node[w.order[k]])]),
     live |-> live]
=============================================================================
