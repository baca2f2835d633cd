"""Keys and values by reference, for private maps: what a map of objects does with one key, in Python.

Example: after ``trie[1] = "one"``, ``trie[1.0]`` is ``"one"``, for ``hash(1) == hash(1.0)`` and ``1 == 1.0``: keys are
the same as in a dict. A value comes out as the object that was put in.

Compiled code does most calls (`latchfree.ctrie.kernels.by_reference`). The functions here serve where a class of the
user's makes two keys of one hash, where values are compared, where the arena is full, and where compiled code cannot
read objects.

What is *held* under a hash is a tuple: key, value, and so on for each key of that hash. Nobody changes a tuple: a write
puts another one in its place, if it is there still, and starts again if not. So what users define runs between two
steps, with references in hand, and may do anything to the map. See `latchfree.ctrie.kernels.references`.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol

from latchfree.arena import Arena
from latchfree.arena.border import ARENA
from latchfree.ctrie.border import reclaim
from latchfree.ctrie.codecs import Codec, codec_for
from latchfree.ctrie.kernels import insert

_IF_ABSENT: Final = int(insert.IF_ABSENT)
_IF_PRESENT: Final = int(insert.IF_PRESENT)
_IF_EQUAL: Final = int(insert.IF_EQUAL)

#: Collections after which nothing waits that nobody reads.
_ROUNDS: Final = 3


class Holding(Protocol):
    """The part of a `Store` that the functions here need."""

    @property
    def arena(self) -> Arena:
        """Return the arena that holds the trie."""

    @property
    def find(self) -> Callable[[Any], Any]:
        """Return the builtin that finds what is held under a hash."""

    @property
    def swap(self) -> Callable[[int, Any, Any], Any]:
        """Return the builtin that has one tuple in place of another."""

    def participant(self) -> int:
        """Return the participant of a call for a single key."""

    def insist(self, attempt: Callable[[], Any], full: Callable[[Any], bool]) -> Any:
        """Make attempts until one finds room."""

    def hold(self) -> Any:
        """Take a snapshot."""

    def batches(self, hold: Any, size: int) -> Iterator[tuple[list[Any], list[Any]]]:
        """Yield keys and values of a snapshot."""


class References(Codec[Any]):
    """Objects as they are. What is stored under a key is a pair of the key and its value."""

    name = "object"

    def encode(self, value: Any) -> Any:
        """Return the object."""
        return value

    def decode(self, stored: Any) -> Any:
        """Return the value of a pair."""
        return stored[1]


REFERENCES: Final = References()


def chosen(keys: Any, values: Any, *, shared: bool) -> tuple[Codec[Any], Codec[Any]]:
    """Return the codecs of keys and values that a user chose, or left open, for a new map.

    Parameters
    ----------
    keys, values : type or str or Codec or None
        What the user named; None for what was left open.
    shared : bool
        Whether other processes can open the arena.

    Returns
    -------
    tuple of Codec
        Twice `REFERENCES` for objects.

    Raises
    ------
    ValueError
        If there is no such codec, or objects cannot be held there.
    """
    if keys is None and values is None and not shared:
        return REFERENCES, REFERENCES
    if keys is object or values is object:
        if shared:
            raise ValueError(
                "objects of this process cannot be in an arena that other processes open; choose 'pickle' for keys and "
                "values, or leave arena= out"
            )
        if not all(choice is object or choice is None for choice in (keys, values)):
            raise ValueError(
                f"keys={keys!r} and values={values!r}: either both are objects or none; choose object for both, or "
                "'pickle' in place of object"
            )
        return REFERENCES, REFERENCES
    return codec_for("pickle" if keys is None else keys, keys=True), codec_for("pickle" if values is None else values)


# one key ----------------------------------------------------------------------------------------------------------


def _place(held: tuple[Any, ...], key: Any) -> int:
    """Return where a key is in what is held under its hash, -1 if it is not there."""
    for at in range(0, len(held), 2):
        if held[at] is key or held[at] == key:
            return at
    return -1


def _look_up(store: Holding, h: int) -> Any:
    """Return what is held under a hash, None if nothing is."""
    held = store.find(h)
    if held is NotImplemented:
        store.participant()
        held = store.find(h)
    return held


def _swap(store: Holding, h: int, old: Any, new: Any) -> bool:
    """Have `new` in place of `old` under a hash; return whether `old` was there."""
    done = store.swap(h, old, new)
    if done is NotImplemented:
        done = store.insist(lambda: store.swap(h, old, new), lambda result: result is NotImplemented)
    return bool(done)


def pair_of(find: Callable[[int], Any], key: Any) -> Any:
    """Return key and value as `find` finds them under the hash of a key, None if the key is not there."""
    held = find(hash(key))
    at = -1 if held is None else _place(held, key)
    return None if at < 0 else held[at : at + 2]


def find(store: Holding, key: Any) -> Any:
    """Return key and value of a map, None if the key is not there."""
    return pair_of(lambda h: _look_up(store, h), key)


def write(store: Holding, key: Any, value: Any, mode: int, expected: Any = None) -> Any:
    """Write a value where `mode` allows; under IF_EQUAL where the value that is there is `expected`, or equal to it.

    Returns
    -------
    tuple or None
        Key and value that were there; None if there was no such key, or under IF_EQUAL another value.
    """
    h = hash(key)
    while True:
        held = _look_up(store, h)
        at = -1 if held is None else _place(held, key)
        if at < 0:
            if mode in (_IF_PRESENT, _IF_EQUAL):
                return None
            new = (*(held or ()), key, value)
            there = None
        else:
            there = held[at : at + 2]
            if mode == _IF_ABSENT:
                return there
            if mode == _IF_EQUAL and not (there[1] is expected or there[1] == expected):
                return None
            new = (*held[: at + 1], value, *held[at + 2 :])
        if _swap(store, h, held, new):
            return there


def remove(store: Holding, key: Any, *expected: Any) -> Any:
    """Remove a key; with a value given, only where the value that is there is the same, or equal to it.

    Returns
    -------
    tuple or None
        Key and value that were there, None if nothing was removed.
    """
    h = hash(key)
    while True:
        held = _look_up(store, h)
        at = -1 if held is None else _place(held, key)
        if at < 0:
            return None
        there = held[at : at + 2]
        for value in expected:
            if not (there[1] is value or there[1] == value):
                return None
        if _swap(store, h, held, held[:at] + held[at + 2 :] or None):
            return there


def remove_some(store: Holding, few: int) -> Any:
    """Remove and return some pair; KeyError when the map is empty. It looks at about `few` keys together."""
    while True:
        empty = True
        for keys, _ in store.batches(store.hold(), few):
            for key in keys:
                empty = False
                pair = remove(store, key)
                if pair is not None:
                    return pair
        if empty:
            raise KeyError("popitem(): the Ctrie is empty")


# dropping -------------------------------------------------------------------------------------------------------

_watched: weakref.WeakSet[Arena] = weakref.WeakSet()


def settle(arena: Arena) -> None:
    """Drop everything that was removed from maps in an arena and that nobody reads, in whatever thread."""
    for _ in range(_ROUNDS):
        arena.collect()


def _settle_at_end(region: Any, base: int, slot: int) -> None:
    """Drop what waits still, when the last structure of a private arena is gone; `region` is its memory."""
    for _ in range(_ROUNDS):
        ARENA.collect(base, slot)
        reclaim(base, lambda: slot)


def watch(arena: Arena) -> None:
    """Have everything dropped that waits when the arena ends."""
    if arena not in _watched:
        slot = arena.interpreter_participant()
        weakref.finalize(arena, _settle_at_end, arena.region, arena.base, slot).atexit = False
        _watched.add(arena)
