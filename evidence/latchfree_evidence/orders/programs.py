"""What is explored with weakened accesses: small programs of each structure, given ones and random ones."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final, NamedTuple

from latchfree_evidence.targets.finding import BUILT_IN, find_target

#: Random programs of each structure.
_RANDOM: Final = 24

#: Programs that are small and meet: each makes accesses that no other of its structure makes, or meets in another way.
_GIVEN: Final = {
    "ctrie": (
        "init: put(0, 1) | put(0, 2) | snapshot | after: get(0) | keys: flat",
        "init: put(0, 1) | put(0, 2) | get(0) | keys: flat",
        "put(0, 1) | put(1, 2) | snapshot | keys: pairs",
        "init: put(0, 1); put(1, 2) | remove(0) | put(1, 3) | after: snapshot | keys: pairs",
        "init: put(0, 1); put(1, 2); put(2, 3) | remove(0) | put(1, 4) | after: snapshot | keys: list",
        "init: put(0, 1) | clear | put(0, 2) | after: snapshot | keys: flat",
        "init: put(0, 1) | snapshot; put(0, 2) | snapshot | after: snapshot | keys: flat",
        "init: put(0, 1) | snapshot | snapshot; put(0, 2) | get(0) | keys: flat",
        "init: put(0, 1); put(1, 1) | snapshot; remove(0) | snapshot; put(1, 2) | after: snapshot | keys: pairs",
    ),
    "reclaiming-ctrie": (
        "init: put(0, 1) | put(0, 2) | get(0) | keys: flat",
        "init: put(0, 1) | put(0, 2); put(0, 3) | get(0); get(0) | keys: flat",
        "init: put(0, 1) | put(0, 2); put(0, 3) | snapshot | keys: flat",
        "init: put(0, 1) | snapshot | put(0, 2) | put(0, 3) | keys: flat",
        "init: put(0, 1) | snapshot; snapshot | put(0, 2); put(0, 3) | keys: flat",
        "init: put(0, 1); put(1, 1) | remove(0) | get(1); put(1, 2) | keys: pairs",
        "init: put(0, 1) | clear | snapshot | get(0) | keys: flat",
        "init: put(0, 1) | snapshot | snapshot | put(0, 2) | keys: flat",
    ),
    "dropping": (
        "snapshot | snapshot | after: unswept",
        "put(0, 1); snapshot | snapshot | after: unswept",
        "snapshot | snapshot | snapshot | after: unswept",
    ),
    "idle": (
        "init: snapshot | snapshot | put(0, 1) | after: stale | keys: flat",
        "init: snapshot | snapshot | snapshot | after: stale | keys: flat",
        "init: snapshot | snapshot | put(0, 1); snapshot | after: stale | keys: flat",
        "init: put(0, 1); snapshot | snapshot; snapshot | put(0, 2) | after: stale | keys: flat",
        "init: snapshot | snapshot | put(0, 1) | put(0, 2) | after: stale | keys: flat",
    ),
    "ring": (
        "enqueue(1) | dequeue",
        "enqueue(1); enqueue(2) | dequeue; dequeue",
        "init: enqueue(1); enqueue(2) | enqueue(3) | dequeue",
        "enqueue(1) | enqueue(2) | dequeue",
    ),
    "closing-ring": (
        "put(1); get | close",
        "init: put(1) | put(2); get | close; get",
        "put(1) | put(2) | close; get; get",
        "init: put(1); put(2) | put(3) | get | close",
    ),
    "sleepers": ("wait | post", "wait | wait | post", "wait | post | post"),
    "pins": ("read | replace", "read | retire | advance", "read; read | replace", "read | replace | advance"),
    "epochs": (
        "init: write(1) | read | write(2); tick; write(3)",
        "init: write(1) | read | write(2); tick; tick; write(3) | tick",
    ),
    "free-list": (
        "init: push(1) | pop | pop",
        "pop | push(1)",
        "init: push(1); push(2) | pop | pop; pop; push(2)",
        "init: push(1); push(2) | pop | push(3) | pop; push(2)",
    ),
}


#: Targets whose random programs would ask at the wrong time.
_GIVEN_ONLY: Final = ("dropping", "idle", "sleepers", "epochs", "free-list")


class Weakly(NamedTuple):
    """A program of a target."""

    target: str
    scenario: str


def programs(target: str) -> Iterator[Weakly]:
    """Yield the programs of a target, always the same."""
    for scenario in _GIVEN.get(target, ()):
        yield Weakly(target, scenario)
    if target in _GIVEN_ONLY:
        return
    found = find_target(target)
    for number in range(_RANDOM):
        yield Weakly(target, str(found.generate(random.Random(f"orders/{number}"))))


def targets() -> tuple[str, ...]:
    """Return the names of all targets."""
    return tuple(BUILT_IN)
