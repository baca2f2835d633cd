"""Processor time of a process and of all that descend from it, as the kernel counts it."""

from __future__ import annotations

import os
from pathlib import Path

_TICK = 1 / os.sysconf("SC_CLK_TCK")
_PARENT, _USER, _CHILDREN_SYSTEM = 1, 11, 14
"""Places of the fields of /proc/N/stat after the name; the four times stand together."""


def tree_time() -> float:
    """Seconds of processor time of this process, of its descendants, and of those that ended."""
    parent: dict[int, int] = {}
    used: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):  # it ended meanwhile
                continue
            parent[int(entry.name)] = int(fields[_PARENT])
            used[int(entry.name)] = sum(map(int, fields[_USER : _CHILDREN_SYSTEM + 1]))
    return sum(ticks for pid, ticks in used.items() if _descends(pid, os.getpid(), parent)) * _TICK


def _descends(pid: int, ancestor: int, parent: dict[int, int]) -> bool:
    while pid != ancestor:
        if pid not in parent:
            return False
        pid = parent[pid]
    return True
