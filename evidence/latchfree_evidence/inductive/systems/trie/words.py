"""The fields of the trie, and the words of its actions and of its invariant.

Each I-node has a rigid *place*: the digits of the hash that all keys below it begin with. A place *covers* a key if the
hash of the key begins so. At a place, the next digit of a key is its *slot*. `up` is the place without its last digit.

Main nodes never change, so what they hold is in rigid fields. To make a node is to take an unused one that has the
wanted contents; since nobody sees a node before the access that publishes the node, that access makes it.
"""

from __future__ import annotations

from typing import Any, ClassVar

from latchfree_evidence.inductive.logic import Term, all_of, choose, negated
from latchfree_evidence.inductive.system import Part, State, System, is_one_of

UPDATES = ("put", "remove")
SWAPS = ("snapshot", "clear")


class Words(System):
    """The fields; the ghosts are `there`, `tree`, `home`, `own`, `map` and `held`."""

    sorts: ClassVar[Any] = {
        "T": None,
        "I": None,
        "M": None,
        "K": None,
        "B": None,
        "P": None,
        "PC": ("idle", "AtMain", "CopyChild", "Commit", "Copied", "Compressed", "Decide"),
        "Op": ("lookup", *UPDATES, *SWAPS),
        "Kind": ("C", "T", "L"),
        "What": ("empty", "leaf", "link"),
    }
    constants: ClassVar[Any] = {"top": "P"}
    fields: ClassVar[Any] = {
        "now": ((), "Int"),
        "cell": (("I",), "M"),
        "used": (("I",), "Bool"),
        "born": (("M",), "Bool"),
        # registers: the operation; the generation of the root; the present I-node, its main node, that of its child
        "pc": (("T",), "PC"),
        "op": (("T",), "Op"),
        "k": (("T",), "K"),
        "v": (("T",), "Int"),
        "sg": (("T",), "Int"),
        "ci": (("T",), "I"),
        "cm": (("T",), "M"),
        "xm": (("T",), "M"),
        # contraction: in which slots a tomb was found, and with which key and value
        "took": (("T", "B"), "Bool"),
        "tk": (("T", "B"), "K"),
        "tv": (("T", "B"), "Int"),
        # the tree of each generation: whether it has a place, which I-node is there; where the path of a key ends;
        # how many levels of that path are of this generation; the abstract map
        "there": (("Int", "P"), "Bool"),
        "tree": (("Int", "P"), "I"),
        "home": (("Int", "K"), "P"),
        "own": (("Int", "K"), "Int"),
        "map": (("Int", "K"), "Int"),
        # what the map held at the last access to a cell of the generation of a lookup
        "held": (("T",), "Int"),
        # never changed: places
        "up": (("P",), "P"),
        "last": (("P",), "B"),
        "level": (("P",), "Int"),
        "slot": (("P", "K"), "B"),
        "covers": (("P", "K"), "Bool"),
        # I-nodes
        "place": (("I",), "P"),
        "gen": (("I",), "Int"),
        # main nodes: slots of a C-node; the values of the keys in another; the key of a tomb
        "kind": (("M",), "Kind"),
        "what": (("M", "B"), "What"),
        "key": (("M", "B"), "K"),
        "val": (("M", "B"), "Int"),
        "kid": (("M", "B"), "I"),
        "value": (("M", "K"), "Int"),
        "tomb": (("M",), "K"),
    }
    rigid = (
        "up",
        "last",
        "level",
        "slot",
        "covers",
        "place",
        "gen",
        "kind",
        "what",
        "key",
        "val",
        "kid",
        "value",
        "tomb",
    )

    top: Any

    def at(self, s: State, t: Term, *names: str) -> Term:
        """Return whether a thread is at one of these actions."""
        return is_one_of(s.pc(t), *names)

    def does(self, s: State, t: Term, *names: str) -> Term:
        """Return whether a thread has one of these operations."""
        return is_one_of(s.op(t), *names)

    def go(self, s: State, t: Term, name: str, /, **changes: Any) -> State:
        """Return the state with a thread at another action."""
        return s.but(pc=s.pc.set(t, name), **changes)

    def is_c(self, s: State, m: Term) -> Term:
        """Return whether a main node is a C-node."""
        return is_one_of(s.kind(m), "C")

    def is_tomb(self, s: State, m: Term) -> Term:
        """Return whether a main node is a tomb."""
        return is_one_of(s.kind(m), "T")

    def is_l(self, s: State, m: Term) -> Term:
        """Return whether a main node is an L-node."""
        return is_one_of(s.kind(m), "L")

    def empty(self, s: State, m: Term, b: Term) -> Term:
        """Return whether a slot is empty."""
        return is_one_of(s.what(m, b), "empty")

    def leaf(self, s: State, m: Term, b: Term) -> Term:
        """Return whether a C-node has a key in a slot."""
        return all_of(self.is_c(s, m), is_one_of(s.what(m, b), "leaf"))

    def link(self, s: State, m: Term, b: Term) -> Term:
        """Return whether a C-node has a child in a slot."""
        return all_of(self.is_c(s, m), is_one_of(s.what(m, b), "link"))

    def content(self, s: State, m: Term, b: Term, k: Term) -> Term:
        """Return the value that a main node holds for a key of a slot, 0 for none."""
        in_slot = choose(all_of(self.leaf(s, m, b), s.key(m, b) == k), s.val(m, b), 0)
        return choose(self.is_c(s, m), in_slot, s.value(m, k))

    def node(self, s: State, g: Term, q: Term) -> Term:
        """Return the main node at a place of a tree."""
        return s.cell(s.tree(g, q))

    def among(self, s: State, g: Term, i: Term) -> Term:
        """Return whether an I-node is in a tree."""
        return all_of(s.there(g, s.place(i)), s.tree(g, s.place(i)) == i)

    def way(self, s: State, t: Term) -> Term:
        """Return the slot of a thread's key in its present I-node."""
        return s.slot(s.place(s.ci(t)), s.k(t))

    def names(self, s: State, t: Term, *others: Term) -> Part:
        """Return the present I-node and others, with their places and generations."""
        named = tuple(term for i in (s.ci(t), *others) for term in (i, s.place(i), s.gen(i)))
        return Part("names", (), lambda: named)

    def children(self, s: State, t: Term) -> Part:
        """Return the same of the present I-node, its children, and the keys of tombs found there."""

        def named(b: Term) -> tuple[Term, ...]:
            c = s.kid(s.cm(t), b)
            return (*self.names(s, t).run(), c, s.place(c), s.tk(t, b))

        return Part("children", ("B",), named)

    def known(self, s: State, g: Term) -> Term:
        """Return whether a number is that of a generation."""
        return all_of(g >= 1, g <= s.now)

    def child(self, s: State, q: Term, parent: Term, b: Term) -> Term:
        """Return whether a place is that of a child in a slot of another."""
        return all_of(negated(q == self.top), s.up(q) == parent, s.last(q) == b)
