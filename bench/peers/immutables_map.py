"""``immutables.Map`` shared through one variable: writes swap it under a lock, reads need none.

A snapshot is the variable's value, so it costs nothing; every write copies a path.
"""

from __future__ import annotations

import importlib.metadata
import threading

from immutables import Map

from peers.base import Plan, Subject
from peers.loops import count

TITLE = "immutables"


def version() -> str:
    return importlib.metadata.version("immutables")


def subject(plan: Plan) -> Subject | None:
    if plan.call == "bulk":
        return None
    entries: Map[int, int] = Map()
    lock = threading.Lock()

    def put(keys: list[int], values: list[int]) -> None:
        nonlocal entries
        for key, value in zip(keys, values, strict=True):
            with lock:
                entries = entries.set(key, value)

    def get(keys: list[int]) -> None:
        for key in keys:
            entries[key]

    def remove(keys: list[int]) -> None:
        nonlocal entries
        for key in keys:
            with lock:
                entries = entries.delete(key)

    def snapshots(times: int) -> None:
        for _ in range(times):
            _ = entries

    def snapshots_and_puts(keys: list[int], values: list[int]) -> None:
        nonlocal entries
        for key, value in zip(keys, values, strict=True):
            _ = entries
            with lock:
                entries = entries.set(key, value)

    def mix(keys: list[int], values: list[int | None]) -> None:
        nonlocal entries
        for key, value in zip(keys, values, strict=True):
            if value is None:
                entries[key]
            else:
                with lock:
                    entries = entries.set(key, value)

    return Subject(
        put,
        get,
        remove,
        lambda: count(entries.items()),
        snapshots,
        snapshots_and_puts,
        mix=mix,
        look=lambda keys: [entries.get(key) for key in keys],
    )
