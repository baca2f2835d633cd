--------------------------- MODULE SequentialMap ----------------------------
(***************************************************************************)
(* The sequential map: what a Ctrie must look like from outside.           *)
(***************************************************************************)
EXTENDS Integers, TLC

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
MapOutcomes(Regs, p, s) == {[s |-> SeqNext(Regs[p].op, s), v |-> SeqAnswer(Regs[p].op, s)]}
=============================================================================
