"""What the user of GCAS and RDCSS does between their accesses: anything that the trie might."""

from __future__ import annotations

from latchfree_evidence.inductive.logic import Term, all_of, choose, negated
from latchfree_evidence.inductive.system import Case, State, action, is_one_of
from latchfree_evidence.inductive.systems.gcas.words import Words


class Client(Words):
    """A thread reads the root, then any published I-node; of its main node it makes another, an I-node, a snapshot."""

    never = ("GcasReadMain:gcas", "GcasReadPrev:gcas", "CompleteCommit:ok copy")
    local = ("CallGcasRead", "CallGcas", "Propose", "NewINode", "Done")

    @action("RdcssRead", "T")
    def rdcss_read(self, s: State, p: Term) -> list[Case]:
        """Read the root; a descriptor there is completed first."""
        here = self.at(s, p, "idle")
        return [
            Case(
                "root",
                all_of(here, negated(s.is_d)),
                s.but(sg=s.sg.set(p, s.gen(s.root_i))),
                is_the_root=s.root_i == self.root(s),
            ),
            Case("descriptor", all_of(here, s.is_d), self.go(s, p, "RdcssReadStatus", rd=s.rd.set(p, s.root_d))),
        ]

    @action("CallGcasRead", "T", "I", "For")
    def call_gcas_read(self, s: State, p: Term, i: Term, why: Term) -> list[Case]:
        """Begin to read the main node of a published I-node, as a reader that commits nothing or as another."""
        can = all_of(self.at(s, p, "idle", "GotMain"), s.pub(i), is_one_of(why, "client", "walk"))
        return [Case("", can, self.go(s, p, "GcasReadMain", gi=s.gi.set(p, i), ret=s.ret.set(p, why)))]

    @action("CallGcas", "T", "M")
    def call_gcas(self, s: State, p: Term, m: Term) -> list[Case]:
        """Make a new main node of the one just read, and begin to install it."""
        fresh = all_of(self.kind(s, m, "unborn"), s.old(m) == s.gm(p), s.of(m) == s.gi(p))
        made = self.go(s, p, "GcasCas", kind=s.kind.set(m, "own"), n=s.n.set(p, m))
        return [Case("", all_of(self.at(s, p, "GotMain"), fresh), made)]

    @action("Propose", "T", "D")
    def propose(self, s: State, p: Term, d: Term) -> list[Case]:
        """Make a new root with the main node just read, of a newer generation, and begin to install its descriptor."""
        i = s.nv(d)
        newer = s.gen(i) >= s.gen(s.ov(d)) if self.wrong == "same generation" else s.gen(i) > s.gen(s.ov(d))
        fresh = all_of(self.status(s, d, "unmade"), s.ov(d) == s.gi(p), s.exp(d) == s.gm(p), negated(s.used(i)), newer)
        made = self.go(
            s,
            p,
            "RdcssInstall",
            status=s.status.set(d, "UNDECIDED"),
            used=s.used.set(i, True),
            main=s.main.set(i, s.gm(p)),
            rd=s.rd.set(p, d),
        )
        return [Case("", all_of(self.at(s, p, "GotMain"), fresh), made)]

    @action("NewINode", "T", "I")
    def new_i_node(self, s: State, p: Term, i: Term) -> list[Case]:
        """Make an I-node with the main node just read, and publish it."""
        can = all_of(self.at(s, p, "GotMain"), negated(s.used(i)), s.gen(i) <= s.sg(p))
        made = s.but(
            used=s.used.set(i, True), pub=s.pub.set(i, True), main=s.main.set(i, s.gm(p)), copied=s.copied.set(i, False)
        )
        return [Case("", can, made)]

    @action("Done", "T")
    def done(self, s: State, p: Term) -> list[Case]:
        """End the operation."""
        return [Case("", self.at(s, p, "GotMain"), self.go(s, p, "idle"))]

    def hand(self, s: State, p: Term, m: Term, label: str, guard: Term) -> list[Case]:
        """Return how a thread goes on that has been handed a committed main node, in the state after its access."""
        i = s.gi(p)
        newer, client = s.sg(p) > s.gen(i), self.reads_for(s, p, "client", "walk")
        got = self.go(s, p, "GotMain", gm=s.gm.set(p, m))
        copied = got.but(copied=got.copied.set(i, True), cmain=got.cmain.set(i, m))
        same = True if self.wrong == "main not compared" else m == s.exp(s.rd(p))
        return [
            Case(f"{label}main", all_of(guard, client, negated(newer)), got, committed=self.kind(s, m, "committed")),
            Case(
                f"{label}copy",
                all_of(guard, client, newer),
                copied,
                same_as_other_copies=choose(s.copied(i), s.cmain(i) == m, True),
                settled=self.settled(s, i) == m,
            ),
            Case(
                f"{label}decide",
                all_of(guard, self.reads_for(s, p, "decide")),
                self.go(s, p, "RdcssDecide", want=s.want.set(p, same)),
            ),
            Case(f"{label}gcas", all_of(guard, self.reads_for(s, p, "gcas")), self.go(s, p, "GcasReadPrevAfter")),
        ]
