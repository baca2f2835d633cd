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

\* Conditional operations.  The first two answer the old value, the last two the value e that they have found, or Absent.
PutIfAbsent(k, v)  == [op |-> "put_if_absent",  key |-> k, val |-> v]
PutIfPresent(k, v) == [op |-> "put_if_present", key |-> k, val |-> v]
ReplaceIf(k, e, v) == [op |-> "replace_if",     key |-> k, val |-> <<e, v>>]
RemoveIf(k, e)     == [op |-> "remove_if",      key |-> k, val |-> e]

Reads(o)    == o.op = "lookup"
Swaps(o)    == o.op \in {"snapshot", "clear"}
Puts(o)     == o.op \in {"put", "put_if_absent", "put_if_present", "replace_if"}
Removes(o)  == o.op \in {"remove", "remove_if"}
NewValue(o) == IF o.op = "replace_if" THEN o.val[2] ELSE o.val
Expected(o) == IF o.op = "replace_if" THEN o.val[1] ELSE o.val
\* Does operation o leave its key as it is, if the key's value is old?  And what does it answer then, or if not?
Leaves(o, old) ==
    CASE o.op = "put"                           -> FALSE
      [] o.op = "put_if_absent"                 -> old # Absent
      [] o.op \in {"put_if_present", "remove"}  -> old = Absent
      [] o.op \in {"replace_if", "remove_if"}   -> old # Expected(o)
      [] OTHER                                  -> TRUE
Answer(o, old) == IF o.op \in {"replace_if", "remove_if"} /\ old # Expected(o) THEN Absent ELSE old

\* The map after operation o on map s, and the answer of o on s.
SeqNext(o, s) == CASE o.op = "clear"    -> TLCEval([k \in DOMAIN s |-> Absent])
                   [] o.op = "snapshot" -> s
                   [] OTHER             -> IF Leaves(o, s[o.key]) THEN s
                                           ELSE [s EXCEPT ![o.key] = IF Puts(o) THEN NewValue(o) ELSE Absent]
SeqAnswer(o, s) == CASE o.op = "snapshot" -> s
                     [] o.op = "clear"    -> 0
                     [] OTHER             -> Answer(o, s[o.key])
MapOutcomes(Regs, p, s) == {[s |-> SeqNext(Regs[p].op, s), v |-> SeqAnswer(Regs[p].op, s)]}
=============================================================================
