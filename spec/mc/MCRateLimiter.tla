--------------------------- MODULE MCRateLimiter ----------------------------
(***************************************************************************)
(* Bounded models of the token bucket, and programs for its mutants.       *)
(***************************************************************************)
EXTENDS RateLimiter

Two   == 2
Mixed == [p |-> <<Acquire(1), Acquire(2)>>, q |-> <<Acquire(2), Acquire(1)>>, c |-> <<Tick, Tick>>]
Three == [p |-> <<Acquire(1)>>, q |-> <<Acquire(1), Acquire(1)>>, r |-> <<Acquire(2)>>, c |-> <<Tick, Tick, Tick>>]
Race  == [p |-> <<Acquire(2)>>, q |-> <<Acquire(1)>>]
Stale == [p |-> <<Acquire(1)>>, c |-> <<Tick, Acquire(1)>>]
Saved == [p |-> <<Tick, Acquire(2), Acquire(1)>>]
Debt  == [p |-> <<Acquire(1), Acquire(2)>>]
=============================================================================
