-------------------------- MODULE Linearizability --------------------------
(***************************************************************************)
(* Linearizability as a state invariant, for a sequential map.             *)
(*                                                                         *)
(* The tracker is the set M of all configurations that explain the history *)
(* so far.  A configuration is one possible answer to the question "which  *)
(* of the pending operations have already taken effect, and in what        *)
(* order?":                                                                *)
(*    s     the abstract map after the operations linearized so far,       *)
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
(* A snapshot has two responses.  The call itself returns a handle, not    *)
(* the contents (Held: it must have taken effect by now, with a content    *)
(* not yet known to the client); reading the handle later reveals the      *)
(* contents (Returned).  So the contents must be those of the map at one   *)
(* instant between call and return of snapshot, however late they are read.*)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, TLC

(***************************** The sequential map **************************)
Absent == 0                      \* what lookup, put and remove answer for "no such key"; values are >= 1

\* An operation is a record; key and val are "" and 0 where they mean nothing.
Lookup(k) == [op |-> "lookup",   key |-> k,  val |-> 0]
Put(k, v) == [op |-> "put",      key |-> k,  val |-> v]     \* answers the old value
Remove(k) == [op |-> "remove",   key |-> k,  val |-> 0]     \* answers the old value
Snapshot  == [op |-> "snapshot", key |-> "", val |-> 0]     \* answers the whole map
Clear     == [op |-> "clear",    key |-> "", val |-> 0]     \* answers 0
NoOp      == [op |-> "none",     key |-> "", val |-> 0]     \* the process is idle

\* The map after operation o on map s, and the answer of o on s.
SeqNext(o, s) == CASE o.op = "put"    -> [s EXCEPT ![o.key] = o.val]
                   [] o.op = "remove" -> [s EXCEPT ![o.key] = Absent]
                   [] o.op = "clear"  -> TLCEval([k \in DOMAIN s |-> Absent])
                   [] OTHER           -> s
SeqAnswer(o, s) == CASE o.op = "snapshot" -> s
                     [] o.op = "clear"    -> 0
                     [] OTHER             -> s[o.key]

(******************************** The tracker ******************************)
\* Regs is the registers of each process: Regs[p].op is the operation of process p, NoOp if it has none.
\* One more linearization, in every possible way.
Linearize(S, Regs) ==
    UNION {{[s |-> SeqNext(Regs[p].op, c.s), r |-> [c.r EXCEPT ![p] = <<SeqAnswer(Regs[p].op, c.s)>>]]
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
