"""A trie of words under one lock.

Matching follows all paths at once: after n words of the topic, a set holds the nodes that some path reaches. A node
behind a wildcard for many words, once reached, stays reached after every later word; a second set, which only grows,
holds such nodes. Each node is in the sets once for each n, so the time is at most nodes * words even for patterns with
several ``#``.

Source: the trie of Treat, "Fast Topic Matching", as in RabbitMQ and SubList.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from latchfree.topics.branches import Branch
from latchfree.topics.dialects import Dialect
from latchfree.topics.engines.plain import PlainMatcher
from latchfree.topics.pattern import Kind, Pattern
from latchfree.topics.subscription import S, Subscription


class LockedTrie(PlainMatcher[S]):
    """A trie of words under one lock; an empty branch goes with its last subscription.

    Parameters
    ----------
    dialect : str or Dialect
        ``"amqp"``, ``"nats"`` or ``"mqtt"``.
    """

    def __init__(self, dialect: str | Dialect = "amqp") -> None:
        super().__init__(dialect)
        self._root: Branch[S] = Branch()
        self._nodes = 1

    def _add(self, subscription: Subscription[S], pattern: Pattern) -> None:
        node, made = self._root.grow(pattern)
        self._nodes += made
        node.held.add(subscription)

    def _drop(self, subscription: Subscription[S], pattern: Pattern) -> None:
        path = [self._root]
        for word, kind in zip(pattern.words, pattern.kinds, strict=True):
            child = path[-1].child(word, kind)
            assert child is not None
            path.append(child)
        path[-1].held.remove(subscription)
        for parent, word, kind in zip(path[-2::-1], pattern.words[::-1], pattern.kinds[::-1], strict=True):
            if path[-1].held or not path.pop().ends:
                return
            parent.put(word, kind, None)
            self._nodes -= 1

    def _find(self, words: tuple[str, ...]) -> Iterator[Subscription[S]]:
        ended: set[Branch[S]] = set()  # nodes behind a wildcard for many words whose subscriptions were yielded
        staying: set[Branch[S]] = set()
        reached = {self._root}
        least = self._dialect.least
        for n, word in enumerate(words):
            hidden = n == 0 and self._dialect.hidden(words)
            if least == 0 and not hidden:
                yield from self._skip(reached, staying, ended)
            active, reached = reached, set()
            behind = []
            for node in chain(staying, active):
                literal = node.literals.get(word)
                if literal is not None:
                    reached.add(literal)
                if not hidden:
                    if node.one is not None:
                        reached.add(node.one)
                    if least and node.many is not None:
                        behind.append(node.many)
            staying.update(behind)
            if not reached and not staying:
                return
        if least == 0:
            yield from self._skip(reached, staying, ended)
        for node in chain(staying, reached):
            yield from node.held

    def _skip(
        self, reached: set[Branch[S]], staying: set[Branch[S]], ended: set[Branch[S]]
    ) -> Iterator[Subscription[S]]:
        """Follow wildcards for many words that stand for no word; keep nodes, or yield their subscriptions."""
        todo = list(reached)
        while todo:
            wild = todo.pop().many
            if wild is None or wild in staying or wild in ended:
                continue
            if wild.ends:
                ended.add(wild)
                yield from wild.held
            else:
                staying.add(wild)
                todo.append(wild)

    def subscriptions(self, prefix: str | None = None) -> Iterator[Subscription[S]]:
        """Return the subscriptions, or those whose patterns have the words of `prefix` first: one branch."""
        words = self._dialect.prefix(prefix)
        if not words:
            return super().subscriptions()
        special = {self._dialect.one: Kind.ONE, self._dialect.many: Kind.MANY}
        with self._lock:
            node: Branch[S] | None = self._root
            for word in words:
                node = None if node is None else node.child(word, special.get(word, Kind.LITERAL))
            found = [] if node is None else node.whole()
        return iter(sorted(found, key=lambda each: each.number))

    def may_overlap(self, pattern: Pattern) -> list[Subscription[S]]:
        """Return the subscriptions whose patterns overlap with a pattern, and some that do not, by their numbers."""
        with self._lock:
            return self._root.may_overlap(pattern)

    def _details(self) -> Mapping[str, float]:
        return {"nodes": self._nodes}
