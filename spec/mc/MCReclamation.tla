--------------------------- MODULE MCReclamation ----------------------------
(***************************************************************************)
(* Bounded models of reclamation.  A .cfg file picks who holds a snapshot  *)
(* at the start, and the program of each process.                          *)
(***************************************************************************)
EXTENDS Reclamation

Nobody    == <<>>
SThenT    == <<"s", "t">>      \* s holds the older snapshot, t the newer one
OnlyS     == <<"s">>

(********************************* Programs ********************************)
\* r: reader; u, w: writers; s, t: they take, or hold, snapshots; c: clears.
ReaderAndWriter       == [r |-> <<Get>>, w |-> <<Inc("top"), Advance, Advance>>, u |-> <<Advance, Get>>]
ReaderAndTwoWriters   == [r |-> <<Get>>, w |-> <<Inc("top"), Advance, Advance, Inc("top")>>, u |-> <<Inc("top"), Advance>>]
SnapshotAndUpdate     == [s |-> <<Snapshot, Read, Drop>>, w |-> <<Inc("low"), Advance, Advance>>]
TwoSnapshotters       == [s |-> <<Snapshot, Drop>>, t |-> <<Snapshot, Drop>>]
DropSnapshotUpdate    == [s |-> <<Drop>>, t |-> <<Snapshot>>, w |-> <<Inc("top")>>]
DropAndTwoUpdates     == [s |-> <<Drop>>, w |-> <<Inc("top"), Inc("top")>>]
TwoDropsAndKiller     == [s |-> <<Drop>>, t |-> <<Drop>>, w |-> <<Inc("low")>>]
DropTakeAndKiller     == [s |-> <<Drop>>, t |-> <<Drop, Snapshot>>, w |-> <<Inc("top")>>]
UpdatesAndDrop        == [s |-> <<>>, t |-> <<Inc("top"), Drop>>, w |-> <<Inc("top"), Inc("low")>>]
DropTakeAndUpdates    == [s |-> <<>>, t |-> <<Drop, Snapshot>>, w |-> <<Inc("top"), Inc("low")>>]
ClearAndUpdates       == [c |-> <<Clear, Advance, Advance>>, w |-> <<Inc("low"), Inc("low")>>]
ClearAndSnapshot      == [c |-> <<Clear>>, s |-> <<Snapshot, Read, Drop>>]
ClearDropUpdate       == [c |-> <<Clear>>, s |-> <<Drop>>, w |-> <<Inc("top")>>]
SnapshotReadDropUpdateReader == [s |-> <<Snapshot, Read, Drop>>, w |-> <<Inc("top"), Advance, Advance>>, r |-> <<Get>>]
SnapshotUpdateReader  == [s |-> <<Snapshot, Drop>>, w |-> <<Inc("top"), Advance, Advance>>, r |-> <<Get>>]

\* Too large to try everything; for random runs of TLC.
Five == [s |-> <<Drop, Snapshot, Read, Drop, Clear, Snapshot, Drop>>,
         t |-> <<Inc("low"), Drop, Snapshot, Read, Drop, Inc("top"), Advance>>,
         u |-> <<Inc("top"), Advance, Inc("low"), Advance, Inc("low"), Advance, Get>>,
         w |-> <<Inc("low"), Inc("low"), Advance, Snapshot, Inc("top"), Drop, Advance>>,
         r |-> <<Get, Advance, Get, Advance, Get, Clear, Advance>>]
=============================================================================
