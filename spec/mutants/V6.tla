-------------------------------- MODULE V6 ----------------------------------
(***************************************************************************)
(* Mutant V6: a match that finds that something has changed validates once *)
(* more what it has read, in the hope that it will come back: for ever.    *)
(***************************************************************************)
EXTENDS TopicMatchScenarios

V6_Changed(h, l) == Validate(h, l)
=============================================================================
