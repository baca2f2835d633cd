"""A trie of words under one lock.

Matching follows all paths at once: after n words of the topic it holds the set of nodes that some path reaches. A node
for many words stays in the set while words pass. As each node is there once for each n, the time is at most
nodes * words, whatever wildcards the patterns have: the memo on (node, position) that several ``#`` need.

Source: the trie of Treat, "Fast Topic Matching", as in RabbitMQ and SubList.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from latchfree.topics.base import PlainMatcher
from latchfree.topics.dialects import Dialect
from latchfree.topics.matcher import Subscription
from latchfree.topics.pattern import Kind, Pattern


class Node:
    """Where the patterns end that have the words on the way here, and the next words of longer ones."""

    __slots__ = ("held", "literals", "loops", "wild")

    def __init__(self, loops: bool = False) -> None:
        self.loops = loops  # reached by a wildcard for many words: stays while words pass
        self.literals: dict[str, Node] = {}
        self.wild: dict[Kind, Node] = {}
        self.held: set[Subscription] = set()

    @property
    def ends(self) -> bool:
        """Whether no pattern goes on from here."""
        return not self.literals and not self.wild

    def child(self, word: str, kind: Kind) -> Node | None:
        """Return the node for a word of a pattern."""
        return self.literals.get(word) if kind == Kind.LITERAL else self.wild.get(kind)

    def grow(self, word: str, kind: Kind) -> Node:
        """Return the node for a word of a pattern, made if need be."""
        if kind == Kind.LITERAL:
            return self.literals.setdefault(word, Node())
        return self.wild.setdefault(kind, Node(loops=kind == Kind.MANY))

    def cut(self, word: str, kind: Kind) -> None:
        """Take the node for a word of a pattern away."""
        if kind == Kind.LITERAL:
            del self.literals[word]
        else:
            del self.wild[kind]


class LockedTrie(PlainMatcher):
    """A trie of words under one lock; an empty branch goes with its last subscription.

    Parameters
    ----------
    dialect : str or Dialect
        ``"amqp"``, ``"nats"`` or ``"mqtt"``.
    """

    def __init__(self, dialect: str | Dialect = "amqp") -> None:
        super().__init__(dialect)
        self._root = Node()
        self._nodes = 1

    def _add(self, subscription: Subscription, pattern: Pattern) -> None:
        node = self._root
        for word, kind in zip(pattern.words, pattern.kinds, strict=True):
            if node.child(word, kind) is None:
                self._nodes += 1
            node = node.grow(word, kind)
        node.held.add(subscription)

    def _drop(self, subscription: Subscription, pattern: Pattern) -> None:
        path = [self._root]
        for word, kind in zip(pattern.words, pattern.kinds, strict=True):
            child = path[-1].child(word, kind)
            assert child is not None
            path.append(child)
        path[-1].held.remove(subscription)
        for parent, word, kind in zip(path[-2::-1], pattern.words[::-1], pattern.kinds[::-1], strict=True):
            if path[-1].held or not path.pop().ends:
                return
            parent.cut(word, kind)
            self._nodes -= 1

    def _find(self, words: tuple[str, ...], text: str | bytes) -> Iterator[Subscription]:
        ended: set[Node] = set()  # ends of patterns in a wildcard for many words that were found already
        active = {self._root}
        for n, word in enumerate(words):
            hidden = n == 0 and self._dialect.hidden(words)
            if self._dialect.least == 0 and not hidden:
                yield from self._skip(active, ended)
            reached: set[Node] = set()
            for node in active:
                if node.loops:
                    reached.add(node)
                if (literal := node.literals.get(word)) is not None:
                    reached.add(literal)
                if not hidden:
                    for kind, wild in node.wild.items():
                        if kind == Kind.ONE or self._dialect.least:
                            reached.add(wild)
            active = reached
            if not active:
                return
        if self._dialect.least == 0:
            yield from self._skip(active, ended)
        for node in active:
            yield from node.held

    def _skip(self, active: set[Node], ended: set[Node]) -> Iterator[Subscription]:
        """Add to `active` what wildcards for many words reach without a word, or yield what ends there."""
        todo = list(active)
        while todo:
            wild = todo.pop().wild.get(Kind.MANY)
            if wild is None or wild in active or wild in ended:
                continue
            if wild.ends:
                ended.add(wild)
                yield from wild.held
            else:
                active.add(wild)
                todo.append(wild)

    def _details(self) -> Mapping[str, float]:
        return {"nodes": self._nodes}
