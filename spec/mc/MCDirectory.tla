---------------------------- MODULE MCDirectory -----------------------------
(* Bounded models of the directory. *)
EXTENDS Directory

Nobody == {}
Everybody == Procs

\* One name, two entries: two create, one looks.
TwoCreate == [p |-> <<<<"create", 1>>>>, q |-> <<<<"create", 1>>>>, r |-> <<<<"find", 1>>, <<"find", 1>>>>]
\* One name, three create.
ThreeCreate == [p |-> <<<<"create", 1>>>>, q |-> <<<<"create", 1>>>>, r |-> <<<<"create", 1>>>>]
\* One creates and removes while another creates, and a third one looks.
CreateRemove == [p |-> <<<<"create", 1>>, <<"remove", 1>>>>, q |-> <<<<"create", 1>>>>,
                 r |-> <<<<"find", 1>>, <<"find", 1>>>>]
\* One entry that is used again by another name while it is read.
UsedAgain == [p |-> <<<<"create", 1>>, <<"remove", 1>>, <<"create", 2>>>>, q |-> <<<<"create", 2>>, <<"remove", 2>>>>,
              r |-> <<<<"find", 1>>, <<"find", 2>>>>]
\* Two remove one structure, one of them after creating it.
TwoRemove == [p |-> <<<<"create", 1>>, <<"remove", 1>>>>, q |-> <<<<"remove", 1>>, <<"create", 1>>>>]
\* Some die, others adopt what they held and create.
Deaths == [p |-> <<<<"create", 1>>, <<"remove", 1>>>>, q |-> <<<<"adopt", 0>>, <<"create", 1>>>>,
           r |-> <<<<"adopt", 0>>, <<"find", 1>>>>]
TheFirst == {"p"}
\* Everything at once, to be left alone in.
Mixed == [p |-> <<<<"create", 1>>, <<"remove", 1>>>>, q |-> <<<<"create", 1>>, <<"adopt", 0>>>>]

\* A wrong operator: a search leaves out the first entry.
NotTheFirst == 2
\* A wrong operator: a creator who has withdrawn keeps the entry.
Keeps == "idle"
=============================================================================
