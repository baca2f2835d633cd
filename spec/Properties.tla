----------------------------- MODULE Properties -----------------------------
(***************************************************************************)
(* What must hold of the Ctrie: invariants, and lock-freedom.              *)
(***************************************************************************)
EXTENDS Ctrie

Nodes(t)  == {a \in 1..Len(mem.node) : mem.node[a].t = t}
MainNodes == Nodes("C") \cup Nodes("T") \cup Nodes("L")
Snapshots     == {L[p].held : p \in Procs} \ {0}
LiveRoot  == LET r == mem.root IN IF mem.node[r].t = "I" THEN r ELSE mem.node[r].ov

\* Some order of the operations, consistent with real time, explains all answers given so far.
Linearizable == M # {}

TypeOK ==
    /\ mem.root \in Nodes("I") \cup Nodes("D")
    /\ \A i \in Nodes("I") : mem.node[i].main \in MainNodes /\ mem.node[i].gen \in Nat \ {0}
    /\ \A m \in MainNodes : Abs(mem.node[m].prev) \in MainNodes \cup {0}
    /\ \A m \in Nodes("C") : Links(mem.node[m]) \subseteq Nodes("I")
    /\ \A d \in Nodes("D") : mem.node[d].status \in {"UNDECIDED", "COMMIT", "ABORT"}
    /\ \A p \in Procs : DOMAIN L[p] = DOMAIN Idle

\* A GCAS is tried on committed nodes only: the old main node of an uncommitted one is committed.
OldMainCommitted == OldCommitted(mem)

\* Generations grow towards the root: an I-node is never younger than the one above it.
GenerationsGrowUp ==
    \A i \in Nodes("I") : \A m \in {mem.node[i].main, Settled(mem, i)} :
        \A c \in Links(mem.node[m]) : mem.node[c].gen <= mem.node[i].gen

\* A tomb or an L-node is never the main node of the root.
RootIsCNode == \A i \in {LiveRoot} \cup Snapshots :
                  \A m \in {mem.node[i].main, Settled(mem, i)} : mem.node[m].t = "C"

\* Each S-node is where its hash says, and L-nodes are at the bottom and hold two keys or more.
RECURSIVE WellPlaced(_, _, _)
WellPlaced(i, lev, K) ==      \* K: the keys that belong below I-node i
    LET n == mem.node[Settled(mem, i)] IN
    /\ \A s \in SNodes(n) : KeyOf(s) \in K
    /\ n.t = "L" => lev = Depth /\ Cardinality(n.entries) >= 2
    /\ n.t = "C" => /\ lev < Depth
                    /\ \A b \in 1..2 : LET B == {k \in K : SlotOf(k, lev) = b} IN
                          /\ IsSNode(n.slot[b]) => KeyOf(n.slot[b]) \in B
                          /\ IsLink(n.slot[b])  => WellPlaced(Target(n.slot[b]), lev + 1, B)
TreeShape == \A i \in {LiveRoot} \cup Snapshots : WellPlaced(i, 0, Keys)

\* Contraction leaves no committed C-node below the root with a single S-node and nothing else, or empty.
Contracting == \A i \in INodesBelow(mem, LiveRoot) \ {LiveRoot} :
                  LET n == mem.node[Settled(mem, i)] IN
                  n.t = "C" => \/ Links(n) # {}
                               \/ Cardinality(SNodes(n)) = 2

\* A generation belongs to one trie: no I-node of the live root's generation is part of a snapshot.
OneTriePerGeneration ==
    \A p \in Procs : L[p].held # 0 =>
        \A i \in INodesBelow(mem, L[p].held) : mem.node[i].gen < mem.node[LiveRoot].gen

\* What a snapshot was found to contain when it was read, it contains for ever.
SnapshotFrozen == \A p \in Procs : (L[p].held # 0 /\ L[p].pc = "idle") => Contents(mem, L[p].held) = L[p].seen

\* When nobody is at work, the trie holds a map that explains the history.
QuiescentAgree == Quiet => /\ mem.node[mem.root].t = "I"
                           /\ \E c \in M : c.s = Contents(mem, mem.root)

\* When nobody is at work and there never was a snapshot, no tomb is left.
NoTombLeft == Quiet => \A i \in INodesBelow(mem, LiveRoot) : mem.node[Settled(mem, i)].t # "T"

(***************************** For the reader ******************************)
(* A state in a few words, for a TLC that knows ALIAS (2.15 does not; say  *)
(* "ALIAS Alias" in the .cfg): what each process is about to do, what the  *)
(* trie and the snapshots hold, and how many orders explain the history.   *)
Alias == [next      |-> [p \in Procs |-> <<L[p].op.op, L[p].op.key, L[p].pc>>],
          trie      |-> Contents(mem, LiveRoot),
          root      |-> IF mem.node[mem.root].t = "I" THEN "I-node" ELSE mem.node[mem.root].status,
          pending   |-> {i \in INodesBelow(mem, LiveRoot) : mem.node[mem.node[i].main].prev # 0},
          snapshots |-> [p \in {q \in Procs : L[q].held # 0} |-> Contents(mem, L[p].held)],
          explained |-> Cardinality(M)]
AliasIsThere == DOMAIN Alias # {}

(******************************* Lock-freedom ******************************)
(* If steps are taken for ever, operations return for ever: whoever is     *)
(* stopped, and wherever, cannot stop the others.  Stated as an            *)
(* implication and not by fairness of Next, so that TLC need not evaluate  *)
(* ENABLED.  Single operations may starve: the structure is not wait-free. *)
Answered == \E p \in Procs : L[p].pc # "idle" /\ L'[p].pc = "idle"
LockFree == []<><<TRUE>>_vars => []<><<Answered>>_vars
WaitFree == \A p \in Procs : []<><<TRUE>>_vars => []<>(L[p].pc = "idle")      \* false
=============================================================================
