--------------------------------- MODULE K2 ---------------------------------
(***************************************************************************)
(* Mutant K2: the clock is not read again.  Who comes late with an old    *)
(* time is refused what was there all the time.                            *)
(***************************************************************************)
EXTENDS MCRateLimiter

K2_LookAgain(p) == At(p, "LookAgain") /\ Answer(p, FALSE) /\ UNCHANGED <<word, clock>>
=============================================================================
