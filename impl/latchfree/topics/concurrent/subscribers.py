"""The word that stands for a subscriber in an S-node.

Example: subscriber 7 is the word 7; subscriber ``"ann"`` is the word 2**62 + 3 if she was the fourth to get a place.

A small integer stands for itself. In a private trie any other subscriber has a *place* in a table of the process, and
the word is the number of the place. In a shared trie any other subscriber is text, str or bytes, and stands in the
S-node, where every process can read it.

Places. A number is never used again, so a word stands for one subscriber or, later, for nobody. A place has a list with
one token for each subscription. A call that subscribes adds a token only if there is one (`_Place.take`: one call of
the interpreter, which nothing can interrupt), and a call that unsubscribes takes one out. So an empty list stays empty:
the place is dead, and the next subscription of that subscriber gets another. The token is there before the subscription
commits, and goes after the unsubscription has; so the word of every subscription in the trie has its place, and a match
that finds a word without one read the word before that subscriber's last unsubscription. Such a match begins again,
and asks for dead places to be kept (`Kept`) before it does: then no word that it reads can lose its place.

A snapshot asks so, too, as long as it lives: the newest snapshot keeps the places that die, and leaves them to the next
older one, unless no snapshot but younger ones was there when the place was made.

No lock is held anywhere, so a subscriber's ``__eq__`` may subscribe, a signal may come and a process may fork at any
point. Two threads that subscribe equal subscribers at one instant may make two places; results are sets of subscribers
and not of words, so nobody can tell.
"""

from __future__ import annotations

from collections.abc import Hashable
from contextlib import suppress
from itertools import count, islice
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from latchfree.arguments import hashable
from latchfree.topics.dialects import exact_bytes

#: Integers from minus this up to, but not including, this stand for themselves.
LIMIT: Final = 1 << 62


class Subscribers(Protocol):
    """How subscribers are stored."""

    #: Whether it is known that some subscribers are text, which only the S-nodes hold.
    in_nodes: bool

    def stored(self, subscriber: Hashable) -> tuple[int, str | bytes | None]:
        """Return the word for a subscriber, and the text that its S-node holds besides."""

    def release(self, word: int) -> None:
        """Undo one `stored`: the subscription is gone, or never came."""

    def keep(self) -> Kept:
        """Keep what words stand for until the end of a ``with`` block, whoever unsubscribes."""

    def object(self, word: int, text: str | bytes | None) -> Any:
        """Return the subscriber that a word and a text stand for."""

    def objects(self, words: list[int]) -> list[Any] | None:
        """Return the subscribers of many words; None if some are text, or have gone."""

    def all_inline(self, words: NDArray[Any]) -> bool:
        """Return whether all these words are integers that stand for themselves."""

    def may_be(self, word: int, subscriber: Hashable) -> bool:
        """Return whether a word, which is kept, may stand for a subscriber."""

    def in_nodes_only(self, subscriber: Hashable) -> bool:
        """Return whether only the text in an S-node tells this subscriber from others."""


def _is_inline(subscriber: Hashable) -> bool:
    return type(subscriber) is int and -LIMIT <= subscriber < LIMIT


class _Place:
    """A subscriber and its number; `after` is the key of the last `Kept` that cannot need the place."""

    __slots__ = ("after", "key", "tokens", "word")

    def __init__(self, word: int, key: tuple[type, Hashable], after: int) -> None:
        self.word = word
        self.key = key
        self.after = after
        self.tokens: list[None] = [None]

    def take(self) -> bool:
        """Add a token, unless the place is dead; return whether it is alive."""
        self.tokens.extend(islice(self.tokens, 1))
        return bool(self.tokens)


class Kept:
    """Keeps places that die, until its end.

    Parameters
    ----------
    table : OwnSubscribers, optional
        None where words do not lose their meaning.
    """

    __slots__ = ("_key", "_reading", "_table")

    def __init__(self, table: OwnSubscribers | None) -> None:
        self._table = table
        self._key = 0
        self._reading = False
        if table is not None:
            table.reading.append(None)  # before the key: see `OwnSubscribers._youngest`
            self._reading = True
            self._key = next(table.keys)
            table.kept[self._key] = []

    def read(self) -> None:
        """Say that the trie has been read: places made from now on are not needed."""
        if self._reading and self._table is not None:
            self._reading = False
            self._table.reading.pop()

    def end(self) -> None:
        """Forget what was kept; ending twice is no error."""
        if not hasattr(self, "_reading"):  # a signal handler raised while this was made
            return
        self.read()
        key, self._key = self._key, 0
        if key and self._table is not None:
            self._table.forget(key)

    __del__ = end

    def __enter__(self) -> Kept:
        return self

    def __exit__(self, *exception: object) -> None:
        self.end()


class OwnSubscribers:
    """A table of the subscribers that are no small integers; who has no subscription leaves the table.

    Attributes
    ----------
    kept : dict of list
        What each `Kept` keeps, by key, in the order in which they began.
    keys : iterator of int
    reading : list
        An element for each `Kept` that is still reading the trie.
    """

    in_nodes = False

    def __init__(self) -> None:
        self._words = count(LIMIT)
        self._of: dict[int, _Place] = {}
        self._places: dict[tuple[type, Hashable], _Place] = {}
        self.kept: dict[int, list[_Place]] = {}
        self.keys = count(1)
        self.reading: list[None] = []

    def stored(self, subscriber: Hashable) -> tuple[int, str | bytes | None]:
        """Return the word for a subscriber, which has one token more; give the token back with `release`.

        Raises
        ------
        TypeError
            If it is not hashable.
        """
        if _is_inline(subscriber):
            assert isinstance(subscriber, int)
            return subscriber, None
        key = type(subscriber), hashable(subscriber, "subscriber")
        known = self._places.get(key)
        if known is not None and known.take():
            return known.word, None
        place = _Place(next(self._words), key, self._youngest())
        self._of[place.word] = place  # before anybody can find the place
        known = self._places.setdefault(key, place)
        if known is not place:
            if known.take():
                del self._of[place.word]
                return known.word, None
            self._places[key] = place
        return place.word, None

    def release(self, word: int) -> None:
        """Take a token out of a place, which may die of it."""
        place = self._of.get(word)
        if place is None:
            return
        place.tokens.pop()
        if place.tokens:
            return
        with suppress(Exception):  # of the subscriber's __eq__: the unsubscription has taken effect
            if self._places.get(place.key) is place:
                del self._places[place.key]
        self._leave(place, list(self.kept))

    def keep(self) -> Kept:
        """Keep the places that die until the end of a ``with`` block."""
        return Kept(self)

    def forget(self, key: int) -> None:
        """End a `Kept`: leave what it keeps to those that began before it."""
        before = list(self.kept)
        held = self.kept.pop(key, None)
        with suppress(IndexError):
            while held:
                self._leave(held.pop(), before[: before.index(key)])

    def _youngest(self) -> int:
        """Return a key such that no `Kept` up to that key can read what subscribes after this call; 0 for none."""
        kept = list(self.kept)
        return 0 if self.reading or not kept else kept[-1]

    def _leave(self, place: _Place, before: list[int]) -> None:
        """Give a dead place to the last of these that is there and may need it, or forget it."""
        for key in reversed(before):
            if key <= place.after:
                break
            held = self.kept.get(key)
            if held is not None:
                held.append(place)
                if key in self.kept:
                    return
                try:
                    held.remove(place)
                except ValueError:
                    return  # whoever ended it has passed the place on
        self._of.pop(place.word, None)

    def object(self, word: int, text: str | bytes | None) -> Any:
        """Return the subscriber of a word."""
        return word if word < LIMIT else self._of[word].key[1]

    def objects(self, words: list[int]) -> list[Any] | None:
        """Return the subscribers of many words; None if one has gone."""
        of = self._of
        if not of:
            return words if max(words, default=0) < LIMIT else None
        try:
            return [word if word < LIMIT else of[word].key[1] for word in words]
        except KeyError:
            return None

    def all_inline(self, words: NDArray[Any]) -> bool:
        """Return whether all these words are integers that stand for themselves."""
        return not bool(np.any(words >= LIMIT))

    def may_be(self, word: int, subscriber: Hashable) -> bool:
        """Return whether a word stands for a subscriber."""
        return bool(self.object(word, None) == subscriber)

    def in_nodes_only(self, subscriber: Hashable) -> bool:
        """Return that it is not so."""
        return False


class SharedSubscribers:
    """Subscribers that any process can read."""

    def __init__(self) -> None:
        self.in_nodes = False

    def stored(self, subscriber: Hashable) -> tuple[int, str | bytes | None]:
        """Return the word for a subscriber, and the text in its S-node.

        Raises
        ------
        TypeError
            If it is no integer, str or bytes.
        ValueError
            If it is an integer out of range.
        """
        if _is_inline(subscriber):
            assert isinstance(subscriber, int)
            return subscriber, None
        if isinstance(subscriber, str):
            return LIMIT, str.__str__(subscriber)
        if isinstance(subscriber, bytes):
            return LIMIT + 1, exact_bytes(subscriber)
        if type(subscriber) is int:
            raise ValueError(
                f"integers that subscribe to a shared trie are from -2**62 to 2**62 - 1, got {subscriber}; use str"
            )
        raise TypeError(
            f"subscribers of a shared trie are int, str or bytes, which every process can read, not "
            f"{type(subscriber).__name__}; keep a table from such names to your objects"
        )

    def release(self, word: int) -> None:
        """Do nothing: the S-node has gone with all that stood in it."""

    def keep(self) -> Kept:
        """Keep nothing: S-nodes are read while they are pinned."""
        return Kept(None)

    def object(self, word: int, text: str | bytes | None) -> Any:
        """Return the subscriber that a word and a text stand for."""
        return word if text is None else text

    def objects(self, words: list[int]) -> list[Any] | None:
        """Return the subscribers of many words if all are integers, else None."""
        if max(words, default=0) < LIMIT:
            return words
        self.in_nodes = True
        return None

    def all_inline(self, words: NDArray[Any]) -> bool:
        """Return whether all these words are integers that stand for themselves."""
        return not bool(np.any(words >= LIMIT))

    def may_be(self, word: int, subscriber: Hashable) -> bool:
        """Return whether a word stands for a subscriber, or for any text of its kind."""
        if word < LIMIT:
            return bool(word == subscriber)
        return isinstance(subscriber, str if word == LIMIT else bytes)

    def in_nodes_only(self, subscriber: Hashable) -> bool:
        """Return whether it is text."""
        return isinstance(subscriber, str | bytes)
