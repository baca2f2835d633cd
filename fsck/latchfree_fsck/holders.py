"""Who holds something up in an arena: memory, by a pin; or an entry of the directory, by stopping in the midst of it.

Example: process 4711 was stopped while it was reading. It is pinned in epoch 41, so the epoch stays at 42, and what
others remove is not freed. The reapers of the others have first seen epoch 42 a minute ago.

A process is looked up by the number by which it knows itself. In another namespace of process ids that number is
another process's or nobody's; whether the opening is alive is known in any case.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from latchfree.arena import header, layout
from latchfree.arena.entry import OWNED, PROPOSED, REMOVED, Words, entries_of, owner_of, parse_entry, state_of


@dataclass(frozen=True)
class Holder:
    """A participant that holds the epoch back.

    Attributes
    ----------
    process, identity : int
        Its process, and the identity of its opening of the arena.
    state : str
        "alive", "stopped" or "dead".
    epoch : int
        The epoch that it has pinned, older than the present one.
    seconds : float or None
        Since when the epoch has been what it is now; None if no reaper has looked since.
    """

    process: int
    identity: int
    state: str
    epoch: int
    seconds: float | None


@dataclass(frozen=True)
class Unfinished:
    """A structure that is being created or removed.

    Attributes
    ----------
    name : str or None
        None where the entry does not have the name yet, or any more.
    what : str
        "created" or "removed".
    process : int or None
        The process of its owner, None if that takes no part in the arena.
    identity : int
        The identity of the owner's opening of the arena.
    state : str
        "alive", "stopped" or "dead", of the owner.
    """

    name: str | None
    what: str
    process: int | None
    identity: int
    state: str


def state_of_process(process: int | None, alive: bool) -> str:
    """Return "dead", "stopped" or "alive"."""
    if not alive:
        return "dead"
    try:
        stopped = Path(f"/proc/{process}/stat").read_bytes().rsplit(b")", 1)[1].split()[0] in (b"T", b"t")
    except (OSError, IndexError):
        stopped = False
    return "stopped" if stopped else "alive"


def identity_of(slot: Words) -> int:
    """Return the identity of the opening that owns a participant, 0 if none does."""
    return int(slot[layout.P_STATE]) >> int(layout.IDENTITY_SHIFT)


def holders(head: Words, is_alive: Callable[[int], bool]) -> list[Holder]:
    """Return the participants that are pinned in an older epoch than the present one."""
    epoch = int(head[layout.H_EPOCH])
    seconds = None
    if int(head[layout.H_SEEN_EPOCH]) == epoch:
        seconds = max(0.0, (time.clock_gettime_ns(time.CLOCK_BOOTTIME) - int(head[layout.H_SEEN_AT])) / 1e9)
    found = []
    for slot in header.participants(head):
        identity, pin, process = identity_of(slot), int(slot[layout.P_PIN]), int(slot[layout.P_PID])
        if identity and pin and pin >> 1 < epoch:
            state = state_of_process(process, is_alive(identity))
            found.append(Holder(process, identity, state, pin >> 1, seconds))
    return found


def unfinished(head: Words, is_alive: Callable[[int], bool]) -> list[Unfinished]:
    """Return the entries of the directory that are neither free nor ready."""
    processes = {identity_of(slot): int(slot[layout.P_PID]) for slot in header.participants(head)}
    found = []
    for entry in entries_of(head):
        word = int(entry[layout.E_STATE])
        if state_of(word) in OWNED:
            owner, what = owner_of(word), "removed" if state_of(word) == REMOVED else "created"
            process, name = processes.get(owner), None
            if state_of(word) in (PROPOSED, REMOVED):
                try:
                    name = parse_entry(entry).name
                except ValueError:
                    name = None  # it is being emptied
            found.append(Unfinished(name, what, process, owner, state_of_process(process, is_alive(owner))))
    return found
