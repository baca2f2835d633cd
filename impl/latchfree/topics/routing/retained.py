"""`RetainedTopics`: the last message of each topic, found by pattern.

Example: who subscribes to ``plant/+/state`` wants the last state of each machine at once.

Topics stand in a trie of words. A pattern is followed from word to word: a literal to one child, a wildcard to all
children. A node is visited once for each word of the pattern, so the time is at most nodes * words, also with several
``#``; a pattern that starts with literals visits only what is below them.

Source: retained messages of MQTT 5.0, 3.3.1.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeVar

from latchfree.arena.forking import new_lock
from latchfree.arguments import whole
from latchfree.topics.dialects import Dialect, exact_bytes, get_dialect
from latchfree.topics.errors import LimitReached
from latchfree.topics.pattern import Kind, Pattern

V = TypeVar("V")


class _Node:
    """The topic that ends here, with its message, and the next words of longer topics."""

    __slots__ = ("below", "held")

    def __init__(self) -> None:
        self.below: dict[str, _Node] = {}
        self.held: tuple[str, Any] | None = None


class RetainedTopics(Generic[V]):
    """A message for each topic; any number of threads may use it.

    Parameters
    ----------
    dialect : str or Dialect
    most : int
        Topics at most.
    """

    def __init__(self, dialect: str | Dialect = "mqtt", *, most: int = 1_000_000) -> None:
        self._dialect = get_dialect(dialect)
        self._most = whole(most, "most", 1)
        self._lock = new_lock()
        self._root = _Node()
        self._count = 0

    @property
    def dialect(self) -> Dialect:
        """The dialect of patterns and topics."""
        return self._dialect

    def put(self, topic: str | bytes, message: V) -> None:
        """Keep a message in place of the one that the topic had.

        Raises
        ------
        InvalidTopic
            If the topic breaks a rule of the dialect; nothing changes.
        LimitReached
            If there are `most` topics, and this is another; nothing changes.
        """
        words = self._dialect.topic(topic)
        text = exact_bytes(topic).decode()
        with self._lock:
            path = self._path(words)
            new = len(path) <= len(words) or path[-1].held is None
            if new and self._count >= self._most:
                raise LimitReached("topics retained", self._most, "remove some, or make the store with a larger most")
            node = path[-1]
            for word in words[len(path) - 1 :]:
                node.below[word] = node = _Node()
            node.held = text, message
            self._count += new

    def get(self, topic: str | bytes, default: V | None = None) -> V | None:
        """Return the message of a topic."""
        words = self._dialect.topic(topic)
        with self._lock:
            path = self._path(words)
            held = path[-1].held if len(path) > len(words) else None
        return default if held is None else held[1]

    def remove(self, topic: str | bytes) -> bool:
        """Forget the message of a topic; return whether there was one."""
        words = self._dialect.topic(topic)
        with self._lock:
            path = self._path(words)
            if len(path) <= len(words) or path[-1].held is None:
                return False
            path[-1].held = None
            self._count -= 1
            for parent, word in zip(path[-2::-1], words[::-1], strict=True):
                if path[-1].held is not None or path.pop().below:
                    break
                del parent.below[word]
        return True

    def match(self, pattern: str | bytes) -> dict[str, V]:
        """Return the topics that a pattern matches, with their messages, in any order.

        Raises
        ------
        InvalidPattern
            If the pattern breaks a rule of the dialect.
        """
        parsed = self._dialect.pattern(pattern)
        with self._lock:
            return dict(self._find(parsed))

    def clear(self) -> None:
        """Forget all messages."""
        with self._lock:
            self._root, self._count = _Node(), 0

    def __contains__(self, topic: str | bytes) -> bool:
        words = self._dialect.topic(topic)
        with self._lock:
            path = self._path(words)
            return len(path) > len(words) and path[-1].held is not None

    def __len__(self) -> int:
        return self._count

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._dialect.name} with {len(self):,} topics>"

    def _path(self, words: tuple[str, ...]) -> list[_Node]:
        """Return the nodes of a topic's words, as far as there are any, from the root on."""
        path = [self._root]
        for word in words:
            node = path[-1].below.get(word)
            if node is None:
                break
            path.append(node)
        return path

    def _find(self, pattern: Pattern) -> Iterator[tuple[str, Any]]:
        words, kinds, least = pattern.words, pattern.kinds, self._dialect.least
        hides = self._dialect.hides_dollar and pattern.wild_first
        todo = [(self._root, 0)]
        seen = {(id(self._root), 0)}
        while todo:
            node, at = todo.pop()
            if at == len(words):
                if node.held is not None:
                    yield node.held
                continue
            if kinds[at] == Kind.LITERAL:
                child = node.below.get(words[at])
                following = [] if child is None else [(child, at + 1)]
            else:
                below = [
                    each for word, each in node.below.items() if not (hides and node is self._root and word[:1] == "$")
                ]
                following = [(each, at + 1) for each in below] if kinds[at] == Kind.ONE or least else [(node, at + 1)]
                if kinds[at] == Kind.MANY:
                    following += [(each, at) for each in below]
            for each in following:
                key = id(each[0]), each[1]
                if key not in seen:
                    seen.add(key)
                    todo.append(each)
