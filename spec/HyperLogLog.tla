---------------------------- MODULE HyperLogLog -----------------------------
(***************************************************************************)
(* HyperLogLog: registers that only rise, several packed in a word.  An    *)
(* add raises one register by a compare-and-swap of its word, which also   *)
(* fails if another register of the word has changed.  A merge raises the  *)
(* registers one after the other.  A reader reads one word after the       *)
(* other.                                                                  *)
(*                                                                         *)
(* The promise: no register is below the ranks of adds that have ended     *)
(* (Floor), nor above all those that have begun (Ceiling), and a reader    *)
(* finds what was so at the beginning at least, and what is so at the end  *)
(* at most (ReadsRight): its answer is between two others.                 *)
(*                                                                         *)
(* In code: impl/latchfree/sketches/kernels/hyperloglog.py.                *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANTS Program,   \* process -> sequence of operations
          Words,     \* how many words
          Packed     \* registers in a word
Procs == DOMAIN Program
Registers == (1..Words) \X (1..Packed)

Add(w, k, rank) == [op |-> "add", todo |-> <<<<w, k, rank>>>>]
Merge(ranks)    == [op |-> "merge", todo |-> ranks]     \* word, register and rank of each
Read            == [op |-> "read", todo |-> <<>>]

VARIABLES word,      \* word -> the ranks of its registers
          L,         \* the registers of each process
          at,        \* at[p]: the index of p's next operation
          begun,     \* register -> the greatest rank that an add has begun to add (history)
          ended,     \* register -> the greatest rank whose add has ended (history)
          wrong      \* registers that a reader has found too low or too high (history)
vars == <<word, L, at, begun, ended, wrong>>

Greater(a, b) == IF a > b THEN a ELSE b
Idle == [pc |-> "idle", op |-> Read, n |-> 1, held |-> <<>>, due |-> <<>>, seen |-> <<>>]
At(p, pc) == L[p].pc = pc
Mine(p)   == L[p].op.todo[L[p].n]          \* word, register, rank
Go(p, pc) == [L EXCEPT ![p].pc = pc]
Done(p)   == /\ L' = [L EXCEPT ![p] = Idle]
             /\ at' = [at EXCEPT ![p] = @ + 1]
\* The greatest of what was and of some ranks.
With(now, ranks) == [r \in Registers |-> LET S == {now[r]} \cup {ranks[i][3] : i \in {j \in DOMAIN ranks : <<ranks[j][1], ranks[j][2]>> = r}}
                                         IN CHOOSE x \in S : \A y \in S : y <= x]

Invoke(p) == /\ At(p, "idle") /\ at[p] <= Len(Program[p])
             /\ LET o == Program[p][at[p]] IN
                /\ L' = [L EXCEPT ![p] = [Idle EXCEPT !.op = o, !.due = ended, !.pc = IF o.op = "read" THEN "ReadWord" ELSE "Load"]]
                /\ begun' = With(begun, o.todo)
             /\ UNCHANGED <<word, at, ended, wrong>>
\* After a register: the next one, or the end.
Further(p) == IF L[p].n = Len(L[p].op.todo)
              THEN Done(p) /\ ended' = With(ended, L[p].op.todo)
              ELSE L' = [L EXCEPT ![p].pc = "Load", ![p].n = @ + 1] /\ UNCHANGED <<at, ended>>
Load(p) == /\ At(p, "Load")
           /\ LET held == word[Mine(p)[1]] IN
              IF held[Mine(p)[2]] >= Mine(p)[3] THEN Further(p)
              ELSE L' = [L EXCEPT ![p].pc = "Raise", ![p].held = held] /\ UNCHANGED <<at, ended>>
           /\ UNCHANGED <<word, begun, wrong>>
Fits(p) == word[Mine(p)[1]] = L[p].held
New(p)  == [L[p].held EXCEPT ![Mine(p)[2]] = Mine(p)[3]]
\* Compare-and-swap of the word.
Raise(p) == /\ At(p, "Raise")
            /\ IF Fits(p) THEN word' = [word EXCEPT ![Mine(p)[1]] = New(p)] /\ Further(p)
               ELSE L' = Go(p, "Load") /\ UNCHANGED <<word, at, ended>>
            /\ UNCHANGED <<begun, wrong>>
\* A reader reads word n.
ReadWord(p) == /\ At(p, "ReadWord")
               /\ LET seen == Append(L[p].seen, word[L[p].n]) IN
                  IF L[p].n < Words
                  THEN L' = [L EXCEPT ![p].n = @ + 1, ![p].seen = seen] /\ UNCHANGED <<at, wrong>>
                  ELSE /\ Done(p)
                       /\ wrong' = wrong \cup {r \in Registers : seen[r[1]][r[2]] < L[p].due[r] \/ seen[r[1]][r[2]] > begun[r]}
               /\ UNCHANGED <<word, begun, ended>>
Step(p) == Load(p) \/ Raise(p) \/ ReadWord(p)

Terminating == (\A p \in Procs : At(p, "idle") /\ at[p] > Len(Program[p])) /\ UNCHANGED vars
Init == /\ word = [w \in 1..Words |-> [k \in 1..Packed |-> 0]]
        /\ L = [p \in Procs |-> Idle]
        /\ at = [p \in Procs |-> 1]
        /\ begun = [r \in Registers |-> 0]
        /\ ended = [r \in Registers |-> 0]
        /\ wrong = {}
Next == (\E p \in Procs : Invoke(p) \/ Step(p)) \/ Terminating
Spec == Init /\ [][Next]_vars

Floor      == \A r \in Registers : word[r[1]][r[2]] >= ended[r]
Ceiling    == \A r \in Registers : word[r[1]][r[2]] <= begun[r]
ReadsRight == wrong = {}

\* A state in a few words (latchfree spec --alias).
Alias == [next  |-> [p \in Procs |-> <<L[p].op.op, L[p].pc, L[p].n>>],
          words |-> word,
          wrong |-> wrong]
=============================================================================
