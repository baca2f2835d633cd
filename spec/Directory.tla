------------------------------ MODULE Directory ------------------------------
(***************************************************************************)
(* The directory of an arena: entries with names, of which no two that are *)
(* ready have the same name.  There is no lock.  A creator claims a free   *)
(* entry, fills it, proposes it, looks at all other entries, and publishes *)
(* its own: who finds the name ready withdraws, who finds it proposed      *)
(* kills the proposal by putting its state back.  A process may stop or    *)
(* die before any step.                                                    *)
(*                                                                         *)
(* An entry has a state word (state, version and owner, changed by CAS)    *)
(* and two words of content.  A whole content has two equal words, the     *)
(* name, so that a torn one shows.                                         *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANTS Program,  \* process -> sequence of <<"create" or "remove" or "find" or "adopt", name>>
          Entries,  \* how many entries there are
          Mortal,   \* the processes that may die
          Solo      \* the processes that may be left alone, all others stopped for ever
Procs == DOMAIN Program

VARIABLES E,      \* E[k]: entry k
          L,      \* the registers of each process
          alone   \* the only process that still runs, NoOne while all do
vars == <<E, L, alone>>

NoOne == ""
Word(s, v, p) == [state |-> s, ver |-> v, owner |-> p]
NoWord == Word("free", 0, NoOne)
Empty2 == <<0, 0>>
Owned  == {"creating", "proposed", "removed"}
Present(e, n) == \E k \in 1..Entries : e[k].word.state = "ready" /\ e[k].content[1] = n

\* What mutants override.
Bump(v)            == v + 1
FirstEntry         == 1
AfterFill          == "Propose"
AfterPropose       == "Look"
AfterLooks         == "Publish"
Killed(w)          == [w EXCEPT !.state = "creating"]
CanPublish(w, own) == w = own
SeemsWhole(w, old) == w = old
IsDead(p)          == L[p].pc = "dead"
AfterRemoval       == "Empty"
AfterEmpty         == "Release"

\* own, ver: the entry this process owns, and the entry's version.  k: the entry it looks at; word, got: what it has read
\* there; i: the number of the word it reads or writes.  bad: it has read a torn entry, or missed one that was there.
\* absent: at some instant of the search under way no entry of the name was ready.
Rest == [pc |-> "idle", todo |-> <<>>, op |-> "", name |-> 0, own |-> 0, ver |-> 0, k |-> 0, i |-> 0,
         word |-> NoWord, got |-> Empty2, absent |-> FALSE, bad |-> ""]
Begin(l) == LET r == [Rest EXCEPT !.bad = l.bad] IN
    IF l.todo = <<>> THEN r
    ELSE LET c == Head(l.todo) IN
         [r EXCEPT !.todo = Tail(l.todo), !.op = c[1], !.name = c[2],
                   !.pc = IF c[1] = "create" THEN "Claim" ELSE "ReadState",
                   !.k  = IF c[1] = "create" THEN 1 ELSE FirstEntry]
\* All entries have been looked at.
Looked(l) ==
    IF l.op = "create" THEN [l EXCEPT !.pc = AfterLooks, !.k = 0, !.word = NoWord, !.got = Empty2]
    ELSE Begin([l EXCEPT !.bad = IF l.op = "find" /\ ~l.absent THEN "missed" ELSE @])
\* On to the entry after k, leaving out the own one.
LookAfter(k, l) ==
    LET n == IF k + 1 = l.own THEN k + 2 ELSE k + 1 IN
    IF n > Entries THEN Looked(l)
    ELSE [l EXCEPT !.pc = "ReadState", !.k = n, !.i = 0, !.word = NoWord, !.got = Empty2]
\* pc "Look" is no step of its own.
Goto(pc, l) == IF pc = "Look" THEN LookAfter(0, l) ELSE [l EXCEPT !.pc = pc]

At(p, pc) == L[p].pc = pc /\ alone \in {NoOne, p}
Move(p, l, e) ==
    /\ E' = e
    /\ L' = [q \in Procs |-> LET r == IF q = p THEN l ELSE L[q] IN
                [r EXCEPT !.absent = r.op = "find" /\ (@ \/ ~Present(e, r.name))]]
    /\ UNCHANGED alone
Stay(p, l) == Move(p, l, E)
SetWord(k, w) == [E EXCEPT ![k].word = w]
Mine(p, s) == Word(s, L[p].ver, p)

-----------------------------------------------------------------------------
\* Creating.

\* CAS a state word: FREE to CREATING (tried where FREE was read); the next entry if this one is not free.
Claim(p) == LET l == L[p] IN At(p, "Claim") /\
    IF l.k > Entries THEN Stay(p, Begin(l))
    ELSE IF E[l.k].word.state = "free"
         THEN LET v == E[l.k].word.ver IN
              Move(p, [l EXCEPT !.pc = "Fill", !.own = l.k, !.ver = v, !.k = 0, !.i = 1],
                   SetWord(l.k, Word("creating", v, p)))
         ELSE Stay(p, [l EXCEPT !.k = @ + 1])
\* Write a word of the own entry.
Fill(p) == LET l == L[p] IN At(p, "Fill") /\
    Move(p, IF l.i = 1 THEN [l EXCEPT !.i = 2] ELSE Goto(AfterFill, [l EXCEPT !.i = 0]),
         [E EXCEPT ![l.own].content[l.i] = l.name])
\* CAS the own state word: CREATING to PROPOSED.
Propose(p) == LET l == L[p] IN At(p, "Propose") /\
    IF E[l.own].word = Mine(p, "creating")
    THEN Move(p, Goto(AfterPropose, l), SetWord(l.own, Mine(p, "proposed")))
    ELSE Stay(p, Begin(l))
\* CAS another's state word: PROPOSED back to CREATING; read again if it has changed.
Kill(p) == LET l == L[p] IN At(p, "Kill") /\
    IF E[l.k].word = l.word THEN Move(p, LookAfter(l.k, l), SetWord(l.k, Killed(l.word)))
    ELSE Stay(p, LookAfter(l.k - 1, l))
\* CAS the own state word: PROPOSED to READY; propose again if the proposal was killed.
Publish(p) == LET l == L[p] IN At(p, "Publish") /\
    IF CanPublish(E[l.own].word, Mine(p, "proposed"))
    THEN Move(p, Begin(l), SetWord(l.own, Word("ready", l.ver, NoOne)))
    ELSE Stay(p, [l EXCEPT !.pc = "Propose"])
\* CAS the own state word: PROPOSED to CREATING, unless somebody has done it.
Withdraw(p) == LET l == L[p] IN At(p, "Withdraw") /\
    LET next == [l EXCEPT !.pc = "Empty", !.i = 1, !.k = 0, !.word = NoWord, !.got = Empty2] IN
    IF E[l.own].word = Mine(p, "proposed") THEN Move(p, next, SetWord(l.own, Mine(p, "creating"))) ELSE Stay(p, next)
\* Write 0 into a word of the own entry.
Empty(p) == LET l == L[p] IN At(p, "Empty") /\
    Move(p, IF l.i = 1 THEN [l EXCEPT !.i = 2] ELSE [l EXCEPT !.pc = AfterEmpty, !.i = 0],
         [E EXCEPT ![l.own].content[l.i] = 0])
\* Write the own state word: FREE, with the next version.
Release(p) == LET l == L[p] r == [l EXCEPT !.own = 0, !.ver = 0] IN At(p, "Release") /\
    Move(p, IF l.op = "adopt" THEN LookAfter(l.own, r) ELSE Begin(r), SetWord(l.own, Word("free", Bump(l.ver), NoOne)))

-----------------------------------------------------------------------------
\* Reading.

\* Read a state word; the next entry if there is nothing of interest in this one.
ReadState(p) == LET l == L[p] w == E[l.k].word IN At(p, "ReadState") /\
    IF l.op = "adopt"
    THEN Stay(p, IF w.state \in Owned /\ w.owner # p /\ IsDead(w.owner)
                 THEN [l EXCEPT !.pc = "Adopt", !.word = w] ELSE LookAfter(l.k, l))
    ELSE Stay(p, IF w.state = "ready" \/ (w.state = "proposed" /\ l.op = "create")
                 THEN [l EXCEPT !.pc = "ReadWord", !.word = w, !.i = 1] ELSE LookAfter(l.k, l))
\* Read a word.
ReadWord(p) == LET l == L[p] r == [l EXCEPT !.got[l.i] = E[l.k].content[l.i]] IN At(p, "ReadWord") /\
    Stay(p, IF l.i = 1 THEN [r EXCEPT !.i = 2] ELSE [r EXCEPT !.pc = "ReadAgain", !.i = 0])
Decided(l) ==
    IF l.got[1] # l.name THEN LookAfter(l.k, l)
    ELSE IF l.op = "find" THEN Begin(l)
    ELSE IF l.op = "remove" THEN [l EXCEPT !.pc = "Remove", !.got = Empty2]
    ELSE [l EXCEPT !.pc = IF l.word.state = "ready" THEN "Withdraw" ELSE "Kill", !.got = Empty2]
\* Read the state word again; begin again with this entry if it has changed.
ReadAgain(p) == LET l == L[p] IN At(p, "ReadAgain") /\
    Stay(p, IF SeemsWhole(E[l.k].word, l.word)
            THEN Decided([l EXCEPT !.bad = IF l.got[1] # l.got[2] \/ l.got[1] = 0 THEN "torn" ELSE @])
            ELSE [l EXCEPT !.pc = "ReadState", !.word = NoWord, !.got = Empty2])

-----------------------------------------------------------------------------
\* Removing and adopting.

Took(l) == [l EXCEPT !.pc = AfterRemoval, !.own = l.k, !.ver = l.word.ver, !.i = 1, !.k = 0, !.word = NoWord]
\* CAS a state word: READY to REMOVED; search again if it has changed.
Remove(p) == LET l == L[p] IN At(p, "Remove") /\
    IF E[l.k].word = l.word THEN Move(p, Took(l), SetWord(l.k, Word("removed", l.word.ver, p)))
    ELSE Stay(p, LookAfter(0, l))
\* CAS a state word: that of a dead owner to REMOVED with the own name; on to the next if it has changed.
Adopt(p) == LET l == L[p] IN At(p, "Adopt") /\
    IF E[l.k].word = l.word THEN Move(p, Took(l), SetWord(l.k, Word("removed", l.word.ver, p)))
    ELSE Stay(p, LookAfter(l.k, l))

-----------------------------------------------------------------------------
Step(p) == Claim(p) \/ Fill(p) \/ Propose(p) \/ Kill(p) \/ Publish(p) \/ Withdraw(p) \/ Empty(p) \/ Release(p)
           \/ ReadState(p) \/ ReadWord(p) \/ ReadAgain(p) \/ Remove(p) \/ Adopt(p)

\* What befalls a process: it dies, or all others stop for ever.
Die(p) == /\ p \in Mortal /\ alone = NoOne /\ L[p].pc \notin {"idle", "dead"}
          /\ L' = [L EXCEPT ![p] = [Rest EXCEPT !.pc = "dead"]]
          /\ UNCHANGED <<E, alone>>
Alone(p) == p \in Solo /\ alone = NoOne /\ L[p].pc \notin {"idle", "dead"} /\ alone' = p /\ UNCHANGED <<E, L>>

Rested(p) == L[p].pc \in {"idle", "dead"} \/ alone \notin {NoOne, p}
Init == /\ E = [k \in 1..Entries |-> [word |-> NoWord, content |-> Empty2]]
        /\ L = [p \in Procs |-> LET l == Begin([Rest EXCEPT !.todo = Program[p]]) IN [l EXCEPT !.absent = l.op = "find"]]
        /\ alone = NoOne
Next == (\E p \in Procs : Step(p) \/ Die(p) \/ Alone(p)) \/ ((\A p \in Procs : Rested(p)) /\ UNCHANGED vars)
Spec == Init /\ [][Next]_vars
Fair == Spec /\ \A p \in Procs : WF_vars(Step(p))

-----------------------------------------------------------------------------
\* No two structures have one name.
OneName == \A j, k \in 1..Entries : j # k /\ E[j].word.state = "ready" /\ E[k].word.state = "ready"
                                    => E[j].content[1] # E[k].content[1]
\* Nobody takes a torn entry for a whole one.
NoTornRead == \A p \in Procs : L[p].bad # "torn"
\* What is there from the beginning to the end of a search is found.
FoundIfThere == \A p \in Procs : L[p].bad # "missed"
\* Nobody takes an entry from a living process.
OwnersKeep == \A p \in Procs : L[p].own # 0 => E[L[p].own].word.owner = p
\* A free entry is empty.
FreeIsEmpty == \A k \in 1..Entries : E[k].word.state = "free" => E[k].content = Empty2
\* When all is over, only the dead hold entries.
NothingHeld == (\A p \in Procs : L[p].pc \in {"idle", "dead"})
               => \A k \in 1..Entries : E[k].word.state \in Owned => L[E[k].word.owner].pc = "dead"
\* A process that is left alone, wherever the others have stopped, ends what it does.
EndsAlone == \A p \in Solo : alone = p ~> L[p].pc = "idle"

\* A state in a few words (latchfree spec --alias).
Alias == [next    |-> [p \in Procs |-> <<L[p].op, L[p].name, L[p].pc, L[p].k>>],
          entries |-> E,
          wrong   |-> [p \in Procs |-> L[p].bad],
          alone   |-> alone]
=============================================================================
