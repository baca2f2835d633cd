-------------------------------- MODULE R5 ----------------------------------
(***************************************************************************)
(* Mutant R5: a process pins by a plain store, without a fence.            *)
(*                                                                         *)
(* The pin is still in its store buffer when it reads the root.  Nobody    *)
(* sees it, so two epochs pass and what it has read is freed.              *)
(***************************************************************************)
EXTENDS Reclamation

R5_PublishPin(a, p, e) == [a EXCEPT !.buffer[p] = e]

Nobody == <<>>
ReaderAndUpdate == [r |-> <<Get>>, w |-> <<Inc("top"), Advance, Advance>>]
=============================================================================
