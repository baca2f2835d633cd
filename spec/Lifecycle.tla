----------------------------- MODULE Lifecycle ------------------------------
(***************************************************************************)
(* Who owns what of a shared arena, over the lives of processes: one       *)
(* access to shared memory, or one system call, per step.                  *)
(*                                                                         *)
(* An opening of the arena has an identity.  The kernel keeps one byte     *)
(* locked for each opening, as long as a process maps the arena through    *)
(* the opening.  An opening is dead only if the kernel says that its byte  *)
(* is free.  Nobody waits for anybody of another process:                  *)
(*  - An opener takes its byte, and then makes the header say IN_USE.      *)
(*  - A closer hides the arena from its own late writers and gives its     *)
(*    byte back.  While nobody else has one, it marks the header SEALING   *)
(*    with its identity, looks again, and changes this very mark to CLEAN  *)
(*    with the checksum.                                                   *)
(*  - A slot is claimed, released and adopted by a CAS on the whole word:  *)
(*    identity, and a number that the opening never uses twice.            *)
(*                                                                         *)
(* A process may be killed, stopped for ever, or lose its descriptors at   *)
(* any step.  A process that is stopped and goes on later is a slow one.   *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANTS Program,   \* thread -> sequence of operations
          Home,      \* thread -> its process
          Of,        \* opening -> its process
          Present,   \* the openings that are open at the start
          Slots,     \* how many participant slots there are
          Mortal,    \* the processes that may be killed,
          Stoppable, \*   that may be stopped for ever,
          Daemons,   \*   that may have their descriptors closed underneath,
          Unsure,    \*   whose questions to the kernel may fail
          Durable    \* whether the disk is part of the model
Threads  == DOMAIN Program
Procs    == {Home[t] : t \in Threads}
Openings == DOMAIN Of

VARIABLES arena,   \* the shared memory: header and slots
          disk,    \* what of it has reached the disk
          kernel,  \* locks, who refers to an opening, and which processes there are
          my,      \* the private memory of each opening, shared by the threads of its process
          L        \* the registers of each thread
vars == <<arena, disk, kernel, my, L>>

(******************************** Operations *******************************)
Op(op, o, c)   == [op |-> op, o |-> o, c |-> c]
Open(o)        == Op("open", o, o)
Close(o)       == Op("close", o, o)
Exit(o)        == Op("exit", o, o)          \* close, but do not wait for calls for ever; then the process ends
Call(o)        == Op("call", o, o)          \* lend a slot, pin, write, unpin
AdoptOnce(o)   == Op("adopt", o, o)         \* look at every slot once
AdoptOn(o)     == Op("adopt on", o, o)      \* for ever
Finalize(o)    == Op("finalize", o, o)      \* a finalizer releases what the closing opening held, beside close
ForkTo(o, c)   == Op("fork", o, c)          \* fork; c is the child's opening
ChildOf(o, c)  == Op("child", c, o)         \* what the child of opening o begins with
Execute(o)     == Op("exec", o, o)

(********************************* Memory **********************************)
Nobody   == [own |-> "", n |-> 0]
InUse    == [t |-> "IN_USE", by |-> "", sum |-> 0]
Clean(c) == [t |-> "CLEAN", by |-> "", sum |-> c]
Mark(o)  == [t |-> "SEALING", by |-> o, sum |-> 0]

(*************************** What mutants replace **************************)
\* The words that a closing opening releases: those that it has claimed.
ToRelease(o) == my[o].pool
\* Release changes the very word that was claimed.
IsStill(s, w) == arena.slot[s] = w
\* A question that failed says nothing: the opening may be alive.
DeadIfUnknown == FALSE
\* Whether the kernel answers that an opening has its byte, as the asker sees it: a lock is no conflict for its owner.
Taken(x, asker) == x \in kernel.lock /\ x # asker
\* After a question the descriptor is checked: if it is not the arena's any more, the arena is opened anew to ask.
Verified == TRUE
\* Close waits for the calls of other threads.
CallsAreOver(o) == my[o].calls = 0
\* The lock goes with the last mapping, not with the descriptor.
GoesWithDescriptor == FALSE
\* Close puts empty memory in place of the arena, so that no late writer reaches the file.
Hides(o) == TRUE
\* The order of closing.
HiddenThen   == "CloseUnlock"
UnlockedThen == "CloseLook"
AloneThen    == "CloseRead"
MarkedThen   == "CloseLookAgain"
\* The seal, and taking back the mark, expect the own mark.
IsMarked(o) == arena.state = Mark(o)
IsMarkedToUndo(o) == IsMarked(o)
\* The mark of another closer is replaced: it may be stopped.
Replaces(state) == TRUE
\* An opener does not wait for a closer.
Passes(state) == TRUE
\* A wrong checksum says nothing if somebody else has opened the arena meanwhile.
IsChanged(x) == arena.state # x
\* What a forked child takes over of its parent's slots.
Inherited(pool) == {}
\* What of the locks the child gives back when it lets its parent's openings go.
GivenBack(X) == {}
\* Nobody adopts himself.
IsOwn(w, o) == w.own = o
\* An opening that finds the arena in use flushes, too: whoever marked it may not have done so yet.
FlushesAlways == TRUE
\* The openings whose references exec drops.
Dropped(X) == X
\* The number in a word: one that the opening has not used before.
Number(o) == my[o].made + 1

(******************************** Registers ********************************)
Idle == [pc |-> "idle", op |-> Op("none", "", ""), todo |-> <<>>,
         s |-> 0,          \* the slot in hand,
         w |-> Nobody,       \*   and its word
         x |-> InUse,      \* the state read, or the checksum computed
         rest |-> {}]      \* what is still to be released
First == [open |-> "OpenLock", close |-> "CloseBegin", exit |-> "CloseBegin", call |-> "Lend",
          adopt |-> "AdoptBegin", finalize |-> "FinalBegin", fork |-> "ForkLock", child |-> "ForkRemap",
          exec |-> "Exec"] @@ ("adopt on" :> "AdoptBegin")
Begin(l) == IF l.todo = <<>> THEN Idle
            ELSE [Idle EXCEPT !.op = Head(l.todo), !.todo = Tail(l.todo), !.pc = First[Head(l.todo).op]]
Goto(l, pc) == IF pc # "done" THEN [l EXCEPT !.pc = pc]
               ELSE IF l.op.op = "adopt on" THEN [Idle EXCEPT !.op = l.op, !.todo = l.todo, !.pc = "AdoptBegin"]
               ELSE Begin(l)

Runs(p)    == kernel.run[p] = "running"
Here(t)    == Home[t]
At(t, pc)  == Runs(Home[t]) /\ L[t].pc = pc
Me(t)      == L[t].op.o
Move(t, l) == L' = [L EXCEPT ![t] = l]
Same       == UNCHANGED <<disk, kernel, my>>
Word(o)    == [own |-> o, n |-> Number(o)]

\* The kernel: process p no longer refers to the openings X.  A lock goes with the last reference.
Unref(k, p, X) == LET ref == [o \in Openings |-> IF o \in X THEN k.ref[o] \ {p} ELSE k.ref[o]]
                  IN  [k EXCEPT !.ref = ref, !.lock = {o \in @ : ref[o] # {}}]
\* What the kernel may answer to opening o whether x has its byte, or whether anybody else has one (x = "").
Truth(o, x) == IF x = "" THEN \E y \in Openings : Taken(y, o) ELSE Taken(x, o)
Answers(o, x) == IF o \in kernel.lost /\ ~Verified THEN {"free"}
                 ELSE {IF Truth(o, x) THEN "taken" ELSE "free"} \cup (IF Of[o] \in Unsure THEN {"unknown"} ELSE {})
\* Whether the memory of opening o shows the arena.
Shows(o) == my[o].phase \notin {"hidden", "closed"}
Store(o, a) == arena' = IF Shows(o) THEN a ELSE arena

(********************************* Opening *********************************)
Opened(t) == my' = [my EXCEPT ![Me(t)].phase = "open"]
\* Lock the own byte.
OpenLock(t) == LET o == Me(t) IN At(t, "OpenLock") /\ UNCHANGED <<arena, disk>>
    /\ kernel' = [kernel EXCEPT !.lock = @ \cup {o}, !.ref[o] = {Here(t)}]
    /\ my' = [my EXCEPT ![o].phase = "opening"]
    /\ Move(t, Goto(L[t], "OpenRead"))
\* Read the state.
OpenRead(t) == LET l == [L[t] EXCEPT !.x = arena.state] IN At(t, "OpenRead") /\ UNCHANGED <<arena, disk, kernel>> /\
    CASE arena.state = InUse -> IF Durable /\ FlushesAlways
                                THEN Move(t, Goto(L[t], "OpenFlush")) /\ UNCHANGED my
                                ELSE Move(t, Goto(L[t], "done")) /\ Opened(t)
      [] arena.state.t = "CLEAN" -> Move(t, Goto(l, "OpenCheck")) /\ UNCHANGED my
      [] OTHER -> Move(t, Goto(l, IF Passes(arena.state) THEN "OpenMark" ELSE "OpenRead")) /\ UNCHANGED my
\* Read what the checksum is of.
OpenCheck(t) == LET l == L[t] IN At(t, "OpenCheck") /\ UNCHANGED arena /\ Same /\
    Move(t, Goto(l, IF l.x.sum = arena.content THEN "OpenMark" ELSE "OpenRecheck"))
\* Read the state again, and if it has not changed, refuse to open a damaged arena.
OpenRecheck(t) == LET l == L[t] IN At(t, "OpenRecheck") /\ UNCHANGED <<arena, disk, kernel>> /\
    IF IsChanged(l.x) THEN Move(t, Goto(l, "OpenRead")) /\ UNCHANGED my
    ELSE Move(t, Goto(l, "done")) /\ my' = [my EXCEPT ![Me(t)].phase = "refused"]
\* CAS: from the state read to IN_USE.
OpenMark(t) == LET l == L[t] IN At(t, "OpenMark") /\ UNCHANGED <<disk, kernel>> /\
    IF arena.state # l.x THEN Move(t, Goto(l, "OpenRead")) /\ UNCHANGED <<arena, my>>
    ELSE /\ arena' = [arena EXCEPT !.state = InUse]
         /\ IF Durable THEN Move(t, Goto(l, "OpenFlush")) /\ UNCHANGED my
            ELSE Move(t, Goto(l, "done")) /\ Opened(t)
\* The header goes to disk, before the first write.
OpenFlush(t) == At(t, "OpenFlush") /\ UNCHANGED <<arena, kernel>> /\ Opened(t)
    /\ disk' = [disk EXCEPT !.state = arena.state] /\ Move(t, Goto(L[t], "done"))

(********************************** Calls **********************************)
\* Lend a slot of the opening's pool, or go and claim one; the arena is not closed meanwhile.  Private.
Lend(t) == LET o == Me(t)  l == L[t]  m == my[o] IN At(t, "Lend") /\ UNCHANGED <<arena, disk, kernel>> /\
    CASE m.phase \notin {"none", "opening", "open"} -> Move(t, Goto(l, "done")) /\ UNCHANGED my
      [] m.phase = "open" /\ m.pool = {} ->
           Move(t, Goto(l, "ClaimRead")) /\ my' = [my EXCEPT ![o].calls = @ + 1]
      [] m.phase = "open" /\ m.pool # {} ->
           \E r \in m.pool : /\ my' = [my EXCEPT ![o].calls = @ + 1, ![o].pool = @ \ {r}]
                             /\ Move(t, Goto([l EXCEPT !.s = r.s, !.w = r.w], "Pin"))
      [] OTHER -> FALSE
\* Read the words of slots until one is free.  If none is, the call fails.
ClaimRead(t) == LET l == L[t]  F == {s \in 1..Slots : arena.slot[s] = Nobody} IN
    At(t, "ClaimRead") /\ UNCHANGED <<arena, disk, kernel>> /\
    IF F = {} THEN my' = [my EXCEPT ![Me(t)].calls = @ - 1] /\ Move(t, Goto(l, "done"))
    ELSE \E s \in F : Move(t, Goto([l EXCEPT !.s = s], "Claim")) /\ UNCHANGED my
\* CAS: FREE to identity and number.
Claim(t) == LET l == L[t]  o == Me(t) IN At(t, "Claim") /\ UNCHANGED <<disk, kernel>> /\
    IF arena.slot[l.s] # Nobody THEN Move(t, Goto([l EXCEPT !.s = 0], "ClaimRead")) /\ UNCHANGED <<arena, my>>
    ELSE /\ arena' = [arena EXCEPT !.slot[l.s] = Word(o)] /\ my' = [my EXCEPT ![o].made = Number(o)]
         /\ Move(t, Goto([l EXCEPT !.w = Word(o)], "Pin"))
\* Exchange the pin.
Pin(t) == LET l == L[t] IN At(t, "Pin") /\ Same
    /\ Store(Me(t), [arena EXCEPT !.pin[l.s] = TRUE]) /\ Move(t, Goto(l, "Write"))
\* A store of the call, to the arena's nodes or its header.
Write(t) == At(t, "Write") /\ Same
    /\ Store(Me(t), [arena EXCEPT !.content = @ + 1]) /\ Move(t, Goto(L[t], "Unpin"))
\* Store 0 to the pin: of the own call, whose slot goes back to the pool, or of the dead call whose slot was adopted.
Unpin(t) == LET l == L[t]  o == Me(t) IN At(t, "Unpin") /\ UNCHANGED <<disk, kernel>>
    /\ Store(o, [arena EXCEPT !.pin[l.s] = FALSE])
    /\ IF l.op.op # "call" THEN Move(t, Goto(l, "Free")) /\ UNCHANGED my
       ELSE /\ Move(t, Goto(l, "done"))
            /\ my' = [my EXCEPT ![o].calls = @ - 1, ![o].pool = @ \cup {[s |-> l.s, w |-> l.w]}]

(********************************* Adopting ********************************)
NextSlot(l) == IF l.s = Slots THEN [l EXCEPT !.pc = "AdoptEnd", !.s = 0, !.w = Nobody]
               ELSE [l EXCEPT !.pc = "AdoptRead", !.s = @ + 1, !.w = Nobody]
\* A call, too: the arena is not closed meanwhile.  Private.
AdoptBegin(t) == LET o == Me(t) IN At(t, "AdoptBegin") /\ UNCHANGED <<arena, disk, kernel>> /\
    CASE my[o].phase = "open" -> Move(t, NextSlot(L[t])) /\ my' = [my EXCEPT ![o].calls = @ + 1]
      [] my[o].phase \in {"none", "opening"} -> FALSE
      [] OTHER -> Move(t, Begin(L[t])) /\ UNCHANGED my
\* Read the word of a slot.
AdoptRead(t) == LET l == L[t]  w == arena.slot[l.s] IN At(t, "AdoptRead") /\ UNCHANGED arena /\ Same /\
    Move(t, IF w = Nobody \/ IsOwn(w, Me(t)) THEN NextSlot(l) ELSE Goto([l EXCEPT !.w = w], "AskKernel"))
\* Ask the kernel whether the owner has its byte.
AskKernel(t) == LET l == L[t] IN At(t, "AskKernel") /\ UNCHANGED arena /\ Same /\
    \E answer \in Answers(Me(t), l.w.own) :
        Move(t, IF answer = "free" \/ (answer = "unknown" /\ DeadIfUnknown) THEN Goto(l, "Adopt") ELSE NextSlot(l))
\* CAS: from the word of the dead opening to an own one.
Adopt(t) == LET l == L[t]  o == Me(t) IN At(t, "Adopt") /\ UNCHANGED <<disk, kernel>> /\
    IF arena.slot[l.s] # l.w THEN Move(t, NextSlot(l)) /\ UNCHANGED <<arena, my>>
    ELSE /\ arena' = [arena EXCEPT !.slot[l.s] = Word(o)] /\ my' = [my EXCEPT ![o].made = Number(o)]
         /\ Move(t, Goto([l EXCEPT !.w = Word(o)], "Unpin"))
\* CAS: from the own word to FREE.  The next claimant goes on with what is in limbo.
Free(t) == LET l == L[t] IN At(t, "Free") /\ Same
    /\ arena' = (IF IsStill(l.s, l.w) THEN [arena EXCEPT !.slot[l.s] = Nobody] ELSE arena)
    /\ Move(t, NextSlot(l))
\* All slots were looked at.  Private.
AdoptEnd(t) == At(t, "AdoptEnd") /\ UNCHANGED <<arena, disk, kernel>>
    /\ my' = [my EXCEPT ![Me(t)].calls = @ - 1] /\ Move(t, Goto(L[t], "done"))

(********************************* Closing *********************************)
Least(R) == CHOOSE r \in R : \A q \in R : r.s <= q.s
\* No new calls.  Private.
CloseBegin(t) == LET o == Me(t) IN At(t, "CloseBegin") /\ UNCHANGED <<arena, disk, kernel>> /\
    CASE my[o].phase = "open" -> my' = [my EXCEPT ![o].phase = "closing"] /\ Move(t, Goto(L[t], "CloseWait"))
      [] my[o].phase \in {"none", "opening"} -> FALSE
      [] OTHER -> UNCHANGED my /\ Move(t, Goto(L[t], "done"))
\* The calls of other threads are over.
CloseWait(t) == LET o == Me(t)  R == ToRelease(o) IN At(t, "CloseWait") /\ CallsAreOver(o) /\ UNCHANGED arena /\ Same /\
    Move(t, Goto([L[t] EXCEPT !.rest = R], IF R = {} THEN "CloseHide" ELSE "Release"))
\* At exit: they are not over, and the process ends as a killed one would.  Its threads go on until then.
CloseLeave(t) == LET o == Me(t) IN At(t, "CloseWait") /\ L[t].op.op = "exit" /\ my[o].calls > 0
    /\ UNCHANGED <<arena, disk, kernel>> /\ my' = [my EXCEPT ![o].phase = "left"] /\ Move(t, Goto(L[t], "End"))
\* CAS: from the own word to FREE.
Release(t) == LET l == L[t]  r == Least(l.rest)  R == l.rest \ {r} IN At(t, "Release") /\ Same
    /\ Store(Me(t), IF IsStill(r.s, r.w) THEN [arena EXCEPT !.slot[r.s] = Nobody] ELSE arena)
    /\ Move(t, Goto([l EXCEPT !.rest = R], IF R # {} THEN "Release"
                                           ELSE IF l.op.op = "finalize" THEN "done" ELSE "CloseHide"))
\* The finalizer finds what the closing opening has claimed.  Private.
FinalBegin(t) == LET R == my[Me(t)].pool IN At(t, "FinalBegin") /\ UNCHANGED arena /\ Same
    /\ my[Me(t)].phase \in {"closing", "hidden", "closed", "left"} /\ CallsAreOver(Me(t))
    /\ Move(t, Goto([L[t] EXCEPT !.rest = R], IF R = {} THEN "done" ELSE "Release"))
\* Put empty memory in place of the arena.  Without a descriptor this was the last reference, and the lock goes.
CloseHide(t) == LET o == Me(t) IN At(t, "CloseHide") /\ UNCHANGED <<arena, disk>>
    /\ kernel' = (IF o \in kernel.lost THEN Unref(kernel, Here(t), {o}) ELSE kernel)
    /\ my' = (IF Hides(o) THEN [my EXCEPT ![o].phase = "hidden"] ELSE my)
    /\ Move(t, Goto(L[t], HiddenThen))
\* Give the byte back.
CloseUnlock(t) == LET o == Me(t) IN At(t, "CloseUnlock") /\ UNCHANGED <<arena, disk, my>>
    /\ kernel' = [kernel EXCEPT !.lock = IF o \in kernel.lost THEN @ ELSE @ \ {o}]
    /\ Move(t, Goto(L[t], UnlockedThen))
\* Ask the kernel whether anybody else has a byte.
CloseLook(t) == At(t, "CloseLook") /\ UNCHANGED arena /\ Same /\
    \E answer \in Answers(Me(t), "") : Move(t, Goto(L[t], IF answer = "free" THEN AloneThen ELSE "CloseEnd"))
\* Read the state.
CloseRead(t) == LET x == arena.state IN At(t, "CloseRead") /\ UNCHANGED arena /\ Same /\
    Move(t, IF x.t = "CLEAN" \/ ~Replaces(x) THEN Goto(L[t], "CloseEnd")
            ELSE Goto([L[t] EXCEPT !.x = x], "CloseMark"))
\* CAS: from the state read to SEALING and the own identity.
CloseMark(t) == LET l == L[t] IN At(t, "CloseMark") /\ Same /\
    IF arena.state # l.x THEN UNCHANGED arena /\ Move(t, Goto([l EXCEPT !.x = InUse], "CloseLook"))
    ELSE arena' = [arena EXCEPT !.state = Mark(Me(t))] /\ Move(t, Goto([l EXCEPT !.x = InUse], MarkedThen))
\* Ask the kernel again.
CloseLookAgain(t) == At(t, "CloseLookAgain") /\ UNCHANGED arena /\ Same /\
    \E answer \in Answers(Me(t), "") : Move(t, Goto(L[t], IF answer = "free" THEN "CloseSum" ELSE "CloseUndo"))
\* CAS: from the own mark to IN_USE.
CloseUndo(t) == At(t, "CloseUndo") /\ Same
    /\ arena' = (IF IsMarkedToUndo(Me(t)) THEN [arena EXCEPT !.state = InUse] ELSE arena)
    /\ Move(t, Goto(L[t], "CloseEnd"))
\* Everything goes to disk; compute the checksum.
CloseSum(t) == At(t, "CloseSum") /\ UNCHANGED <<arena, kernel, my>>
    /\ disk' = (IF Durable THEN [disk EXCEPT !.content = arena.content] ELSE disk)
    /\ Move(t, Goto([L[t] EXCEPT !.x = Clean(arena.content)], "CloseSeal"))
\* CAS: from the own mark to CLEAN and the checksum, one word.  If it fails, somebody else will seal.
CloseSeal(t) == LET l == L[t] IN At(t, "CloseSeal") /\ Same
    /\ arena' = (IF IsMarked(Me(t)) THEN [arena EXCEPT !.state = l.x] ELSE arena)
    /\ Move(t, Goto([l EXCEPT !.x = InUse], "CloseEnd"))
\* Close the descriptor; the kernel takes the lock back, if it has not done so yet.
CloseEnd(t) == LET o == Me(t) IN At(t, "CloseEnd") /\ UNCHANGED <<arena, disk>>
    /\ kernel' = Unref(kernel, Here(t), {o})
    /\ my' = [my EXCEPT ![o].phase = "closed"]
    /\ Move(t, Goto(L[t], IF L[t].op.op = "exit" THEN "End" ELSE "done"))

(******************************** Processes ********************************)
Gone == [phase |-> "gone", pool |-> {}, calls |-> 0, made |-> 0]
\* What is left of the private memory of process p.
Wiped(p) == [o \in Openings |-> IF Of[o] = p /\ my[o].phase \notin {"none", "closed", "refused"} THEN Gone ELSE my[o]]
Ends(p, how) == /\ kernel' = [Unref(kernel, p, Openings) EXCEPT !.run[p] = how]
                /\ my' = Wiped(p) /\ L' = [t \in Threads |-> IF Home[t] = p THEN Idle ELSE L[t]]
                /\ UNCHANGED <<arena, disk>>
\* The process ends, and all its threads with it.
End(t) == At(t, "End") /\ Ends(Here(t), "gone")
\* Another program takes over the process.
Exec(t) == LET p == Here(t) IN At(t, "Exec") /\ UNCHANGED <<arena, disk>>
    /\ kernel' = Unref(kernel, p, Dropped({o \in Openings : my[o].phase # "none"})) /\ my' = Wiped(p)
    /\ L' = [u \in Threads |-> IF u = t THEN Goto(L[t], "done") ELSE IF Home[u] = p THEN Idle ELSE L[u]]
\* Before a fork: an opening for the child, with its byte locked.
ForkLock(t) == LET c == L[t].op.c IN At(t, "ForkLock") /\ UNCHANGED <<arena, disk, my>> /\
    IF my[Me(t)].phase # "open" THEN my[Me(t)].phase \notin {"none", "opening"} /\ UNCHANGED kernel
                                     /\ Move(t, Goto(L[t], "done"))
    ELSE kernel' = [kernel EXCEPT !.lock = @ \cup {c}, !.ref[c] = {Here(t)}] /\ Move(t, Goto(L[t], "Fork"))
\* The child has what its parent has, but for the other threads.
Fork(t) == LET o == Me(t)  c == L[t].op.c  q == Of[c] IN At(t, "Fork") /\ UNCHANGED <<arena, disk>>
    /\ kernel' = [kernel EXCEPT !.run[q] = "running",
                                !.ref = [x \in Openings |-> IF Here(t) \in @[x] THEN @[x] \cup {q} ELSE @[x]]]
    /\ my' = [my EXCEPT ![c] = [my[o] EXCEPT !.phase = "forked"]]
    /\ Move(t, Goto(L[t], "ForkParent"))
\* The child maps the arena through its own opening, and lets its parent's go.
ForkRemap(t) == LET c == Me(t)  q == Here(t)  X == {x \in Openings : q \in kernel.ref[x] /\ x # c} IN
    At(t, "ForkRemap") /\ UNCHANGED <<arena, disk>>
    /\ kernel' = Unref([kernel EXCEPT !.lock = @ \ GivenBack(X)], q, X)
    /\ my' = [my EXCEPT ![c] = [phase |-> "open", pool |-> Inherited(@.pool), calls |-> 0, made |-> 0]]
    /\ Move(t, Goto(L[t], "done"))
\* The parent closes its descriptor of the child's opening.
ForkParent(t) == At(t, "ForkParent") /\ UNCHANGED <<arena, disk, my>>
    /\ kernel' = Unref(kernel, Here(t), {L[t].op.c}) /\ Move(t, Goto(L[t], "done"))

\* The world.
Kill(p) == p \in Mortal /\ kernel.run[p] = "running" /\ Ends(p, "gone")
Stop(p) == p \in Stoppable /\ kernel.run[p] = "running" /\ UNCHANGED <<arena, disk, my, L>>
    /\ kernel' = [kernel EXCEPT !.run[p] = "stopped"]
\* Somebody closes the descriptors of the process, and other files get their numbers.
CloseDescriptors(p) ==
    LET X == {o \in Openings : Of[o] = p /\ p \in kernel.ref[o]} IN
    p \in Daemons /\ Runs(p) /\ X \ kernel.lost # {} /\ UNCHANGED <<arena, disk, my, L>>
    /\ kernel' = [kernel EXCEPT !.lost = @ \cup X, !.lock = IF GoesWithDescriptor THEN @ \ X ELSE @]
\* The kernel brings pages to disk when it likes.
WriteBackHeader == Durable /\ disk.state # arena.state
    /\ disk' = [disk EXCEPT !.state = arena.state] /\ UNCHANGED <<arena, kernel, my, L>>
WriteBackContent == Durable /\ disk.content # arena.content
    /\ disk' = [disk EXCEPT !.content = arena.content] /\ UNCHANGED <<arena, kernel, my, L>>

Step(t) == \/ OpenLock(t) \/ OpenRead(t) \/ OpenCheck(t) \/ OpenRecheck(t) \/ OpenMark(t) \/ OpenFlush(t)
           \/ Lend(t) \/ ClaimRead(t) \/ Claim(t) \/ Pin(t) \/ Write(t) \/ Unpin(t)
           \/ AdoptBegin(t) \/ AdoptRead(t) \/ AskKernel(t) \/ Adopt(t) \/ Free(t) \/ AdoptEnd(t)
           \/ CloseBegin(t) \/ CloseWait(t) \/ CloseLeave(t) \/ Release(t) \/ FinalBegin(t) \/ CloseHide(t)
           \/ CloseUnlock(t) \/ CloseLook(t) \/ CloseRead(t) \/ CloseMark(t) \/ CloseLookAgain(t) \/ CloseUndo(t)
           \/ CloseSum(t) \/ CloseSeal(t) \/ CloseEnd(t)
           \/ End(t) \/ Exec(t) \/ ForkLock(t) \/ Fork(t) \/ ForkRemap(t) \/ ForkParent(t)
World == \/ \E p \in Procs : Kill(p) \/ Stop(p) \/ CloseDescriptors(p)
         \/ WriteBackHeader \/ WriteBackContent

Rests(t) == L[t].pc = "idle" \/ ~Runs(Home[t])
Quiet == \A t \in Threads : Rests(t)
\* The processes of openings that only a fork begins.
Children == {Home[t] : t \in {u \in Threads : Program[u] # <<>> /\ Head(Program[u]).op = "child"}}
Init == /\ arena = [state   |-> IF Present = {} THEN Clean(0) ELSE InUse, content |-> 0,
                    slot    |-> [s \in 1..Slots |-> Nobody], pin |-> [s \in 1..Slots |-> FALSE]]
        /\ disk = [state |-> arena.state, content |-> 0]
        /\ kernel = [lock |-> Present, ref |-> [o \in Openings |-> IF o \in Present THEN {Of[o]} ELSE {}], lost |-> {},
                     run |-> [p \in Procs |-> IF p \in Children THEN "unborn" ELSE "running"]]
        /\ my = [o \in Openings |-> [phase |-> IF o \in Present THEN "open" ELSE "none",
                                     pool |-> {}, calls |-> 0, made |-> 0]]
        /\ L = [t \in Threads |-> Begin([Idle EXCEPT !.todo = Program[t]])]
Next == (\E t \in Threads : Step(t)) \/ World \/ (Quiet /\ UNCHANGED vars)
Spec     == Init /\ [][Next]_vars
\* Threads that can go on do go on.
FairSpec == Spec /\ \A t \in Threads : WF_vars(Step(t))

(******************************** Properties *******************************)
Lives(p) == kernel.run[p] \in {"running", "stopped"}
InPool(s) == {o \in Openings : my[o].phase \in {"open", "left"} /\ \E r \in my[o].pool : r.s = s}
InHand(s) == {t \in Threads : Lives(Home[t]) /\ L[t].s = s /\ L[t].pc \in {"Pin", "Write", "Unpin", "Free"}}

\* A slot has one owner, and its word says so.
OneOwner == \A s \in 1..Slots :
    /\ Cardinality(InPool(s)) + Cardinality(InHand(s)) <= 1
    /\ \A o \in InPool(s) : [s |-> s, w |-> arena.slot[s]] \in my[o].pool
    /\ \A t \in InHand(s) : arena.slot[s] = L[t].w
\* Nobody clears the pin of a call that is under way.
PinKept == \A t \in Threads : Lives(Home[t]) /\ L[t].op.op = "call" /\ L[t].pc \in {"Write", "Unpin"} => arena.pin[L[t].s]
\* A free slot is not pinned.
FreeUnpinned == \A s \in 1..Slots : arena.slot[s] = Nobody => ~arena.pin[s]
\* While anybody may write, the header is not sealed; a seal has the checksum of what is there.
SealedWhole == arena.state.t = "CLEAN" =>
    /\ arena.state.sum = arena.content
    /\ \A o \in Openings : my[o].phase \notin {"open", "left", "forked"}
    /\ \A t \in Threads : Lives(Home[t]) => L[t].pc # "OpenFlush" /\ (L[t].pc = "Write" => ~Shows(Me(t)))
\* A seal is broken by an opener, and by nobody else.
SealStays == [][arena.state.t = "CLEAN" /\ arena'.state # arena.state =>
                    \E t \in Threads : L[t].pc = "OpenMark" /\ L'[t].pc # "OpenMark"]_vars
\* A sound arena is never taken for a damaged one.
NeverRefused == \A o \in Openings : my[o].phase # "refused"
\* If the system goes down now: a seal on disk has the checksum of what is on disk.
DiskWhole == disk.state.t = "CLEAN" => disk.state.sum = disk.content
\* Nobody is about to adopt from himself, or from somebody who lives.
NoSelfAdoption == \A t \in Threads : Lives(Home[t]) /\ L[t].pc = "Adopt" => L[t].w.own # Me(t)
DeadOnly == \A t \in Threads : Lives(Home[t]) /\ L[t].pc = "Adopt" =>
    my[L[t].w.own].phase \in {"hidden", "closed", "gone"}
\* When all have closed in good order, the arena is sealed and no slot is taken.
OrderlyClean == Quiet /\ (\A o \in Openings : my[o].phase \in {"none", "closed"}) /\ kernel.lost = {} /\ Unsure = {} =>
    arena.state.t = "CLEAN" /\ \A s \in 1..Slots : arena.slot[s] = Nobody

\* What an opening held that is gone comes back, as long as somebody adopts.
Stale(s) == arena.slot[s] # Nobody /\ my[arena.slot[s].own].phase \in {"gone", "closed"}
ComesBack == \A s \in 1..Slots : Stale(s) ~> ~Stale(s)
\* Whoever is killed or stopped, the others come to an end.
Finishes == \A t \in Threads : <>Rests(t)

\* A state in a few words (latchfree spec --alias).
Alias == [next     |-> [t \in Threads |-> <<L[t].op, L[t].pc, L[t].s>>],
          arena    |-> arena,
          disk     |-> disk,
          kernel   |-> kernel]
=============================================================================
