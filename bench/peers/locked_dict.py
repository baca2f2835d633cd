"""``dict`` under a ``threading.Lock``; iteration and snapshots copy under the lock."""

from __future__ import annotations

import platform
import threading

from peers.base import Plan, Subject
from peers.loops import count, mapping_look

TITLE = "dict+Lock"


def version() -> str:
    return f"CPython {platform.python_version()}"


def subject(plan: Plan) -> Subject | None:
    if plan.call == "bulk":
        return None
    entries: dict[int, int] = {}
    lock = threading.Lock()

    def put(keys: list[int], values: list[int]) -> None:
        for key, value in zip(keys, values, strict=True):
            with lock:
                entries[key] = value

    def get(keys: list[int]) -> None:
        for key in keys:
            with lock:
                entries[key]

    def remove(keys: list[int]) -> None:
        for key in keys:
            with lock:
                del entries[key]

    def mix(keys: list[int], values: list[int | None]) -> None:
        for key, value in zip(keys, values, strict=True):
            if value is None:
                with lock:
                    entries[key]
            else:
                with lock:
                    entries[key] = value

    def copy() -> dict[int, int]:
        with lock:
            return entries.copy()

    def copies(times: int) -> None:
        for _ in range(times):
            copy()

    look = mapping_look(entries)
    return Subject(put, get, remove, lambda: count(copy().items()), copies, copies=True, mix=mix, look=look)
