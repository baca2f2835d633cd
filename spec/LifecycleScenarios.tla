------------------------- MODULE LifecycleScenarios -------------------------
(* Processes, their openings and their threads, for the bounded models of Lifecycle. *)
EXTENDS Lifecycle

\* Threads whose name begins with a letter are of the process of that letter.
PQ    == [p |-> "p", q |-> "q"]
PQR   == [p |-> "p", q |-> "q", r |-> "r"]
PP    == [p1 |-> "p", p2 |-> "p"]
PPQ   == [p1 |-> "p", p2 |-> "p", q |-> "q"]
\* Opening a is of process p, and so on.
AB    == [a |-> "p", b |-> "q"]
ABC   == [a |-> "p", b |-> "q", c |-> "r"]
A2    == [a |-> "p", a2 |-> "p"]
A2B   == [a |-> "p", a2 |-> "p", b |-> "q"]

\* Two have the arena open and close it, the third opens and closes it.
ClosersAndOpener == [p |-> <<Call("a"), Close("a")>>, q |-> <<Close("b")>>, r |-> <<Open("c"), Call("c"), Close("c")>>]
\* All open a sealed arena; two of them write.
Openers == [p |-> <<Open("a"), Call("a"), Close("a")>>, q |-> <<Open("b"), Call("b"), Close("b")>>,
            r |-> <<Open("c"), Close("c")>>]
Writers == [p |-> <<Open("a"), Call("a"), Close("a")>>, q |-> <<Open("b"), Call("b"), Close("b")>>,
            r |-> <<Open("c"), Call("c"), Close("c")>>]
TwoOpeners == [p |-> <<Open("a"), Call("a"), Close("a")>>, q |-> <<Open("b"), Call("b"), Close("b")>>]
\* Two openings of one process.
TwoOpenings == [p1 |-> <<Call("a"), Close("a")>>, p2 |-> <<Call("a2"), Call("a2")>>]
TwoOpeningsAndMore == [p1 |-> <<Call("a"), Close("a")>>, p2 |-> <<Call("a2"), Call("a2"), Close("a2")>>,
                       q |-> <<Call("b"), Close("b")>>]
\* A thread still calls when another closes.
DaemonThread == [p1 |-> <<Close("a")>>, p2 |-> <<Call("a"), Call("a")>>, q |-> <<Call("b"), Close("b")>>]
DaemonAtExit == [p1 |-> <<Exit("a")>>, p2 |-> <<Call("a"), Call("a")>>, q |-> <<Call("b"), AdoptOnce("b"), Close("b")>>]
\* A finalizer releases what close releases.
Finalizer == [p1 |-> <<Call("a"), Close("a")>>, p2 |-> <<Finalize("a")>>, q |-> <<Call("b"), Call("b")>>]
\* One calls, the other adopts.
Adopter == [p |-> <<Call("a"), Call("a")>>, q |-> <<AdoptOnce("b"), Call("b")>>]
TwoAdopters == [p |-> <<Call("a"), AdoptOnce("a")>>, q |-> <<Call("b"), AdoptOnce("b")>>, r |-> <<AdoptOn("c")>>]
CallersAndAdopter == [p |-> <<Call("a"), Close("a")>>, q |-> <<Call("b"), AdoptOnce("b"), Close("b")>>,
                      r |-> <<AdoptOnce("c"), Close("c")>>]
StoppedAnywhere == [p |-> <<Call("a"), AdoptOnce("a"), Close("a")>>, q |-> <<Open("b"), AdoptOnce("b"), Close("b")>>]
Daemonizers == [p |-> <<Call("a"), AdoptOnce("a"), Close("a")>>, q |-> <<Call("b"), AdoptOnce("b"), Close("b")>>]
Selves == [p1 |-> <<Call("a"), Call("a")>>, p2 |-> <<AdoptOnce("a")>>, q |-> <<>>]
\* Another program takes over the process, and opens the arena again.
NewProgram == [p |-> <<Call("a"), Execute("a"), Open("a2"), Call("a2")>>, q |-> <<AdoptOn("b")>>]
OldProgram == [p |-> <<Call("a"), Execute("a")>>, q |-> <<AdoptOn("b")>>]
\* One closes, another opens and closes, or closes, too.
CloserAndOpener == [p |-> <<Close("a")>>, q |-> <<Open("b"), Call("b"), Close("b")>>]
TwoClosers == [p |-> <<Call("a"), Close("a")>>, q |-> <<Close("b")>>]
CloserAndShortOpener == [p |-> <<Close("a")>>, q |-> <<Open("b"), Close("b")>>]
\* A child is forked.
Family == [p |-> <<Call("a"), ForkTo("a", "c"), Call("a"), Close("a")>>, r |-> <<ChildOf("a", "c"), Call("c"), Close("c")>>,
           q |-> <<AdoptOnce("b"), Close("b")>>]
=============================================================================
