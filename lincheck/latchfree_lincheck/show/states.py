"""States as short lists of texts, and a run of states as the few texts that each operation changes.

A state is shown as a bracket and its items: ``{`` for sets and maps, sorted; ``[`` for sequences; nothing for a
single value. The next state is a list of splices (at, how many items go, the items that come), so that a page can
hold ten thousand states of a large map in little space. Invariant: the splices, applied to the items before, give
the items after.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable
from typing import Final

Splice = tuple[int, int, tuple[str, ...]]
"""At which item, how many items are removed there, and the items that take their place."""

SET: Final = "{"
SEQUENCE: Final = "["
VALUE: Final = ""

MAPPINGS: Final = frozenset({"map", "append-kv"})
"""The models whose state is a set of (key, value) pairs."""

LONGEST: Final = 1_000
"""Characters after which a text is cut."""


def text_of(value: object) -> str:
    """Return a value as text: sets are sorted, so that equal values read alike, and long texts are cut."""
    text = _text(value)
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST]}… ({len(text):,} characters)"


def _text(value: object) -> str:
    if isinstance(value, frozenset | set):
        return "{" + ", ".join(_text(item) for item in sorted(value, key=_order)) + "}" if value else "{}"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(_text, value)) + ("," if len(value) == 1 else "") + ")"
    return repr(value)


def _order(item: object) -> tuple[int, float, str]:
    """Return what to sort by: numbers by value, pairs by their key, all else by text."""
    first = item[0] if isinstance(item, tuple) and item else item
    number = isinstance(first, int | float)
    return (0, first, repr(item)) if number else (1, 0.0, repr(item))  # type: ignore[return-value]


class Trail:
    """Follows a run of states.

    Parameters
    ----------
    state : hashable
        The first one.
    pairs : bool
        Whether sets hold (key, value) pairs.

    Attributes
    ----------
    items : list of str
        The bracket, then the items, of the last state followed.
    """

    def __init__(self, state: Hashable, *, pairs: bool) -> None:
        self._pairs = pairs
        self._state = state
        self._keys: list[tuple[int, float, str]] = []
        self.items = self._view(state)

    def follow(self, state: Hashable) -> list[Splice]:
        """Move to the next state and return what changes."""
        if state is self._state:
            return []
        before, self._state = self._state, state
        if isinstance(before, frozenset) and isinstance(state, frozenset):
            return self._follow_set(before, state)
        items = self._view(state)
        splice = _difference(self.items, items)
        self.items = items
        return splice

    def _view(self, state: Hashable) -> list[str]:
        if isinstance(state, frozenset):
            ordered = sorted(state, key=_order)
            self._keys = [_order(item) for item in ordered]
            return [SET, *map(self._item, ordered)]
        if isinstance(state, tuple):
            return [SEQUENCE, *map(text_of, state)]
        return [VALUE, text_of(state)]

    def _item(self, item: object) -> str:
        if self._pairs and isinstance(item, tuple) and len(item) == 2:
            return f"{text_of(item[0])}: {text_of(item[1])}"
        return text_of(item)

    def _follow_set(self, before: frozenset[Hashable], after: frozenset[Hashable]) -> list[Splice]:
        """Take out what left and put in what came; an item that takes the place of another is one splice."""
        splices: list[Splice] = []
        gone = sorted(before - after, key=_order)
        if len(gone) == len(before) > 0:
            splices.append((1, len(gone), ()))
            self._keys.clear()
            gone = []
        for item in gone:
            at = bisect_left(self._keys, _order(item))
            del self._keys[at]
            splices.append((at + 1, 1, ()))
        for item in sorted(after - before, key=_order):
            at = bisect_left(self._keys, _order(item))
            self._keys.insert(at, _order(item))
            splice = (at + 1, 0, (self._item(item),))
            if splices and splices[-1][:2] == (at + 1, 1) and not splices[-1][2]:
                splice = (at + 1, 1, splice[2])
                splices.pop()
            splices.append(splice)
        for at, removed, added in splices:
            self.items[at : at + removed] = added
        return splices


def _difference(before: list[str], after: list[str]) -> list[Splice]:
    """Return the one splice between what two lists share at their beginning and at their end."""
    shortest = min(len(before), len(after))
    start = 0
    while start < shortest and before[start] == after[start]:
        start += 1
    end = 0
    while end < shortest - start and before[-1 - end] == after[-1 - end]:
        end += 1
    if start == len(before) == len(after):
        return []
    return [(start, len(before) - end - start, tuple(after[start : len(after) - end]))]
