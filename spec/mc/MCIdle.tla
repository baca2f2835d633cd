------------------------------- MODULE MCIdle -------------------------------
(***************************************************************************)
(* Bounded models of the idle snapshot.  A .cfg file picks who holds a     *)
(* snapshot at the start, and the program of each process.                 *)
(***************************************************************************)
EXTENDS Idle

Nobody == <<>>
OnlyS  == <<"s">>

\* s, t: they take and give; w: writer; c: clears.
GiveAndUpdate      == [s |-> <<Give>>, w |-> <<Inc("top")>>]
GiveTakeUpdate     == [s |-> <<Give, Take, Read, Give>>, w |-> <<Inc("top"), Advance, Advance>>]
TakersAndUpdate    == [s |-> <<Give>>, t |-> <<Take>>, w |-> <<Inc("top")>>]
UpdateBelow        == [s |-> <<Give, Take, Give>>, w |-> <<Inc("low")>>]
GiveTakeClear      == [s |-> <<Give, Take, Give>>, c |-> <<Clear>>]

\* A snapshot is taken that was idle.
NoneTaken == \A p \in Procs : ~(shown[p] # <<>> /\ At(p, "Unpin"))
=============================================================================
