"""The way down: read the root, read one cell after the other, and end at the slot of the key."""

from __future__ import annotations

from latchfree_evidence.inductive.logic import Term, all_of, any_of, choose, negated
from latchfree_evidence.inductive.system import Case, Part, State, action
from latchfree_evidence.inductive.systems.trie.words import SWAPS, UPDATES, Words


class Walking(Words):
    """An operation that must begin anew ends without an answer; another begins."""

    @action("Invoke", "T", "Op", "K", "Int")
    def invoke(self, s: State, p: Term, op: Term, k: Term, v: Term) -> list[Case]:
        """Begin an operation: read the root."""
        root = s.tree(s.now, self.top)
        begun = self.go(
            s,
            p,
            "AtMain",
            op=s.op.set(p, op),
            k=s.k.set(p, k),
            v=s.v.set(p, v),
            sg=s.sg.set(p, s.now),
            ci=s.ci.set(p, root),
        )
        return [Case("", all_of(self.at(s, p, "idle"), v >= 1), begun)]

    @action("AtMain", "T")
    def at_main(self, s: State, p: Term) -> list[Case]:
        """Read the cell of the present I-node; what comes next depends on the slot of the key there."""
        i, k, g = s.ci(p), s.k(p), s.sg(p)
        here, m, b = self.at(s, p, "AtMain"), s.cell(i), self.way(s, p)
        c, swaps, updates = s.kid(m, b), self.does(s, p, *SWAPS), self.does(s, p, *UPDATES)
        walks, lookup, now = all_of(here, negated(swaps)), self.does(s, p, "lookup"), s.gen(i) == g
        link, tomb = self.link(s, m, b), self.is_tomb(s, m)
        entombs = all_of(tomb, negated(self.does(s, p, "put"))) if self.wrong == "put into a tomb" else tomb
        ends = all_of(walks, negated(link), negated(entombs))
        found, held = self.content(s, m, b, k), choose(now, s.map(g, k), s.held(p))
        same = s.gen(c) == g
        renews = updates if self.wrong == "renewed twice" else all_of(updates, negated(same))
        names = self.names(s, p, c)
        noted = {"cm": s.cm.set(p, m)}
        return [
            Case(
                "down",
                all_of(walks, link, any_of(same, lookup)),
                s.but(ci=s.ci.set(p, c), held=s.held.set(p, held)),
                names=names,
            ),
            Case("renew", all_of(walks, link, renews), self.go(s, p, "CopyChild", **noted), names=names),
            Case("answer", all_of(ends, lookup), self.go(s, p, "idle"), names=names, as_held=found == held),
            Case(
                "answer of an older tomb",
                all_of(walks, tomb, lookup, negated(now)),
                self.go(s, p, "idle"),
                names=names,
                as_held=found == held,
            ),
            Case("tomb", all_of(walks, entombs, now), self.go(s, p, "idle")),
            Case(
                "not there",
                all_of(ends, self.does(s, p, "remove"), found == 0),
                self.go(s, p, "idle"),
                names=names,
                as_held=s.map(g, k) == 0,
            ),
            Case(
                "update",
                all_of(ends, any_of(self.does(s, p, "put"), all_of(self.does(s, p, "remove"), negated(found == 0)))),
                self.go(s, p, "Commit", **noted),
            ),
            Case("swap", all_of(here, swaps), self.go(s, p, "Decide", **noted)),
        ]

    @action("StartCopy", "T", "I")
    def start_copy(self, s: State, p: Term, i: Term) -> list[Case]:
        """Read the cell of any I-node, to remove tombs from it: the parent on the way up, or of a tomb that was met."""
        m = s.cell(i)
        took = s.took.everywhere(lambda t, b: all_of(s.took(t, b), negated(t == p)))
        begun = self.go(s, p, "Compressed", ci=s.ci.set(p, i), cm=s.cm.set(p, m), took=took)
        return [Case("", all_of(self.at(s, p, "idle"), s.used(i), self.is_c(s, m)), begun)]

    @action("CopyChild", "T", "B")
    def copy_child(self, s: State, p: Term, b: Term) -> list[Case]:
        """Read the cell of a child: to renew the child, or to see whether it is a tomb."""
        cm = s.cm(p)
        m, compresses = s.cell(s.kid(cm, b)), all_of(self.at(s, p, "Compressed"), self.link(s, cm, b))
        found = [
            Case(
                "renew",
                all_of(self.at(s, p, "CopyChild"), b == self.way(s, p)),
                self.go(s, p, "Copied", xm=s.xm.set(p, m)),
            ),
            Case(
                "tomb", all_of(compresses, self.is_tomb(s, m)), self._taken(s, p, b, s.tomb(m), s.value(m, s.tomb(m)))
            ),
        ]
        if self.wrong == "no tombs":
            k = s.k(p)
            only = s.slot(s.place(s.kid(cm, b)), k)
            alone = Part("alone", ("B",), lambda other: any_of(other == only, self.empty(s, m, other)))
            single = all_of(compresses, self.leaf(s, m, only), s.key(m, only) == k)
            found.append(Case("single", single, self._taken(s, p, b, k, s.val(m, only)), given=alone))
        return found

    def _taken(self, s: State, p: Term, b: Term, k: Term, v: Term) -> State:
        return s.but(took=s.took.set(p, b, True), tk=s.tk.set(p, b, k), tv=s.tv.set(p, b, v))
