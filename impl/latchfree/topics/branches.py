"""A tree of patterns: a branch for each first word, and so on; what begins alike shares its branches.

Example: `a/b` and `a/+` are below one branch `a`. Whoever asks for the patterns that may overlap with ``+/b`` goes down
every branch, and there to `b`, to the wildcards, and nowhere else.
"""

from __future__ import annotations

from typing import Generic

from latchfree.topics.pattern import Kind, Pattern, parsed
from latchfree.topics.subscription import S, Subscription


class Branch(Generic[S]):
    """The subscriptions whose patterns end here, and the next words of longer patterns."""

    __slots__ = ("held", "literals", "many", "one")

    def __init__(self) -> None:
        self.literals: dict[str, Branch[S]] = {}
        self.one: Branch[S] | None = None
        self.many: Branch[S] | None = None
        self.held: set[Subscription[S]] = set()

    @property
    def ends(self) -> bool:
        """Whether no pattern goes on from here."""
        return not self.literals and self.one is None and self.many is None

    def child(self, word: str, kind: Kind) -> Branch[S] | None:
        """Return the branch for a word of a pattern."""
        if kind == Kind.LITERAL:
            return self.literals.get(word)
        return self.one if kind == Kind.ONE else self.many

    def put(self, word: str, kind: Kind, child: Branch[S] | None) -> None:
        """Make `child` the branch for a word of a pattern; None takes the branch away."""
        if kind == Kind.ONE:
            self.one = child
        elif kind == Kind.MANY:
            self.many = child
        elif child is not None:
            self.literals[word] = child
        else:
            del self.literals[word]

    def grow(self, pattern: Pattern) -> tuple[Branch[S], int]:
        """Return where a pattern ends, and how many branches were made on the way."""
        node, made = self, 0
        for word, kind in zip(pattern.words, pattern.kinds, strict=True):
            child = node.child(word, kind)
            if child is None:
                child, made = Branch[S](), made + 1
                node.put(word, kind, child)
            node = child
        return node, made

    def whole(self) -> list[Subscription[S]]:
        """Return the subscriptions here and below."""
        found: list[Subscription[S]] = []
        todo = [self]
        while todo:
            node = todo.pop()
            found += node.held
            todo += [each for each in (*node.literals.values(), node.one, node.many) if each is not None]
        return found

    def may_overlap(self, pattern: Pattern) -> list[Subscription[S]]:
        """Return the subscriptions whose patterns overlap with a pattern, and some that do not, by their numbers.

        Behind a wildcard for many words everything is taken.
        """
        pattern = parsed(pattern)
        found: list[Subscription[S]] = []
        todo, at = [self], 0
        while todo and at < len(pattern.words) and pattern.kinds[at] != Kind.MANY:
            reached = []
            for node in todo:
                if node.many is not None:
                    found += node.many.whole()
                if node.one is not None:
                    reached.append(node.one)
                if pattern.kinds[at] == Kind.ONE:
                    reached += node.literals.values()
                elif pattern.words[at] in node.literals:
                    reached.append(node.literals[pattern.words[at]])
            todo, at = reached, at + 1
        for node in todo:
            if at < len(pattern.words):
                found += node.whole()
            else:
                found += node.held
                if node.many is not None:
                    found += node.many.whole()
        return sorted(found, key=lambda each: each.number)
