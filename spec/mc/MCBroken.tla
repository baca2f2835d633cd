------------------------------ MODULE MCBroken ------------------------------
(***************************************************************************)
(* Every invariant can fail: for each that no mutant violates, a small     *)
(* change that does.                                                       *)
(***************************************************************************)
EXTENDS LinearizationPoints, Scenarios

\* TypeOK: a decision that is none.
Perhaps(h, l, m) == Goto(h, [l EXCEPT !.want = "PERHAPS"], "RdcssDecide")
\* OldMainCommitted: a main node is taken as it is, committed or not.
AsItIs(h, l) == Hand(h, l, "main", Main(h, l.gi))
\* GenerationsGrowUp: the counter of generations wraps around.
WrappedGen(h) == 1
\* RootIsCNode: the root contracts like any other level.
EvenTheRoot(slots, lev, prev) ==
    LET S == {b \in 1..2 : ~IsEmpty(slots[b])}
    IN  IF Cardinality(S) = 1 THEN TNode(slots[CHOOSE b \in S : TRUE], prev) ELSE CNode(slots, prev)
\* TreeShape: the slots of a copy change places.
Mirrored(slots, lev, prev) == CNode(<<slots[2], slots[1]>>, prev)
\* Contracting: nothing contracts.
NeverContracted(slots, lev, prev) == CNode(slots, prev)
\* NoTombLeft: who makes a tomb does not clean it up.
StayDown(h, l) == Return(h, l.res)
\* ContentsNow: an update is taken to take effect when it is installed.
WhenInstalled(c, p) ==
    LET l == L[p] IN
    IF l.pc = "GcasCas" /\ l.gret \in {"put", "remove"} /\ Main(mem, l.gi) = Prev(mem, l.n) THEN Effect(c, p) ELSE c

HoldsAB   == Trie({"a", "b"})
RenewedAB == Renewed({"a", "b"})
RemoveA     == [w |-> <<{Remove("a")}>>]
TwoPuts     == [u |-> <<{Put("a", 2)}>>, w |-> <<{Put("b", 2)}>>]
PutSnapshot == [w |-> <<{Put("a", 2)}>>, s |-> <<{Snapshot}>>]
=============================================================================
