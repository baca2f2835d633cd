"""``dict``: in bulk, ``update`` and a ``map`` over the bound method; a snapshot is a copy."""

from __future__ import annotations

import platform
from collections import deque

from peers.base import Plan, Subject
from peers.loops import Loops, count, mapping_look, mapping_loops, mapping_mix

TITLE = "dict"


def version() -> str:
    return f"CPython {platform.python_version()}"


def subject(plan: Plan) -> Subject:
    entries: dict[int, int] = {}
    put, get, remove = _batches(entries) if plan.call == "bulk" else mapping_loops(entries)

    def copies(times: int) -> None:
        for _ in range(times):
            entries.copy()

    mix, look = mapping_mix(entries), mapping_look(entries)
    return Subject(put, get, remove, lambda: count(entries.items()), copies, copies=True, mix=mix, look=look)


def _batches(entries: dict[int, int]) -> Loops:
    def put(keys: list[int], values: list[int]) -> None:
        entries.update(zip(keys, values, strict=True))

    def get(keys: list[int]) -> None:
        list(map(entries.__getitem__, keys))

    def remove(keys: list[int]) -> None:
        deque(map(entries.__delitem__, keys), maxlen=0)

    return put, get, remove
