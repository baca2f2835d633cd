------------------------------ MODULE MCProbes ------------------------------
(***************************************************************************)
(* Reachability: what the models must reach to mean anything.  Each        *)
(* "invariant" says that it never happens, and TLC must show that it does. *)
(***************************************************************************)
EXTENDS Scenarios

NoTomb      == Nodes("T") = {}
NoFailure   == \A m \in MainNodes : Prev(mem, m) >= 0                         \* of a GCAS
NoAbort     == \A d \in Nodes("D") : mem.node[d].status # "ABORT"
NoRenewal   == \A p \in Procs : L[p].gret # "renew"
\* An L-node with a single entry left becomes a tomb.
NoCollapse  == \A m \in Nodes("T") : Prev(mem, m) <= 0 \/ mem.node[Prev(mem, m)].t # "L"
\* A tomb moves up into a parent that becomes a tomb too.
NoCascade   == \A m \in Nodes("T") : Prev(mem, m) <= 0 \/ Links(mem.node[Prev(mem, m)]) = {}
\* Somebody is about to commit what another has installed; to decide another's descriptor.
NoHelp      == \A p, q \in Procs : p # q /\ L[p].pc = "CompleteCommit" => L[p].gm # L[q].n
NoHelpRdcss == \A p \in Procs : L[p].pc = "RdcssDecide" => L[p].rret = "own"
\* An update that has read the root before a snapshot is about to commit after it.
NoLateCommit == \A p \in Procs : L[p].pc = "CompleteCommit" /\ Prev(mem, L[p].gm) = L[p].gp =>
                    mem.node[mem.root].t = "D" \/ Gen(mem, mem.root) = Gen(mem, L[p].gi)

HoldsAB  == Trie({"a", "b"})
HoldsABC == Trie({"a", "b", "c"})
PutSnapshot   == [w |-> <<{Put("a", 2)}>>, s |-> <<{Snapshot}>>]
RemoveBoth    == [w |-> <<{Remove("a")}, {Remove("b")}>>]
TwoPuts       == [u |-> <<{Put("a", 2)}>>, w |-> <<{Put("b", 2)}>>]
=============================================================================
