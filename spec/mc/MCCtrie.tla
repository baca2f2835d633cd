------------------------------ MODULE MCCtrie -------------------------------
(***************************************************************************)
(* Bounded models of the Ctrie.  A .cfg file picks a hash function, an     *)
(* initial trie and the program of each process.                           *)
(***************************************************************************)
EXTENDS Scenarios

(******************************* Initial tries *****************************)
Nothing    == Trie({})
HoldsA     == Trie({"a"})
HoldsAB    == Trie({"a", "b"})
HoldsABC   == Trie({"a", "b", "c"})
RenewedABC == Renewed({"a", "b", "c"})
RenewedABCD == Renewed({"a", "b", "c", "d"})
\* b was removed, and before the tomb of a was cleaned up came a snapshot.
OldTomb == LET h == RenewedABC
               i == Target(h.node[Main(h, h.root)].slot[1])
           IN  [h EXCEPT !.node[Main(h, i)] = TNode(SNode("a", 1), 0)]

(********************************* Programs ********************************)
\* s: snapshotter, c: clearer, r: reader, the others are writers.
Toggle(k) == {Put(k, 1), Remove(k)}      \* for ever in and out
Change(k) == {Put(k, 2), Remove(k)}      \* of a key that is there

OneWriterOneSnapshotter   == [w |-> <<Toggle("a")>>, s |-> <<{Snapshot}>>]
OneWriterOneClearer       == [w |-> <<Toggle("a") \cup {Lookup("a")}>>, c |-> <<{Clear}>>]
TwoWriters                == [u |-> <<Toggle("a")>>, w |-> <<Toggle("b")>>]
TwoWritersOneReader       == [u |-> <<Change("a")>>, w |-> <<Change("b")>>, r |-> <<{Lookup("a")}>>]
TwoPutsOneSnapshotter     == [u |-> <<{Put("a", 2)}>>, w |-> <<{Put("c", 1)}>>, s |-> <<{Snapshot}>>]
PutRemoveSnapshot         == [u |-> <<{Put("a", 2)}>>, w |-> <<{Remove("b")}>>, s |-> <<{Snapshot}>>]
InsertRemoveRemove        == [u |-> <<{Remove("a")}>>, w |-> <<{Remove("b")}>>, x |-> <<{Put("c", 1)}>>]
RemoveInsertAndRemove     == [u |-> <<{Remove("a")}, {Put("c", 1)}>>, w |-> <<{Remove("b")}>>]
TwoRemovesOneReader       == [u |-> <<{Remove("a")}>>, w |-> <<{Remove("b")}>>, r |-> <<{Lookup("a")}>>]
ChangesAndSnapshot        == [u |-> <<Change("a")>>, w |-> <<Change("b")>>, s |-> <<{Snapshot}>>]
OneWriterTwoSnapshotters  == [w |-> <<{Put("a", 2)}>>, s |-> <<{Snapshot}>>, t |-> <<{Snapshot}>>]

\* Two writers of one key: whoever has to try again finds another value than before.
Becomes(k, v) == {Put(k, v), Remove(k)}
TwoOnOneKey               == [u |-> <<Becomes("a", 2)>>, w |-> <<Becomes("a", 3)>>]
TwoOnOneKeySnapshot       == [u |-> <<{Put("a", 2)}>>, w |-> <<{Remove("a")}>>, s |-> <<{Snapshot}>>]
ThreeOnTwoKeys            == [u |-> <<{Put("a", 2)}>>, w |-> <<{Remove("a")}>>, x |-> <<{Remove("b")}>>]
TwoConditional            == [u |-> <<{PutIfAbsent("a", 2), ReplaceIf("a", 1, 3)}>>,
                              w |-> <<{RemoveIf("a", 1), PutIfPresent("a", 1), Put("a", 1)}>>]
ConditionalSnapshot       == [u |-> <<{ReplaceIf("a", 1, 3)}>>, w |-> <<{RemoveIf("a", 1)}>>, s |-> <<{Snapshot}>>]
TwoClearersOneWriter      == [c |-> <<{Clear}>>, d |-> <<{Clear}>>, w |-> <<{Put("a", 2)}>>]
ClearerSnapshotterWriter  == [c |-> <<{Clear}>>, s |-> <<{Snapshot}>>, w |-> <<{Put("a", 2)}>>]
TwoRemoves                == [u |-> <<{Remove("a")}>>, w |-> <<{Remove("b")}>>]
RemoveAndSnapshot         == [w |-> <<{Remove("a")}>>, s |-> <<{Snapshot}>>]
PutRemoveInTwoChildren    == [u |-> <<{Put("a", 2)}>>, w |-> <<{Remove("c")}>>, r |-> <<{Lookup("a")}, {Lookup("c")}>>]
TwoChildrenSnapshot       == [u |-> <<{Put("a", 2)}>>, w |-> <<{Remove("c")}>>, s |-> <<{Snapshot}>>]
AtTheTomb                 == [u |-> <<{Put("b", 2), Remove("a")}>>, r |-> <<{Lookup("a")}, {Lookup("b")}>>, s |-> <<{Snapshot}>>]
ThreeWriters              == [u |-> <<{Put("a", 1)}>>, w |-> <<{Remove("a")}>>, x |-> <<{Put("a", 2)}>>]

\* Too large to try everything; for random runs of TLC (`simulate` in the manifest).  Menus are small, since TLC computes
\* all next states before it takes one.
FiveOnFourLevels == [u |-> <<{Put("a", 2), Remove("a")}, {Put("b", 1), Remove("b")}>>,
                     w |-> <<{Put("a", 3), Remove("a")}, {PutIfAbsent("b", 2), RemoveIf("b", 1)}>>,
                     x |-> <<{Remove("f"), Put("f", 2)}, {Remove("c")}, {Put("c", 1), Put("d", 2)}>>,
                     r |-> <<{Lookup("a")}, {ReplaceIf("a", 2, 3), ReplaceIf("e", 1, 2)}>>,
                     s |-> <<{Snapshot}, {Lookup("f")}, {Snapshot, Clear}>>]
HoldsAll == Trie({"a", "b", "c", "d", "e", "f"})
=============================================================================
