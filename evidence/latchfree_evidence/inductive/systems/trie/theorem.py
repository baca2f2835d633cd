"""The theorem about the trie, claim by claim.

Each generation has a tree, and each tree an abstract map. The tree of the present generation is the trie, the others
are its snapshots.

- `rooted`, `downwards`, `ended`, `one_end`: the path of a key goes down from the root, slot by slot, and ends at
  exactly one I-node, whose main node holds for the key what the abstract map holds. So the map is what the trie holds,
  and every key has one path. `placed`: what a main node holds, it holds for keys whose path ends there. So a walk over
  the whole tree finds the map, each key once.
- `map_changes`, `effect`: the map changes where a put or a remove succeeds, in its key alone, and where a clear
  does. Renewal, contraction and new levels leave it alone. An update answers what the map held (the claims of Commit
  and Contracted).
- `frozen`: the tree and the map of an older generation never change: they are the snapshot.
- A lookup answers what the map held when it read the last cell of its own generation (the claims of AtMain). If the
  root has moved since it began, that is the map of a snapshot that was taken meanwhile.
"""

from __future__ import annotations

from latchfree_evidence.inductive.logic import Term, all_of, any_of, choose, implies, negated
from latchfree_evidence.inductive.system import State, between, conjunct
from latchfree_evidence.inductive.systems.trie.swapping import Swapping

CHANGES = (
    "Commit:put",
    "Commit:put in L",
    "Commit:remove",
    "Commit:remove from L",
    "Contracted",
    "Contracted:L",
)


class Claims(Swapping):
    """What is proved."""

    theorem = ("rooted", "downwards", "ended", "one_end", "placed", "placed_without_slots")

    @between("Int", "K")
    def map_changes(self, s: State, step: str, post: State, g: Term, k: Term) -> Term:
        """Return whether the abstract maps change as they may."""
        same = post.map(g, k) == s.map(g, k)
        # The generation that a snapshot ends with this very step is older afterwards.
        old = implies(all_of(self.known(s, g), g < post.now), same)
        if step in CHANGES:
            return all_of(old, post.now == s.now)
        if step == "Decide:snapshot":
            return all_of(old, post.now == s.now + 1, post.map(post.now, k) == s.map(s.now, k))
        if step == "Decide:clear":
            return all_of(old, post.now == s.now + 1, post.map(post.now, k) == 0)
        return all_of(old, post.now == s.now, implies(g == s.now, same))

    @between("T", "K")
    def effect(self, s: State, step: str, post: State, t: Term, k: Term) -> Term:
        """Return whether the update of a thread changes its key alone, to what it says."""
        if step not in CHANGES:
            return True
        now = s.now
        new = choose(self.does(s, t, "put"), s.v(t), 0)
        ends = all_of(self.at(s, t, "Commit"), self.at(post, t, "idle"))
        return implies(ends, post.map(now, k) == choose(k == s.k(t), new, s.map(now, k)))

    @between("Int", "P")
    def frozen(self, s: State, step: str, post: State, g: Term, q: Term) -> Term:
        """Return whether the trees of generations that are older afterwards are left alone, also by what ends one."""
        there, i = s.there(g, q), s.tree(g, q)
        same = all_of(
            post.there(g, q) == there, implies(there, all_of(post.tree(g, q) == i, post.cell(i) == s.cell(i)))
        )
        return implies(all_of(self.known(s, g), g < post.now), same)

    @conjunct("Int")
    def rooted(self, s: State, g: Term) -> Term:
        """Each tree has a root, and that is no tomb; so whoever meets a tomb has a parent to go to."""
        i = s.tree(g, self.top)
        root = all_of(s.there(g, self.top), s.gen(i) == g, negated(self.is_tomb(s, s.cell(i))))
        return all_of(s.now >= 1, implies(self.known(s, g), root))

    @conjunct("Int", "P", "B")
    def downwards(self, s: State, g: Term, q: Term, b: Term) -> Term:
        """A child is at the place of its slot."""
        m = self.node(s, g, q)
        c = s.kid(m, b)
        linked = all_of(self.known(s, g), s.there(g, q), self.link(s, m, b))
        return implies(linked, all_of(self.among(s, g, c), self.child(s, s.place(c), q, b)))

    @conjunct("Int", "K")
    def ended(self, s: State, g: Term, k: Term) -> Term:
        """The path of a key ends where the tree holds for it what the map holds."""
        q = s.home(g, k)
        m, b = self.node(s, g, q), s.slot(q, k)
        end = all_of(s.there(g, q), s.covers(q, k), negated(self.link(s, m, b)))
        return implies(self.known(s, g), all_of(end, self.content(s, m, b, k) == s.map(g, k)))

    @conjunct("Int", "P", "K")
    def one_end(self, s: State, g: Term, q: Term, k: Term) -> Term:
        """It ends nowhere else, and whatever is on it is above its end."""
        on_path = all_of(self.known(s, g), s.there(g, q), s.covers(q, k))
        ends = negated(self.link(s, self.node(s, g, q), s.slot(q, k)))
        deep = s.level(q) <= s.level(s.home(g, k))
        return implies(on_path, all_of(implies(ends, q == s.home(g, k)), deep))

    @conjunct("Int", "P", "B")
    def placed(self, s: State, g: Term, q: Term, b: Term) -> Term:
        """A key is in its slot, on its path."""
        m = self.node(s, g, q)
        k = s.key(m, b)
        there = all_of(self.known(s, g), s.there(g, q), self.leaf(s, m, b))
        return implies(there, all_of(s.covers(q, k), s.slot(q, k) == b))

    @conjunct("Int", "P", "K")
    def placed_without_slots(self, s: State, g: Term, q: Term, k: Term) -> Term:
        """What a tomb or an L-node holds is on its path."""
        m = self.node(s, g, q)
        there = all_of(self.known(s, g), s.there(g, q), negated(self.is_c(s, m)))
        has = any_of(negated(s.value(m, k) == 0), all_of(self.is_tomb(s, m), k == s.tomb(m)))
        return implies(all_of(there, has), s.covers(q, k))
