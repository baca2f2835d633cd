------------------------------ MODULE MCEpochs ------------------------------
(***************************************************************************)
(* Epochs with the most general client: between pin and unpin a process    *)
(* links free nodes, unlinks linked ones, and retires what it has          *)
(* unlinked, in any order and as often as it likes.  In between it moves   *)
(* the epoch.  What was linked at some instant since its pin was published *)
(* it may have reached: none of that may be free.                          *)
(*                                                                         *)
(* Program says what a process may do, each operation any number of times: *)
(* Get reads, Inc links and unlinks, Advance moves the epoch.              *)
(***************************************************************************)
EXTENDS Epochs

CONSTANT Most   \* nobody begins to move the epoch from here on

VARIABLE ghost  \* of each process that is pinned the epoch when its pin was published, and what was linked since

ReaderAndWriter == [r |-> <<Get, Advance>>, w |-> <<Inc("top"), Advance>>]

May(p, kinds) == \E n \in DOMAIN Program[p] : Program[p][n].op \in kinds
Linked == [t |-> "X", retired |-> FALSE]
None   == [pe |-> 0, seen |-> {}]

\* In place of Apply: what a step does to the ghosts.
Noted(p, o) ==
    LET pinned(q) == IF q = p THEN o.l.pinned ELSE L[q].pinned
    IN  /\ arena' = o.a /\ L' = [L EXCEPT ![p] = o.l]
        /\ ghost' = [q \in Procs |-> IF ~pinned(q) THEN None
                                     ELSE IF L[q].pinned THEN [ghost[q] EXCEPT !.seen = @ \cup o.a.linked]
                                     ELSE [pe |-> arena.epoch, seen |-> o.a.linked]]

(******************************** The client *******************************)
Invoke(p) == LET l == L[p] IN At(p, "idle") /\
    \/ May(p, {"get", "inc"}) /\ Apply(p, Goto(arena, [l EXCEPT !.next = "work"], "PinLoad"))
    \/ May(p, {"advance"}) /\ arena.epoch < Most /\ Apply(p, Goto(arena, l, "AdvanceLoad"))
\* Publish a pointer to a node that was free.
Link(p) == LET l == L[p] IN At(p, "work") /\ May(p, {"inc"}) /\
    \E x \in 1..Size : IsFree(arena, x) /\
        Apply(p, Out([arena EXCEPT !.node[x] = Linked, !.linked = @ \cup {x}], l))
\* Remove the last pointer to a node, which is now to be retired.
Unlink(p) == LET l == L[p] IN At(p, "work") /\ May(p, {"inc"}) /\
    \E x \in arena.linked : Apply(p, Out([arena EXCEPT !.linked = @ \ {x}], [l EXCEPT !.limb = @ \cup {x}]))
\* Retire what is to be retired; else return.
Leave(p) == LET l == L[p] IN At(p, "work") /\
    Apply(p, IF l.limb # {} THEN Goto(arena, [l EXCEPT !.next = "work"], "RetireReadEpoch") ELSE Goto(arena, l, "Unpin"))

Init == /\ arena = [node   |-> [x \in 1..Size |-> Linked],
                    linked |-> 1..Size,
                    epoch  |-> 1,
                    pin    |-> [p \in Procs |-> 0],
                    buffer |-> [p \in Procs |-> 0],
                    limbo  |-> [p \in Procs |-> {}],
                    twice  |-> FALSE]
        /\ L = [p \in Procs |-> Idle]
        /\ ghost = [p \in Procs |-> None]
Next == \E p \in Procs : EpochStep(p) \/ Invoke(p) \/ Link(p) \/ Unlink(p) \/ Leave(p)
Spec == Init /\ [][Next]_<<arena, L, ghost>>

\* Nothing that a process may have reached is free.
Safe == \A p \in Procs : \A x \in ghost[p].seen : ~IsFree(arena, x)

\* A state in a few words (latchfree spec --alias).
Alias == [next  |-> [p \in Procs |-> <<L[p].op, L[p].pc>>],
          epoch |-> arena.epoch,
          pins  |-> arena.pin,
          limbo |-> arena.limbo,
          free  |-> {x \in 1..Size : IsFree(arena, x)}]
=============================================================================
