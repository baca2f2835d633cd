"""Maps whose snapshots are held, for `held.py`: how each takes one, and how its contents are looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from peers import Unavailable
from peers.base import Ints
from peers.loops import mapping_loops

_PAGE_WORDS = 512
#: More than a run with a hundred snapshots of a hundred thousand keys takes.
_TOUCHED_WORDS = (256 << 20) // 8


@dataclass(frozen=True, slots=True)
class Held:
    """A fresh, empty map.

    Attributes
    ----------
    put, get : callable
        Loops over keys (and values), converted by `convert` beforehand.
    take : callable
        Takes a snapshot, which lasts as long as it is referred to.
    map : callable
        Returns what `look` takes for the map as it is now.
    convert : callable
        Keys or values as the loops take them.
    look : callable
        The values of keys in a snapshot or in the map.
    """

    put: Callable[[Any, Any], object]
    get: Callable[[Any], object]
    take: Callable[[], Any]
    map: Callable[[], Any]
    convert: Callable[[Ints], Any] = lambda ints: ints.tolist()
    look: Callable[[Any, list[int]], Sequence[Any]] = lambda source, keys: [source[key] for key in keys]


def _trie() -> Any:
    from latchfree import Arena, Ctrie

    arena = Arena.anonymous(8 << 30)
    arena.words[arena.used // 8 + _PAGE_WORDS : _TOUCHED_WORDS : _PAGE_WORDS] = 0  # the first touch is paid once
    return Ctrie(keys=int, values=int, arena=arena)


def _latchfree() -> Held:
    trie = _trie()
    put, get, _ = mapping_loops(trie)
    return Held(put, get, trie.readonly_snapshot, lambda: trie)


def _latchfree_bulk() -> Held:
    trie = _trie()
    return Held(trie.put_many, trie.get_many, trie.readonly_snapshot, lambda: trie, np.ascontiguousarray)


def _immutables() -> Held:
    try:
        from immutables import Map
    except ImportError as error:
        raise Unavailable(f"{error}; pip install 'latchfree[bench]'") from None
    from threading import Lock

    entries: Mapping[int, int] = Map()
    lock = Lock()

    def put(keys: list[int], values: list[int]) -> None:
        nonlocal entries
        for key, value in zip(keys, values, strict=True):
            with lock:
                entries = entries.set(key, value)  # type: ignore[attr-defined]

    def get(keys: list[int]) -> None:
        for key in keys:
            entries[key]

    return Held(put, get, lambda: entries, lambda: entries)


def _dict() -> Held:
    entries: dict[int, int] = {}
    put, get, _ = mapping_loops(entries)
    return Held(put, get, entries.copy, lambda: entries)


#: Name on the command line -> a fresh map.
HOLDING: dict[str, Callable[[], Held]] = {
    "latchfree": _latchfree,
    "latchfree-bulk": _latchfree_bulk,
    "immutables": _immutables,
    "dict-copied": _dict,
}
