---------------------------- MODULE MCRetirement ----------------------------
(***************************************************************************)
(* Who retires what: GCAS, contraction and L-nodes, and the death of each  *)
(* node, together.                                                         *)
(*                                                                         *)
(* In Ctrie a garbage collector takes what nobody can reach.  The code has *)
(* none: the process whose GCAS committed retires the old main node and    *)
(* what the new one lacks, and the process whose update failed retires     *)
(* what it has made.  Where the dead go, on a deadlist or to the epochs,   *)
(* is Reclamation; here each node is made, live, and then dead, and the    *)
(* garbage collector is the judge:                                         *)
(*  - what it takes that was published is dead (NoneLost);                 *)
(*  - nothing dies twice (OnceOnly);                                       *)
(*  - nothing dead can be reached from the root (DeadAreUnlinked).         *)
(***************************************************************************)
EXTENDS MCCtrie

CONSTANT InitialTrie      \* InitialMem, whose nodes are all live

(********************************** Nodes **********************************)
RetiringINode(m, g)            == [t |-> "I", main |-> m, gen |-> g, fate |-> "made"]                  \* INode
RetiringCNode(slots, prev)     == [t |-> "C", slot |-> slots, prev |-> prev, fate |-> "made"]          \* CNode
RetiringTNode(s, prev)         == [t |-> "T", snode |-> s, prev |-> prev, fate |-> "made"]             \* TNode
RetiringLNode(E, prev)         == [t |-> "L", entries |-> E, prev |-> prev, fate |-> "made"]           \* LNode
RetiringDescriptor(ov, exp, nv) ==                                                                     \* Descriptor
    [t |-> "D", ov |-> ov, exp |-> exp, nv |-> nv, status |-> "UNDECIDED", fate |-> "made"]
RetiringMem ==      \* InitialMem
    [root |-> InitialTrie.root, live |-> 0, twice |-> FALSE, lost |-> FALSE,
     node |-> [a \in 1..Len(InitialTrie.node) |-> [InitialTrie.node[a] EXCEPT !.fate = "live"]]]

(******************************** Registers ********************************)
\* old: the main node, or the root, to be replaced; made: what was made for this attempt.
RetiringIdle == Registers @@ [old |-> 0, made |-> <<>>]      \* Idle
RetiringMoreRefs(l)    == Some(l.old) \o l.made              \* MoreRefs
RetiringNameMore(f, l) == [l EXCEPT !.old = Name(f, @), !.made = [k \in 1..Len(@) |-> f[@[k]]]]      \* NameMore
\* Everything that an attempt needs is made in one step.
RetiringPrepared(h, l) ==      \* Prepared
    [l EXCEPT !.old  = IF l.pc = "GcasCas" THEN Prev(h, l.n) ELSE h.node[l.rd].ov,
              !.made = [k \in 1..(Len(h.node) - Len(mem.node)) |-> Len(mem.node) + k]]

(******************************** Retirement *******************************)
Range(s) == {s[k] : k \in DOMAIN s}
Become(h, X, fate) == [h EXCEPT !.node = [a \in 1..Len(@) |-> IF a \in X THEN [@[a] EXCEPT !.fate = fate] ELSE @[a]]]
Retired(h, X) == [Become(h, X, "dead") EXCEPT !.twice = @ \/ \E a \in X : h.node[a].fate = "dead"]
RetiringPublished(h, l) == Become(h, Range(l.made), "live")      \* Published

\* The I-nodes that compressing C-node old into new has dropped, each with its tomb, which nothing ever replaces.
Dropped(h, old, new) ==
    {Target(h.node[old].slot[b]) : b \in {c \in 1..2 : /\ IsLink(h.node[old].slot[c])
                                                       /\ \/ h.node[new].t = "T"
                                                          \/ h.node[old].slot[c] # h.node[new].slot[c]}}
WithTombs(h, I) == I \cup {Main(h, i) : i \in I}
\* What dies when new has replaced old.
Replaced(h, l) ==
    CASE l.gret \in {"put", "remove"} -> {l.old}
      [] l.gret = "renew"             -> {l.old} \cup (Links(h.node[l.old]) \ Links(h.node[l.n]))
      [] l.gret = "clean"             -> {l.old} \cup WithTombs(h, Dropped(h, l.old, l.n))
      [] l.gret = "cleanParent"       -> {l.old} \cup WithTombs(h, {INodeOf(l)})
\* The new nodes of an update that was installed and has failed.  Those of one that was never installed are free at once.
InVain(h, l) == IF h.node[l.n].fate = "made" THEN {} ELSE Range(l.made)
RetiringGcasEnded(h, l, ok) == Retired(h, IF ok THEN Replaced(h, l) ELSE InVain(h, l))      \* GcasEnded
RetiringRdcssEnded(h, l) ==      \* RdcssEnded; models have no clear, which retires a whole tree (Reclamation)
    Retired(h, IF h.node[l.rd].status = "COMMIT" THEN {l.rd, l.old} ELSE Range(l.made))

(***************************** Canonical names *****************************)
RetiringNameHeap(h, w, g, live) ==      \* NameHeap
    [root |-> w.name[h.root],
     node |-> TLCEval([k \in 1..Len(w.order) |-> NameNode(w.name, g, h.node[w.order[k]])]),
     live |-> live,
     twice |-> h.twice,
     lost |-> h.lost \/ \E a \in 1..Len(h.node) : w.name[a] = 0 /\ h.node[a].fate = "live"]

(********************************* Properties ******************************)
NoneLost == ~mem.lost
OnceOnly == ~mem.twice
\* From an I-node: the main node, and the old one while the main node is not committed.
RECURSIVE Linked(_)
Linked(i) == LET M1 == {mem.node[i].main, Settled(mem, i)}
             IN  {i} \cup M1 \cup UNION {Linked(c) : c \in UNION {Links(mem.node[m]) : m \in M1}}
DeadAreUnlinked == \A a \in Linked(LiveRoot) : mem.node[a].fate # "dead"
=============================================================================
