------------------------------- MODULE Steps --------------------------------
(***************************************************************************)
(* Steps as functions of the memory h and the registers l of the process   *)
(* that takes it.  Each step is one access to shared memory, followed by   *)
(* whatever is local; l.pc names the access that comes next.               *)
(*                                                                         *)
(* A step yields an outcome: the new memory, the new registers, and what   *)
(* it hands to its caller, in the same step:                               *)
(*    ev = "none"    nothing, the process goes on at l.pc;                 *)
(*    ev = "return"  the operation answers v;                              *)
(*    any other      the result v of a subroutine.                         *)
(***************************************************************************)
EXTENDS Heap

Out(h, l)         == [h |-> h, l |-> l, ev |-> "none", v |-> 0]
Goto(h, l, pc)    == Out(h, [l EXCEPT !.pc = pc])
Hand(h, l, ev, v) == [h |-> h, l |-> l, ev |-> ev, v |-> v]

\* The root of the trie that a process works on, and the memory with another one there.
Root(h, l)       == h.root
SetRoot(h, l, r) == [h EXCEPT !.root = r]
\* What else a CAS does that puts new nodes where others find them: nothing.  MCRetirement notes it.
Published(h, l) == h
Main(h, i)  == h.node[i].main
Gen(h, i)   == h.node[i].gen
Prev(h, m)  == h.node[m].prev
=============================================================================
