"""The root moves: a snapshot keeps the main node of the root, a clear does not.

An RDCSS is one step here: it compares the root and its main node, and moves the root to a newer generation.
"""

from __future__ import annotations

from latchfree_evidence.inductive.logic import Term, all_of, choose, negated
from latchfree_evidence.inductive.system import Case, Part, State, action
from latchfree_evidence.inductive.systems.trie.contraction import Contraction


class Swapping(Contraction):
    """Snapshot and clear."""

    @action("Decide", "T", "I", "M")
    def decide(self, s: State, p: Term, c: Term, n: Term) -> list[Case]:
        """Move the root, if it and its main node are as they were."""
        i, here, new = s.ci(p), self.at(s, p, "Decide"), s.now + 1
        same = True if self.wrong == "snapshot not compared" else s.cell(i) == s.cm(p)
        ok = all_of(s.sg(p) == s.now, same)
        fits = all_of(negated(s.used(c)), s.gen(c) == new, s.place(c) == self.top)

        def moved(m: Term, whole: bool) -> State:
            def there(g: Term, q: Term) -> Term:
                return choose(g == new, all_of(s.there(s.now, q), whole) if whole else q == self.top, s.there(g, q))

            def tree(g: Term, q: Term) -> Term:
                return choose(g == new, choose(q == self.top, c, s.tree(s.now, q)), s.tree(g, q))

            def home(g: Term, k: Term) -> Term:
                return choose(g == new, s.home(s.now, k) if whole else self.top, s.home(g, k))

            def held(g: Term, k: Term) -> Term:
                return choose(g == new, s.map(s.now, k) if whole else 0, s.map(g, k))

            return self.go(
                s,
                p,
                "idle",
                now=new,
                cell=s.cell.set(c, m),
                used=s.used.set(c, True),
                there=s.there.everywhere(there),
                tree=s.tree.everywhere(tree),
                home=s.home.everywhere(home),
                own=s.own.everywhere(lambda g, k: choose(g == new, 1, s.own(g, k))),
                map=s.map.everywhere(held),
            )

        bare = Part("bare", ("B",), lambda b: self.empty(s, n, b))
        cleared = moved(n, whole=False)
        return [
            Case("snapshot", all_of(here, ok, fits, self.does(s, p, "snapshot")), moved(s.cm(p), whole=True)),
            Case(
                "clear",
                all_of(here, ok, fits, self.does(s, p, "clear"), negated(s.born(n)), self.is_c(s, n)),
                cleared.but(born=s.born.set(n, True)),
                given=bare,
            ),
            Case("lost", all_of(here, negated(ok)), self.go(s, p, "idle")),
        ]
