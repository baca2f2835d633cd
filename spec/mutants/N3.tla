-------------------------------- MODULE N3 ----------------------------------
(***************************************************************************)
(* Mutant N3 (ABA): a retired node is free in the epoch it was retired in. *)
(*                                                                         *)
(* A writer has read main and is about to CAS it.  Another replaces that   *)
(* node, frees it, and publishes a third at the same address.  The CAS     *)
(* succeeds, and of three updates one is lost.                             *)
(***************************************************************************)
EXTENDS Reclamation

N3_Grace == 0
\* A freed node keeps its contents until its address is reused.
N3_Remains(n) == [n EXCEPT !.t = "free"]

Nobody == <<>>
SlowWriter == [u |-> <<Inc("top")>>, w |-> <<Inc("top"), Advance, Inc("top")>>]
=============================================================================
