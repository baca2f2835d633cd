-------------------------------- MODULE Idle --------------------------------
(***************************************************************************)
(* The idle snapshot: who gives back a snapshot while nothing was written  *)
(* parks it in a word of the trie, registered as it is, and who takes one  *)
(* next takes it out again.                                                *)
(*                                                                         *)
(*  - What is parked belongs to nobody.  Who takes it out by CAS owns it,  *)
(*    and looks only then: is the main node of its root that of the trie's *)
(*    root?  If not, it is dropped.                                        *)
(*  - Who parks one looks again afterwards.                                *)
(*  - An update, whose nodes are retired, drops what is parked.            *)
(*                                                                         *)
(* This module extends Reclamation by these steps.  A take or a give goes  *)
(* through ReadRoot and GCAS_READ as the others do, and Compare gets the   *)
(* main node of the root.  The main node of a frozen root is final, so it  *)
(* is read in no step of its own.                                          *)
(***************************************************************************)
EXTENDS Reclamation

VARIABLES parked,   \* the slot that is idle and the root of its snapshot; k = 0: none
          shown     \* for the invariants only: process -> what the trie held when a take last read the root
allVars == <<arena, L, parked, shown>>

None == [k |-> 0, root |-> 0]
Take == [op |-> "snapshot", key |-> ""]
Give == [op |-> "drop", key |-> ""]

\* Whether a snapshot of which this process has the slot may be taken: m is the main node of the trie's root.
Fits(l, m) == m = Settled(l.held)
\* Whether who has parked a snapshot looks again; whether an update drops what is parked.
LooksAfterParking == TRUE
WriterUnparks     == TRUE
\* What is in IDLE when an update has taken the snapshot out.
TakenOut          == None

(******************* What replaces operators of Reclamation ****************)
\* Begin: takes and gives are pinned; clear first drops what is parked.
IdleBegin(l) ==
    IF l.todo = <<>> THEN Rest(l)
    ELSE LET op == Head(l.todo)
             b  == [Rest(l) EXCEPT !.op = op, !.todo = Tail(@), !.pc = "PinLoad", !.next = "ReadRoot"]
         IN  CASE op.op = "advance"  -> [b EXCEPT !.pc = "AdvanceLoad", !.next = ""]
               [] op.op = "read"     -> [b EXCEPT !.next = "GcasReadMain", !.i = l.held, !.ret = "walk"]
               [] op.op = "snapshot" -> [b EXCEPT !.next = "TakeLoad"]
               [] op.op = "clear"    -> [b EXCEPT !.next = "UnparkLoad", !.fin = "ReadRoot"]
               [] OTHER              -> b
\* Kill: when all is retired, drop what is parked, and go on.
IdleKill(a, l, X, g) ==
    LET order == CHOOSE f \in [1..Cardinality(X) -> X] : \A b, c \in DOMAIN f : f[b] = f[c] => b = c
        dead(n)  == IF n.t = "free" THEN n ELSE [n EXCEPT !.death = g]
        l1 == IF WriterUnparks THEN [l EXCEPT !.next = "UnparkLoad", !.fin = l.next] ELSE l
    IN  RetireAll([a EXCEPT !.node = [x \in 1..Size |-> IF x \in X THEN dead(@[x]) ELSE @[x]]],
             [l1 EXCEPT !.unlinked = [b \in 1..Cardinality(X) |-> <<order[b], g>>]])
\* Expect: m is the main node of the root l.r.
Compare(a, l0, m) ==
    LET l == [l0 EXCEPT !.i = 0, !.r = 0] IN
    CASE l.op.op = "snapshot" /\ l.held # 0 ->
             IF Fits(l, m) THEN Goto(a, l, "Done")
             ELSE Goto(a, [l EXCEPT !.k = l.hk, !.held = 0, !.hk = 0, !.fin = "ReadRoot"], "DropMark")
      [] l.op.op = "drop" /\ l.held # 0 ->
             IF m = a.node[l.held].main THEN Goto(a, l, "Park")
             ELSE Goto(a, [l EXCEPT !.k = l.hk, !.fin = "Done"], "DropMark")
      [] l.op.op = "drop" /\ l.held = 0 -> Goto(a, l, IF m = l.up THEN "Done" ELSE "TakeBack")
      [] OTHER ->
             LET o == Propose(a, [l0 EXCEPT !.up = m, !.i = 0])
             IN  IF l.op.op = "snapshot"
                 THEN Goto(o.a, [o.l EXCEPT !.s = a.node[l0.r].birth, !.next = "RdcssInstall"], "Register")
                 ELSE o
\* Live: what is parked is kept like what is held.
IdleLive == (({L[p].held : p \in Procs} \cup {parked.root}) \ {0})
            \cup {L[p].r : p \in {q \in Procs : Committed(L[q])}}

(*********************************** Steps *********************************)
\* Read IDLE.
TakeLoad(p) == LET l == L[p] IN At(p, "TakeLoad") /\ UNCHANGED <<parked, shown>> /\
    Apply(p, IF parked.k = 0 THEN Goto(arena, l, "ReadRoot") ELSE Goto(arena, [l EXCEPT !.k = parked.k], "TakeCas"))
\* CAS IDLE: the slot to none.  The slot is this process's from here on.
TakeCas(p) == LET l == [L[p] EXCEPT !.k = 0] IN At(p, "TakeCas") /\ UNCHANGED shown /\
    IF parked.k = L[p].k
    THEN parked' = None /\ Apply(p, Goto(arena, [l EXCEPT !.held = parked.root, !.hk = parked.k], "ReadRoot"))
    ELSE UNCHANGED parked /\ Apply(p, Goto(arena, l, "ReadRoot"))
\* CAS IDLE: none to the slot.
Park(p) == LET l == L[p] IN At(p, "Park") /\ UNCHANGED shown /\
    IF parked.k = 0
    THEN /\ parked' = [k |-> l.hk, root |-> l.held]
         /\ LET gone == [l EXCEPT !.held = 0, !.hk = 0, !.seen = <<>>]
            IN  Apply(p, IF LooksAfterParking
                         THEN Goto(arena, [gone EXCEPT !.k = l.hk, !.up = Settled(l.held)], "ReadRoot")
                         ELSE Goto(arena, gone, "Done"))
    ELSE UNCHANGED parked /\ Apply(p, Goto(arena, [l EXCEPT !.k = l.hk, !.fin = "Done"], "DropMark"))
\* CAS IDLE: the slot to none, for the trie has changed meanwhile.
TakeBack(p) == LET l == L[p] IN At(p, "TakeBack") /\ UNCHANGED shown /\
    IF parked.k = l.k
    THEN parked' = None /\ Apply(p, Goto(arena, [l EXCEPT !.up = 0, !.fin = "Done"], "UnparkMark"))
    ELSE UNCHANGED parked /\ Apply(p, Goto(arena, [l EXCEPT !.up = 0, !.k = 0], "Done"))
\* Read IDLE, after a commit, or before a clear.
UnparkLoad(p) == LET l == L[p] IN At(p, "UnparkLoad") /\ UNCHANGED <<parked, shown>> /\
    Apply(p, IF parked.k = 0 THEN Goto(arena, [l EXCEPT !.fin = ""], l.fin)
             ELSE Goto(arena, [l EXCEPT !.k = parked.k], "UnparkCas"))
\* CAS IDLE: the slot to none.
UnparkCas(p) == LET l == L[p] IN At(p, "UnparkCas") /\ UNCHANGED shown /\
    IF parked.k = l.k
    THEN parked' = TakenOut /\ Apply(p, Goto(arena, l, "UnparkMark"))
    ELSE UNCHANGED parked /\ Apply(p, Goto(arena, [l EXCEPT !.k = 0, !.fin = ""], l.fin))
\* STATE := DROPPED, as in DropMark, of a slot that is not what this process holds.
UnparkMark(p) == LET l == L[p] IN At(p, "UnparkMark") /\ UNCHANGED <<parked, shown>> /\
    Apply(p, Goto([arena EXCEPT !.slot[l.k].state = "DROPPED"], [l EXCEPT !.k = 0], "SweepLock"))
IdleStep(p) == TakeLoad(p) \/ TakeCas(p) \/ Park(p) \/ TakeBack(p) \/ UnparkLoad(p) \/ UnparkCas(p) \/ UnparkMark(p)

\* The steps of Reclamation.  Where a take reads the root, note what the trie holds.
IsTaking(l) == l.op.op = "snapshot" /\ l.held # 0
OtherStep(p) ==
    /\ EpochStep(p) \/ DeadlistStep(p) \/ TrieStep(p)
    /\ UNCHANGED parked
    /\ shown' = IF At(p, "ReadRoot") /\ IsTaking(L[p]) /\ arena.node[arena.root].t = "I"
                THEN [shown EXCEPT ![p] = Contents(arena.root)]
                ELSE IF L'[p].held = 0 THEN [shown EXCEPT ![p] = <<>>] ELSE shown
IdleInit == Init /\ parked = None /\ shown = [p \in Procs |-> <<>>]
IdleNext == (\E p \in Procs : IdleStep(p) \/ OtherStep(p)) \/ (Quiet /\ UNCHANGED allVars)
IdleSpec == IdleInit /\ [][IdleNext]_allVars

(******************************** Invariants *******************************)
\* A snapshot that was idle shows what the trie held at an instant within the call that has taken it: LP is ReadRoot.
TakenIsCurrent == \A p \in Procs : shown[p] # <<>> /\ L[p].held # 0 /\ (L[p].op.op # "snapshot" \/ At(p, "Unpin"))
                      => Contents(L[p].held) = shown[p]
\* At rest nothing is idle that was taken before an update.
NoneStale == Quiet /\ parked.k # 0 => Settled(parked.root) = Settled(arena.root)
\* What is idle is registered, of the generation of its root, and nobody holds it.
Registered == parked.k # 0 => /\ arena.slot[parked.k].state = "CLAIMED"
                              /\ arena.slot[parked.k].gen = arena.node[parked.root].birth
                              /\ \A p \in Procs : L[p].hk # parked.k
=============================================================================
