"""``cereggii.AtomicDict``: threads of one process; it has no snapshot and no bulk write."""

from __future__ import annotations

import importlib.metadata
from typing import Any

import cereggii  # type: ignore[import-untyped]

from peers.base import Plan, Subject
from peers.loops import count, mapping_look, mapping_loops, mapping_mix

TITLE = "cereggii"


def version() -> str:
    return importlib.metadata.version("cereggii")


def subject(plan: Plan) -> Subject | None:
    if plan.call == "bulk":
        return None
    entries: Any = cereggii.AtomicDict()
    put, get, remove = mapping_loops(entries)
    mix, look = mapping_mix(entries), mapping_look(entries)
    return Subject(put, get, remove, lambda: count(entries.fast_iter()), mix=mix, look=look)
