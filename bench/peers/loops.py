"""Loops shared by maps that work like a dict: one key a call, from Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, MutableMapping

Loops = tuple[Callable[[list[int], list[int]], None], Callable[[list[int]], None], Callable[[list[int]], None]]


def mapping_loops(mapping: MutableMapping[int, int]) -> Loops:
    """Loops of ``m[k] = v``, ``m[k]`` and ``del m[k]``."""

    def put(keys: list[int], values: list[int]) -> None:
        for key, value in zip(keys, values, strict=True):
            mapping[key] = value

    def get(keys: list[int]) -> None:
        for key in keys:
            mapping[key]

    def remove(keys: list[int]) -> None:
        for key in keys:
            del mapping[key]

    return put, get, remove


def mapping_mix(mapping: MutableMapping[int, int]) -> Callable[[list[int], list[int | None]], None]:
    """A loop of ``m[k]`` where the value is None, and ``m[k] = v`` elsewhere."""

    def mix(keys: list[int], values: list[int | None]) -> None:
        for key, value in zip(keys, values, strict=True):
            if value is None:
                mapping[key]
            else:
                mapping[key] = value

    return mix


def mapping_look(mapping: Mapping[int, int]) -> Callable[[list[int]], list[int | None]]:
    """The values of keys, None where a key is absent."""
    return lambda keys: [mapping.get(key) for key in keys]


def count(entries: Iterable[object]) -> int:
    """Number of entries, by going through them."""
    total = 0
    for _ in entries:
        total += 1
    return total
