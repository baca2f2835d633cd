"""What a process does to the structures, and how the ledger knows: a writer notes each write before and after.

Example: lane 0 of process 3 owns the keys ``3.0.0`` to ``3.0.7`` of each structure. Its writer puts a new value under
``3.0.5``; nobody else writes this key, so a read of the key must give that value until the writer writes again.
"""

from __future__ import annotations

import random
from typing import Any, Final

import pyarrow as pa

from latchfree_evidence.stress.lifecycle.ledger import ABSENT, KEYS, LANES, STRUCTURES, WRITES, Ledger

#: How often a bulk call names each key.
_BULK: Final = 60
_PADDING: Final = 40


class Lost(Exception):
    """A structure does not hold what was acknowledged."""


def name_of(what: str, who: int, lane: int, key: int) -> Any:
    """Return a key of a structure."""
    if what == "ints":
        return (who * LANES + lane) * KEYS + key
    return f"{who}/{lane}/{key}"


def contents(structure: Any, what: str) -> dict[Any, int]:
    """Return all keys and their values, of a structure or of a snapshot."""
    if what == "topics":
        return {each.pattern: each.subscriber for each in structure.subscriptions()}
    return {key: number(what, value) for key, value in structure.items()}


def stored(what: str, value: int) -> Any:
    """Return what a structure holds for a value."""
    return str(value).ljust(_PADDING, "x") if what == "texts" else value


def number(what: str, value: Any) -> int:
    """Return the value that a structure holds in this form; that of a key that is absent is `ABSENT`."""
    if value is None:
        return ABSENT
    return int(value.rstrip("x")) if what == "texts" else int(value)


class Writer:
    """One lane of a process: a thread, or its signal handlers."""

    def __init__(self, ledger: Ledger, who: int, lane: int) -> None:
        self.ledger, self.who, self.lane = ledger, who, lane
        self.random = random.Random(f"{who} {lane}")

    def names(self, what: str) -> list[Any]:
        """Return the keys of this lane."""
        return [name_of(what, self.who, self.lane, key) for key in range(KEYS)]

    def acknowledged(self, what: str) -> list[int]:
        """Return what was acknowledged, key by key."""
        values: list[int] = self.ledger.acknowledged[self.who, STRUCTURES.index(what), self.lane].tolist()
        return values

    def work(self, structure: Any, what: str, how: str, times: int) -> None:
        """Do something with a structure so many times."""
        for _ in range(times):
            if how in ("put", "mixed"):
                self.write(structure, what, self.random.randrange(KEYS), remove=how == "mixed" and self._half())
            elif how == "bulk":
                self.bulk(structure, what)
            elif how == "scan":
                self.check(what, contents(structure, what))
            elif how == "length":
                len(structure)
            elif what == "topics":
                structure.match_many(pa.array(self.names(what) * _BULK))
            else:
                found = structure.get_many(self.names(what) * _BULK)[:KEYS]
                self.check(what, dict(zip(self.names(what), (number(what, value) for value in found), strict=True)))

    def _half(self) -> bool:
        return self.random.random() < 0.5

    def check(self, what: str, found: dict[Any, int]) -> None:
        """Compare what was read with what this lane has acknowledged.

        Raises
        ------
        Lost
            If something else was found.
        """
        at = self.who, STRUCTURES.index(what), self.lane
        for key, name in enumerate(self.names(what)):
            value = found.get(name, ABSENT)
            known = int(self.ledger.acknowledged[*at, key]), int(self.ledger.intended[*at, key])
            if value not in known:
                raise Lost(f"{what}: key {name!r} reads {value:#x}, acknowledged is {known[0]:#x}")

    def write(self, structure: Any, what: str, key: int, *, remove: bool = False) -> None:
        """Put a new value under a key, or remove the key; a topic is subscribed or unsubscribed in turn."""
        if what == "topics":
            self._toggle(structure, key)
            return
        value = ABSENT if remove else self.ledger.value(self.who)
        self._intend(what, [key], value)
        name = name_of(what, self.who, self.lane, key)
        if remove:
            structure.pop(name, None)
        else:
            structure[name] = stored(what, value)
        self._acknowledge(what, [key])

    def _toggle(self, structure: Any, key: int) -> None:
        at = self.who, STRUCTURES.index("topics"), self.lane, key
        held = {int(self.ledger.acknowledged[at]), int(self.ledger.intended[at])} - {ABSENT}
        if held:
            self._intend("topics", [key], ABSENT)
            for value in held:
                structure.unsubscribe_all(value)
        else:
            value = self.ledger.value(self.who)
            self._intend("topics", [key], value)
            structure.subscribe(name_of("topics", self.who, self.lane, key), value)
        self._acknowledge("topics", [key])

    def bulk(self, structure: Any, what: str) -> None:
        """Write all keys of the lane many times in one call; a topic is subscribed and unsubscribed once."""
        keys = list(range(KEYS))
        if what == "topics":
            for key, value in enumerate(self.acknowledged(what)):
                if value != ABSENT:
                    self._toggle(structure, key)
            value = self.ledger.value(self.who)
            self._intend(what, keys, value)
            patterns, subscribers = pa.array(self.names(what)), pa.array([value] * KEYS, pa.int64())
            numbers = structure.subscribe_column(patterns, subscribers)
            self._acknowledge(what, keys)
            self._intend(what, keys, ABSENT)
            structure.unsubscribe_column(patterns, numbers)
        else:
            value = self.ledger.value(self.who)
            self._intend(what, keys, value)
            structure.put_many(self.names(what) * _BULK, [stored(what, value)] * (KEYS * _BULK))
        self._acknowledge(what, keys)

    def forget(self, what: str, act: Any) -> None:
        """Do something that removes all keys of the lane."""
        keys = list(range(KEYS))
        self._intend(what, keys, ABSENT)
        act()
        self._acknowledge(what, keys)

    def _intend(self, what: str, keys: list[int], value: int) -> None:
        self.ledger.intended[self.who, STRUCTURES.index(what), self.lane, keys] = value

    def _acknowledge(self, what: str, keys: list[int]) -> None:
        at = self.who, STRUCTURES.index(what), self.lane
        self.ledger.acknowledged[*at, keys] = self.ledger.intended[*at, keys]
        self.ledger.rows[self.who, WRITES] += 1
