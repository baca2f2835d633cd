---------------------------- MODULE MCLifecycle -----------------------------
(* Bounded models of the lives of processes. *)
EXTENDS LifecycleScenarios
=============================================================================
