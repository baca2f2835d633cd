-------------------------- MODULE Linearizability --------------------------
(***************************************************************************)
(* Linearizability as a state invariant, for any sequential object.        *)
(*                                                                         *)
(* The tracker is the set M of all configurations that explain the history *)
(* so far.  A configuration is one possible answer to the question "which  *)
(* of the pending operations have already taken effect, and in what        *)
(* order?":                                                                *)
(*    s     the abstract object after the operations linearized so far,    *)
(*    r[p]  <<>> if the operation of process p is not linearized (or p is  *)
(*          idle), <<v>> if it is linearized and its result must be v.     *)
(*                                                                         *)
(* M is closed under "linearize one more pending operation", hence the     *)
(* internal steps of an implementation leave it unchanged: it changes at   *)
(* an invocation (Close) and at a response (Returned) only.  A history is  *)
(* linearizable iff M is not empty; nobody has to say where the            *)
(* linearization points are.  (Jayanti, Jayanti, Yavuz, Hernandez,         *)
(* "A Universal, Sound, and Complete Forward Reasoning Technique for       *)
(* Machine-Verified Proofs of Linearizability", POPL 2024.)                *)
(*                                                                         *)
(* A protocol says EXTENDS (a sequential object), INSTANCE Linearizability *)
(* and substitutes for Outcomes what an operation may do.  An object may   *)
(* choose: M then holds a configuration for each choice.                   *)
(*                                                                         *)
(* A snapshot has two responses.  The call itself returns a handle, not    *)
(* the contents (Held: it must have taken effect by now, with a content    *)
(* not yet known to the client); reading the handle later reveals the      *)
(* contents (Returned).  So the contents must be those of the object at    *)
(* one instant between call and return of snapshot, however late they are  *)
(* read.                                                                   *)
(***************************************************************************)

CONSTANT Outcomes(_, _, _)   \* Outcomes(Regs, p, s): the set of [s, v], the object after the operation of p on
                             \* object s and its answer.  Regs[p].op is the operation of process p, a record;
                             \* its field op is "none" if p has no operation pending.

\* One more linearization, in every possible way.
Linearize(S, Regs) ==
    UNION {UNION {{[s |-> x.s, r |-> [c.r EXCEPT ![p] = <<x.v>>]] : x \in Outcomes(Regs, p, c.s)}
               : p \in {q \in DOMAIN Regs : Regs[q].op.op # "none" /\ c.r[q] = <<>>}} : c \in S}
\* The closure: New holds the configurations whose successors are not yet in S.
RECURSIVE Closure(_, _, _)
Closure(S, New, Regs) ==
    LET N == Linearize(New, Regs) \ S IN IF N = {} THEN S ELSE Closure(S \cup N, N, Regs)
Close(S, Regs) == Closure(S, S, Regs)

\* Process p answers v: keep the configurations that say so, and forget the operation.
Returned(S, p, v) == {[c EXCEPT !.r[p] = <<>>] : c \in {d \in S : d.r[p] = <<v>>}}
\* Process p returns a handle whose contents it will look at later.
Held(S, p) == {c \in S : c.r[p] # <<>>}
=============================================================================
