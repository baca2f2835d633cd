"""Calls for many keys of a map of objects: one by one, with the interpreter lock, for comparing may run Python."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from latchfree.ctrie import columns
from latchfree.errors import ArenaFull

_MISSING: Any = object()


def get_many(trie: MutableMapping[Any, Any], keys: Any) -> Any:
    """Look up many keys; see `Ctrie.get_many`."""
    items, source = columns.to_objects(keys, "keys")
    return columns.from_objects([trie.get(key) for key in items], source)


def put_many(trie: MutableMapping[Any, Any], keys: Any, values: Any) -> None:
    """Write many keys; see `Ctrie.put_many`."""
    key_items, _ = columns.to_objects(keys, "keys")
    value_items, _ = columns.to_objects(values, "values")
    if len(key_items) != len(value_items):
        raise ValueError(f"got {len(key_items)} keys but {len(value_items)} values")
    for done, (key, value) in enumerate(zip(key_items, value_items, strict=True)):
        try:
            trie[key] = value
        except ArenaFull as error:
            raise trie._store.out_of_room(done) from error  # type: ignore[attr-defined]


def remove_many(trie: MutableMapping[Any, Any], keys: Any) -> Any:
    """Remove many keys; see `Ctrie.remove_many`."""
    items, source = columns.to_objects(keys, "keys")
    return columns.from_flags([trie.pop(key, _MISSING) is not _MISSING for key in items], source)
